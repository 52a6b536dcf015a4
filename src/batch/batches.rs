//! The iterators that users hold, and the verbs that make them.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::batch::closure::ClosureJob;
use crate::batch::contents::Batch;
use crate::batch::course::Course;
use crate::batch::engine::{Engine, Settings};
use crate::batch::example_job::ExampleJob;
use crate::batch::job::Job;
use crate::batch::policy::OnError;
use crate::batch::pool::pool;
use crate::batch::read_ahead::ReadAhead;
use crate::batch::state::{State, mismatch};
use crate::batch::stats::Stats;
use crate::batch::steps::{Remainder, Steps};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::record::Record;

/// Batches, one after the other: an iterator over `Result<Batch>`, or over `Result<Vec<T>>` after
/// [`Dataset::map`].
///
/// Nothing happens before the first batch is asked for. Then threads of a pool of our own make batches ahead of the
/// caller, also while the caller works; dropping the iterator ends that within a record's time. After an error there are
/// no more batches.
///
/// What comes out depends on the data set, the seed and the epoch alone: never on the number of threads or on timing.
pub struct Batches<T = Batch> {
    dataset: Dataset,
    fingerprint: OnceLock<u64>,
    options: Options,
    /// Epoch and position to start at.
    start: (u64, u64),
    make: Option<Make<T>>,
    run: Option<Box<dyn Run<T>>>,
}

#[derive(Clone, Debug)]
struct Options {
    size: u64,
    remainder: Option<Remainder>,
    on_error: OnError,
    prefetch: Option<usize>,
    threads: usize,
    align: usize,
}

type Make<T> = Box<dyn FnOnce(&Dataset, &Options, Course) -> Result<Box<dyn Run<T>>> + Send>;

/// A run, whatever its job is.
trait Run<T>: Send {
    fn next_until(&mut self, until: Option<Instant>) -> Poll<Option<Result<T>>>;
    fn reached(&self) -> (u64, u64);
    fn bad(&self) -> &[Error];
    fn stats(&self) -> Stats;
}

impl<J: Job> Run<J::Out> for Engine<J> {
    fn next_until(&mut self, until: Option<Instant>) -> Poll<Option<Result<J::Out>>> {
        Engine::next_until(self, until)
    }

    fn reached(&self) -> (u64, u64) {
        Engine::reached(self)
    }

    fn bad(&self) -> &[Error] {
        Engine::bad(self)
    }

    fn stats(&self) -> Stats {
        Engine::stats(self)
    }
}

impl Dataset {
    /// Batches of `size` records, as columns: parsed by [`features`](Dataset::features), pictures decoded.
    pub fn batches(self, size: usize) -> Batches {
        Batches::new(
            self,
            size,
            Box::new(|dataset, options, course| {
                let seed = course.view.seed().unwrap_or(0);
                let job =
                    ExampleJob::new(dataset.shards.clone(), dataset.features_shared()?, seed, options.align)?;
                start(job, dataset, options, course)
            }),
        )
    }

    /// Has a closure make something of each record, on the threads of the pipeline: parsing or augmenting of your own,
    /// in the same order, with the same resuming, ranks and error policy.
    ///
    /// ```no_run
    /// # fn main() -> tfrmap::Result<()> {
    /// use tfrmap::Dataset;
    ///
    /// let lengths = Dataset::open("data/train-*")?.shuffled(7).map(|record| Ok(record.as_bytes().len()));
    /// for batch in lengths.batches(64) {
    ///     let batch: Vec<usize> = batch?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn map<T, F>(self, closure: F) -> Mapped<F>
    where
        T: Send + 'static,
        F: Fn(Record) -> Result<T> + Send + Sync + 'static,
    {
        Mapped { dataset: self, closure }
    }
}

/// A data set and what is made of each of its records: see [`Dataset::map`].
#[derive(Clone, Debug)]
pub struct Mapped<F> {
    dataset: Dataset,
    closure: F,
}

impl<T, F> Mapped<F>
where
    T: Send + 'static,
    F: Fn(Record) -> Result<T> + Send + Sync + 'static,
{
    /// Batches of `size` values, in the order of the records. A record that the closure refuses (see [`Error::other`]) or
    /// panics on is a bad record. [`OnError::Mask`] is refused, as there is nothing to put in place of a value; with
    /// [`Remainder::Pad`] values come again without a mark.
    pub fn batches(self, size: usize) -> Batches<Vec<T>> {
        let Mapped { dataset, closure } = self;
        Batches::new(
            dataset,
            size,
            Box::new(|dataset, options, course| {
                if matches!(options.on_error, OnError::Mask { .. }) {
                    let error = Error::invalid(
                        "there is nothing to put in place of a value that a closure did not make",
                    );
                    return Err(error.with_help("use OnError::Skip"));
                }
                start(ClosureJob::new(dataset.shards.clone(), closure), dataset, options, course)
            }),
        )
    }
}

fn start<J: Job>(
    job: J,
    dataset: &Dataset,
    options: &Options,
    course: Course,
) -> Result<Box<dyn Run<J::Out>>> {
    let read_ahead = Some(Arc::new(ReadAhead::new(dataset.shards.clone(), &course)));
    let settings = Settings { on_error: options.on_error, prefetch: options.prefetch, read_ahead };
    Ok(Box::new(Engine::new(job, pool(options.threads)?, course, settings)))
}

impl<T> Batches<T> {
    fn new(dataset: Dataset, size: usize, make: Make<T>) -> Batches<T> {
        let options = Options {
            size: size as u64,
            remainder: None,
            on_error: OnError::Stop,
            prefetch: None,
            threads: 0,
            align: 1,
        };
        let start = (dataset.epochs.start, 0);
        Batches { dataset, fingerprint: OnceLock::new(), options, start, make: Some(make), run: None }
    }

    /// What happens to the last records of an epoch that do not fill a batch. The default is [`Remainder::Keep`]; with
    /// more than one rank it must be said, because ranks with different numbers of batches wait for each other for ever.
    pub fn remainder(mut self, remainder: Remainder) -> Batches<T> {
        self.options.remainder = Some(remainder);
        self
    }

    /// What happens where a record cannot be read. The default is [`OnError::Stop`].
    pub fn on_error(mut self, on_error: OnError) -> Batches<T> {
        self.options.on_error = on_error;
        self
    }

    /// How many batches are made ahead, at least 1. The default keeps eight pictures for each thread in the making.
    pub fn prefetch(mut self, batches: usize) -> Batches<T> {
        self.options.prefetch = Some(batches);
        self
    }

    /// How many threads work. The default, and 0, is as many as `RAYON_NUM_THREADS` says, else as there are cores. Runs of
    /// the same number share their threads. More than 1,024 are refused with the first batch.
    pub fn threads(mut self, threads: usize) -> Batches<T> {
        self.options.threads = threads;
        self
    }

    /// Takes up a run where [`state`](Batches::state) was saved: in constant time, whatever was read before. With the
    /// same ranks and batch size the same batches come as would have come; with others the same records in the same
    /// global order.
    ///
    /// # Errors
    /// `StateMismatch` with the reason, where the state is one of other records, another order or another seed, or its
    /// epoch is none of this run's.
    pub fn resume(mut self, state: &State) -> Result<Batches<T>> {
        self.state().check(state, self.dataset.len())?;
        let epochs = &self.dataset.epochs;
        if !epochs.contains(&state.epoch()) {
            let epoch = state.epoch();
            return Err(mismatch(format!(
                "the state is in epoch {epoch}, this run has the epochs {epochs:?}"
            )));
        }
        self.start = (state.epoch(), state.position());
        Ok(self)
    }

    /// Where the run stands: what the caller has received so far, not what is in the making.
    pub fn state(&self) -> State {
        let (epoch, position) = self.reached();
        let fingerprint = *self.fingerprint.get_or_init(|| self.dataset.fingerprint());
        State::new(fingerprint, self.dataset.view.seed(), epoch, position)
    }

    /// The bad records that the error policy has left out or masked so far, in the order of the batches: each with its
    /// file, record number, offset, feature and reason.
    pub fn bad_records(&self) -> &[Error] {
        self.run.as_ref().map_or(&[], |run| run.bad())
    }

    /// How the run went so far, and who waited for whom.
    pub fn stats(&self) -> Stats {
        self.run.as_ref().map_or_else(Stats::default, |run| run.stats())
    }

    /// As `next`, but gives up waiting after a time: `Poll::Pending` where the batch is not there yet, which then comes from the
    /// next call. For callers that have to look at something else now and then, such as a signal.
    pub fn next_timeout(&mut self, timeout: Duration) -> Poll<Option<Result<T>>> {
        self.next_until(Instant::now().checked_add(timeout))
    }

    fn next_until(&mut self, until: Option<Instant>) -> Poll<Option<Result<T>>> {
        if let Some(make) = self.make.take() {
            match self.begin(make) {
                Ok(run) => self.run = Some(run),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
        self.run.as_mut().map_or(Poll::Ready(None), |run| run.next_until(until))
    }

    /// The number of batches that this rank has in a whole epoch.
    ///
    /// # Errors
    /// `InvalidArgument` for a size of 0, and where a [`remainder`](Batches::remainder) has to be said.
    pub fn steps_per_epoch(&self) -> Result<u64> {
        Ok(self.steps_from(0)?.count())
    }

    /// The number of batches left of the epoch that the last batch belongs to (before the first batch: of the epoch that
    /// it will belong to); 0 at its end.
    ///
    /// # Errors
    /// As [`steps_per_epoch`](Batches::steps_per_epoch).
    pub fn steps_left(&self) -> Result<u64> {
        Ok(self.steps_from(self.reached().1)?.count())
    }

    fn steps_from(&self, position: u64) -> Result<Steps> {
        let (size, remainder) = self.check()?;
        Ok(Steps::new(self.dataset.len(), position, size, self.dataset.ranks, remainder))
    }

    /// The epoch and the position after the last batch handed over.
    fn reached(&self) -> (u64, u64) {
        self.run.as_ref().map_or(self.start, |run| run.reached())
    }

    /// Size and remainder, where they make sense.
    fn check(&self) -> Result<(u64, Remainder)> {
        let options = &self.options;
        if options.size == 0 {
            return Err(Error::invalid("a batch of 0 records"));
        }
        let world_size = self.dataset.ranks.world_size;
        match options.remainder {
            Some(remainder) => Ok((options.size, remainder)),
            None if world_size == 1 => Ok((options.size, Remainder::Keep)),
            None => {
                let reason =
                    format!("with {world_size} ranks it must be said what happens at the end of an epoch");
                Err(Error::invalid(reason).with_help("say remainder(Drop), (Pad) or (Keep)"))
            }
        }
    }

    fn begin(&mut self, make: Make<T>) -> Result<Box<dyn Run<T>>> {
        let (batch, remainder) = self.check()?;
        let options = &self.options;
        if !options.align.is_power_of_two() || options.align > 4096 {
            let align = options.align;
            return Err(Error::invalid(format!(
                "an alignment of {align} bytes is no power of two up to 4096"
            )));
        }
        let course = Course {
            view: self.dataset.view.clone(),
            epochs: self.dataset.epochs.clone(),
            ranks: self.dataset.ranks,
            batch,
            remainder,
            start: self.start,
        };
        make(&self.dataset, options, course)
    }
}

impl Batches<Batch> {
    /// Has the numbers and pixels of each column begin at a multiple of so many bytes (64 for what reads tensors with vector
    /// instructions). [`into_vec`](crate::Buffer::into_vec) may then copy.
    pub fn aligned(mut self, bytes: usize) -> Batches<Batch> {
        self.options.align = bytes;
        self
    }
}

impl<T> Iterator for Batches<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match self.next_until(None) {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        }
    }
}

impl<T> fmt::Debug for Batches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches")
            .field("dataset", &self.dataset)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
