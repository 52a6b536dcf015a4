//! Where a peer is better: a report that is silent on it could not be believed.

use crate::definition::{Better, Definition, Role};
use crate::report::figures::{heading, more_is_better, written};
use crate::report::rows::{Row, times_better};

/// A peer that is better by less than this is not told apart.
const CLEAR: f64 = 0.97;

/// Sentences for every figure in which a peer is clearly better than ours.
pub fn losses_of(definition: &Definition, rows: &[Row<'_>]) -> Vec<String> {
    let (counted, failed): (Vec<_>, Vec<_>) =
        rows.iter().filter(|row| row.engine.role == Role::Subject).partition(|row| row.failed().is_none());
    let no_result = failed.iter().filter_map(|row| row.failed()).map(|(status, reason)| {
        format!("{}: tfrmap has no result ({}: {reason}).", definition.title, status.name())
    });
    let mut sentences: Vec<String> = no_result.collect();
    // Pages of files are cache that is given back when asked for: more of them is neither good nor bad.
    let columns = definition.columns.iter().filter(|key| *key != "peak_file_mb");
    let compared = std::iter::once(&definition.figure).chain(columns);
    for key in compared {
        let more = match *key == definition.figure {
            true => definition.better == Better::Higher,
            false => more_is_better(key),
        };
        for ours in &counted {
            let Some(mine) = ours.summary(key) else { continue };
            for peer in rows.iter().filter(|row| rivals(ours, row)) {
                let Some(theirs) = peer.summary(key) else { continue };
                if times_better(more, mine.median, theirs.median) < CLEAR {
                    sentences.push(format!(
                        "{}, {}: {} {}, {} {}.",
                        definition.title,
                        heading(key),
                        peer.engine.name,
                        written(key, theirs.median),
                        ours.engine.name,
                        written(key, mine.median)
                    ));
                }
            }
        }
    }
    sentences
}

/// True for a peer with the right answer under the same conditions.
fn rivals(ours: &Row<'_>, peer: &Row<'_>) -> bool {
    peer.engine.role == Role::Peer && peer.failed().is_none() && ours.engine.comparable(peer.engine)
}
