//! Records in any order: read ahead a window at a time, by all threads, while the window before is written.

use std::ops::Range;

use rayon::prelude::*;
use tfrmap::{Record, Store};

use super::stage::Staged;
use crate::failure::{Exit, Failure, Result, exit_of};
use crate::problem::Problem;
use crate::selection;

/// Bytes of payloads in a window.
const WINDOW: u64 = 32 << 20;
/// Records in a window at most.
const MOST: u64 = 1 << 16;

/// Where the records of one input are.
pub enum Place<'a> {
    /// In the file itself.
    Plain(&'a Store),
    /// Unpacked.
    Staged(&'a Staged),
}

impl Place<'_> {
    fn store(&self) -> &Store {
        match self {
            Place::Plain(store) => store,
            Place::Staged(staged) => &staged.store,
        }
    }

    fn position(&self, number: u64) -> Option<u64> {
        match self {
            Place::Plain(_) => Some(number),
            Place::Staged(staged) => staged.position(number),
        }
    }
}

/// Inputs as one list of records.
pub struct Shuffled<'a> {
    places: Vec<Place<'a>>,
    starts: Vec<u64>,
}

impl<'a> Shuffled<'a> {
    /// Inputs with their numbers of records.
    pub fn new(places: Vec<Place<'a>>, lens: &[u64]) -> Shuffled<'a> {
        Shuffled { places, starts: selection::starts(lens) }
    }

    /// Hands over the record of each position up to `len`: `global` tells its number. With `salvage` a damaged one is
    /// handed over as a problem, else it ends the run.
    pub fn deliver(
        &self,
        len: u64,
        global: impl Fn(u64) -> u64 + Sync,
        salvage: bool,
        mut take: impl FnMut(Result<Record, Problem>) -> Result<()> + Send,
    ) -> Result<()> {
        let bytes: u64 = self.places.iter().map(|place| place.store().data_len()).sum();
        let records: u64 = self.places.iter().map(|place| place.store().len()).sum();
        let window = (WINDOW / (bytes / records.max(1)).max(1)).clamp(1, MOST);
        let windows = |from: u64| from.min(len)..from.saturating_add(window).min(len);
        self.ask_for(windows(0), &global);
        let mut ready = Vec::new();
        let mut from = 0;
        while from < len || !ready.is_empty() {
            let this = windows(from);
            self.ask_for(windows(this.end), &global);
            from = this.end;
            let (written, next) = rayon::join(
                || ready.drain(..).try_for_each(&mut take),
                || {
                    this.into_par_iter()
                        .filter_map(|p| self.get(global(p), salvage))
                        .collect::<Result<Vec<_>>>()
                },
            );
            written?;
            ready = next?;
        }
        Ok(())
    }

    fn locate(&self, global: u64) -> Option<(&Store, u64)> {
        let file = self.starts.partition_point(|start| *start <= global) - 1;
        let place = &self.places[file];
        Some((place.store(), place.position(global - self.starts[file])?))
    }

    /// Asks the system for the bytes of coming records.
    fn ask_for(&self, positions: Range<u64>, global: &(impl Fn(u64) -> u64 + Sync)) {
        for (store, position) in positions.filter_map(|position| self.locate(global(position))) {
            if let Ok(span) = store.span(position) {
                let range = span.offset..span.offset + span.payload_len;
                store.advise_willneed(std::slice::from_ref(&range));
            }
        }
    }

    fn get(&self, global: u64, salvage: bool) -> Option<Result<Result<Record, Problem>>> {
        let (store, position) = self.locate(global)?;
        Some(match store.get(position) {
            Ok(record) => Ok(Ok(record)),
            Err(error) if salvage && exit_of(&error) == Exit::Wrong => {
                Ok(Err(Problem::left_out(store.path(), &error)))
            }
            Err(error) => Err(Failure::from(error)),
        })
    }
}
