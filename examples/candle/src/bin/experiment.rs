//! `experiment TRAIN TEST DOCS [EPOCHS] [SEEDS]`: what the order of the records is worth.
//!
//! Trains the same network from the same weights on the same file in four orders, and puts the table between the marks of
//! DOCS/shuffle.md and the chart into DOCS/img/shuffle.svg.

use std::fmt::Write;
use std::path::Path;

use tfrmap::{Dataset, Remainder};
use tfrmap_candle::chart::{self, Line, summary};
use tfrmap_candle::net::Trainer;
use tfrmap_candle::orders::Ordering;
use tfrmap_candle::ranks::Ranks;
use tfrmap_candle::train::accuracy;
use tfrmap_candle::{Result, data};

const BATCH: usize = 32;
const MARKS: [&str; 2] = ["<!-- results -->\n", "<!-- end of results -->"];
const ORDERS: [(&str, Ordering); 4] = [
    ("no shuffle", Ordering::File),
    ("buffer of 30", Ordering::Buffer(30)),
    ("buffer of 1,000", Ordering::Buffer(1000)),
    ("whole set (tfrmap)", Ordering::Global),
];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, docs, rest @ ..] = &args[..] else {
        return Err("usage: experiment TRAIN TEST DOCS [EPOCHS] [SEEDS]".into());
    };
    let number = |at: usize, default| rest.get(at).map_or(Ok(default), |text| text.parse());
    let (epochs, seeds) = (number(0, 12)?, number(1, 5)?);
    let (train, test) = (data::open(train)?, data::open(test)?);

    let mut lines = Vec::new();
    for (name, ordering) in ORDERS {
        let mut line = Line { name: name.to_owned(), epochs: vec![Vec::new(); epochs as usize] };
        for seed in 1..=seeds {
            let accuracies = curve(&train, &test, ordering, seed, epochs)?;
            println!("{name}, seed {seed}: {accuracies:.1?}");
            for (epoch, accuracy) in line.epochs.iter_mut().zip(accuracies) {
                epoch.push(accuracy);
            }
        }
        lines.push(line);
    }

    let docs = Path::new(docs);
    let title = format!("Test accuracy, file sorted by class: mean and range over {seeds} seeds");
    std::fs::write(docs.join("img/shuffle.svg"), chart::draw(&title, &lines))?;
    let text = std::fs::read_to_string(docs.join("shuffle.md"))?;
    let (before, rest) = text.split_once(MARKS[0]).ok_or("shuffle.md has no mark for the results")?;
    let (_, after) = rest.split_once(MARKS[1]).ok_or("shuffle.md has no mark for the results' end")?;
    let [begin, end] = MARKS;
    let results = format!(
        "![test accuracy by epoch for four orders](img/shuffle.svg)\n\n\
         Test accuracy in percent: mean over {seeds} seeds (least to most).\n\n{}",
        table(&lines)
    );
    std::fs::write(docs.join("shuffle.md"), format!("{before}{begin}{results}{end}{after}"))?;
    Ok(())
}

/// The accuracy after each epoch, in percent.
fn curve(train: &Dataset, test: &Dataset, ordering: Ordering, seed: u64, epochs: u64) -> Result<Vec<f64>> {
    let mut trainer = Trainer::new(seed)?;
    let mut accuracies = Vec::new();
    for epoch in 0..epochs {
        for batch in ordering.apply(train, seed, epoch)?.batches(BATCH).remainder(Remainder::Drop) {
            trainer.step(batch?, &mut Ranks::alone())?;
        }
        accuracies.push(100.0 * accuracy(&trainer, test)?);
    }
    Ok(accuracies)
}

/// A row an epoch, a column an order.
fn table(lines: &[Line]) -> String {
    let mut table = String::from("| epoch |");
    for line in lines {
        let _ = write!(table, " {} |", line.name);
    }
    table.push_str("\n|--:|");
    table.push_str(&"--:|".repeat(lines.len()));
    for epoch in 0..lines[0].epochs.len() {
        let _ = write!(table, "\n| {} |", epoch + 1);
        for line in lines {
            let (least, mean, most) = summary(&line.epochs[epoch]);
            let _ = write!(table, " {mean:.1} ({least:.1} to {most:.1}) |");
        }
    }
    table.push('\n');
    table
}
