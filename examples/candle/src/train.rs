//! A whole training run.

use std::time::Instant;

use tfrmap::{Dataset, Remainder};

use crate::Result;
use crate::checkpoint::Checkpoint;
use crate::net::Trainer;
use crate::ranks::Ranks;

/// What to do.
pub struct Options {
    /// The number of epochs.
    pub epochs: u64,
    /// The seed of weights and order.
    pub seed: u64,
    /// Records in a step, over all ranks.
    pub batch: u64,
    /// The folder to save to and to resume from.
    pub save: Option<String>,
    /// Steps from one save to the next; an epoch's end is one as well.
    pub save_every: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { epochs: 12, seed: 1, batch: 32, save: None, save_every: 10 }
    }
}

/// Trains on one data set and evaluates on another after each epoch. Rank 0 prints a line an epoch, and saves.
pub fn run(train: Dataset, test: &Dataset, options: &Options, ranks: &mut Ranks) -> Result<Trainer> {
    let mut trainer = Trainer::new(options.seed)?;
    let (rank, world) = (ranks.rank, ranks.world);
    let rows = (options.batch / world) as usize;
    // region: run
    let mut batches = train
        .shuffled(options.seed)
        .epochs(0..options.epochs)
        .for_rank(rank, world)?
        .batches(rows)
        .remainder(Remainder::Drop);
    let mut checkpoint = options.save.as_ref().map(Checkpoint::new).transpose()?;
    if let Some(checkpoint) = &mut checkpoint
        && let Some(state) = checkpoint.load(&mut trainer.weights)?
    {
        batches = batches.resume(&state)?;
    }
    let mut start = Instant::now();
    while let Some(batch) = batches.next().transpose()? {
        let epoch = batch.epoch();
        let loss = trainer.step(batch, ranks)?;
        let left = batches.steps_left()?;
        if rank > 0 {
            continue;
        }
        if left % options.save_every == 0
            && let Some(checkpoint) = &mut checkpoint
        {
            checkpoint.save(&trainer.weights, &batches.state())?;
        }
        if left == 0 {
            let accuracy = 100.0 * accuracy(&trainer, test)?;
            let seconds = start.elapsed().as_secs_f64();
            println!("epoch {epoch}: loss {loss:.3}, test accuracy {accuracy:.1} %, {seconds:.2} s");
            start = Instant::now();
        }
    }
    // endregion
    Ok(trainer)
}

// region: accuracy
/// The share of a data set that gets its right label.
pub fn accuracy(trainer: &Trainer, test: &Dataset) -> Result<f64> {
    let mut correct = 0;
    for batch in test.clone().batches(256) {
        correct += trainer.correct(batch?)?;
    }
    Ok(f64::from(correct) / test.len() as f64)
}
// endregion
