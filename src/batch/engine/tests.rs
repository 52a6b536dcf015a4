//! The pipeline on a job without files: what it promises whatever the work is.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::ThreadId;

use super::{Engine, Settings};
use crate::batch::course::Course;
use crate::batch::job::{Fate, Job, Row};
use crate::batch::policy::OnError;
use crate::batch::pool::pool;
use crate::batch::steps::Remainder;
use crate::dataset::ranks::Ranks;
use crate::dataset::view::View;
use crate::error::{Error, ErrorKind, Result};

impl<J: Job> Engine<J> {
    fn next(&mut self) -> Option<Result<J::Out>> {
        match self.next_until(None) {
            Poll::Ready(next) => next,
            Poll::Pending => None,
        }
    }
}

type Work = dyn Fn(u64) -> Result<()> + Send + Sync;

/// Rows are records; `work` is what takes time or fails.
struct Numbers {
    work: Box<Work>,
    per_claim: usize,
}

impl Job for Numbers {
    type Out = Vec<(u64, bool)>;
    type Worker = ();
    type Block = Vec<u64>;
    type Parts<'b> = &'b mut [u64];
    type Claim<'b> = &'b mut [u64];

    fn begin(&mut self, _rows: usize, _batches: usize) {}

    fn worker(&self) {}

    fn rows_per_claim(&self, _rows: usize, _threads: usize) -> usize {
        self.per_claim
    }

    fn block(&self, rows: &[Row]) -> Result<Vec<u64>> {
        Ok(vec![u64::MAX; rows.len()])
    }

    fn parts<'b>(&self, block: &'b mut Vec<u64>) -> &'b mut [u64] {
        block
    }

    fn claim<'b>(&self, parts: &mut &'b mut [u64], rows: usize, claim: &mut &'b mut [u64]) {
        *claim = parts.split_off_mut(..rows).unwrap();
    }

    fn prepare(&self, _worker: &mut (), _claim: &[Row], _next: usize) {}

    fn run(&self, _: &mut (), claim: &mut &mut [u64], i: usize, row: &Row, _epoch: u64) -> Result<u64> {
        (self.work)(row.record)?;
        claim[i] = row.record;
        Ok(1)
    }

    fn finish(&self, block: Vec<u64>, rows: Vec<Row>, fates: Vec<Fate>, _epoch: u64) -> Result<Self::Out> {
        let rows = block.into_iter().zip(rows).zip(fates);
        Ok(rows
            .filter(|(_, fate)| *fate != Fate::Skipped)
            .map(|((value, row), fate)| (value, row.place.valid && fate == Fate::Good))
            .collect())
    }

    fn place(&self, error: Error, row: &Row) -> Error {
        error.at_record(row.record)
    }
}

fn course(len: u64, batch: u64, epochs: std::ops::Range<u64>) -> Course {
    let files = Arc::new(View::All { first: 0, len });
    Course {
        view: Arc::new(View::Shuffled { inner: files, seed: 5 }),
        start: (epochs.start, 0),
        epochs,
        ranks: Ranks::ALONE,
        batch,
        remainder: Remainder::Keep,
    }
}

fn engine(
    course: Course,
    threads: usize,
    on_error: OnError,
    work: impl Fn(u64) -> Result<()> + Send + Sync + 'static,
) -> Engine<Numbers> {
    let settings = Settings { on_error, prefetch: None, read_ahead: None };
    let job = Numbers { work: Box::new(work), per_claim: 1 + threads % 3 };
    Engine::new(job, pool(threads).unwrap(), course, settings)
}

fn all(mut engine: Engine<Numbers>) -> Vec<Vec<(u64, bool)>> {
    std::iter::from_fn(|| engine.next()).collect::<Result<_>>().unwrap()
}

#[test]
fn batches_are_the_same_for_any_number_of_threads() {
    let wanted = all(engine(course(1003, 10, 0..3), 1, OnError::Stop, |_| Ok(())));
    let order = |epoch: u64| {
        let order = course(1003, 10, 0..3).view.order(epoch);
        (0..1003).map(move |position| (order.at(position), true)).collect::<Vec<_>>()
    };
    for epoch in 0..3 {
        let batches = &wanted[epoch as usize * 101..(epoch as usize + 1) * 101];
        assert_eq!(batches.concat(), order(epoch));
        assert_eq!(batches[100].len(), 3, "a batch holds records of two epochs");
    }
    for threads in [2, 7, 64] {
        assert!(
            all(engine(course(1003, 10, 0..3), threads, OnError::Stop, |_| Ok(()))) == wanted,
            "{threads}"
        );
    }
}

#[test]
fn all_threads_work_on_one_small_batch() {
    // Each record waits until another one is being worked on: with one thread a batch this would never end.
    let (sender, receiver): (Sender<()>, Receiver<()>) = channel();
    let receiver = Mutex::new(receiver);
    let threads: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
    let seen = threads.clone();
    let waiting = AtomicBool::new(false);
    let mut engine = engine(course(2, 2, 0..1), 3, OnError::Stop, move |_| {
        seen.lock().unwrap().insert(std::thread::current().id());
        if waiting.swap(true, Ordering::SeqCst) {
            sender.send(()).unwrap();
        } else {
            receiver.lock().unwrap().recv().unwrap();
        }
        Ok(())
    });
    assert_eq!(engine.next().unwrap().unwrap().len(), 2);
    assert_eq!(threads.lock().unwrap().len(), 2);
}

#[test]
fn of_several_bad_rows_the_first_is_told_once_and_in_order() {
    for threads in [1, 2, 7, 64] {
        let order = course(100, 10, 0..1).view.order(0);
        let bad = [order.at(35), order.at(36), order.at(52)];
        let mut engine = engine(course(100, 10, 0..1), threads, OnError::Stop, move |record| {
            if bad.contains(&record) { Err(Error::other("bad").at_record(record)) } else { Ok(()) }
        });
        for _ in 0..3 {
            engine.next().unwrap().unwrap();
        }
        assert_eq!(engine.reached(), (0, 30));
        assert_eq!(engine.next().unwrap().unwrap_err().record(), Some(bad[0]), "{threads} threads");
        assert!(engine.next().is_none());
        assert_eq!(engine.reached(), (0, 30), "a failed batch counts as delivered");
    }
}

#[test]
fn a_panic_is_an_error_of_one_record() {
    std::panic::set_hook(Box::new(|_| {}));
    let order = course(40, 10, 0..1).view.order(0);
    let bad = order.at(12);
    let work = move |record| if record == bad { panic!("boom {record}") } else { Ok(()) };
    let mut stopped = engine(course(40, 10, 0..1), 2, OnError::Stop, work);
    stopped.next().unwrap().unwrap();
    let error = stopped.next().unwrap().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Panicked);
    assert!(error.to_string().contains(&format!("boom {bad}")), "{error}");
    assert!(stopped.next().is_none());
    let mut skipped = engine(course(40, 10, 0..1), 2, OnError::Skip { limit: 1 }, work);
    let lens: Vec<usize> = std::iter::from_fn(|| skipped.next()).map(|batch| batch.unwrap().len()).collect();
    assert_eq!(lens, [10, 9, 10, 10]);
    assert_eq!(skipped.bad().len(), 1);
}

#[test]
fn bad_rows_are_skipped_or_masked_and_counted_in_order() {
    let order = course(100, 10, 0..1).view.order(0);
    let bad = [order.at(3), order.at(35), order.at(36)];
    let work = move |record| {
        if bad.contains(&record) {
            Err(Error::new(ErrorKind::CorruptData, "bad").at_record(record))
        } else {
            Ok(())
        }
    };
    let whole: Vec<u64> = (0..100).map(|position| order.at(position)).collect();
    for threads in [1, 2, 7] {
        let mut skipped = engine(course(100, 10, 0..1), threads, OnError::Skip { limit: 3 }, work);
        let batches: Vec<_> = std::iter::from_fn(|| skipped.next()).collect::<Result<_>>().unwrap();
        assert_eq!(batches.iter().map(Vec::len).collect::<Vec<_>>(), [9, 10, 10, 8, 10, 10, 10, 10, 10, 10]);
        let rows: Vec<u64> = batches.concat().iter().map(|row| row.0).collect();
        assert_eq!(rows, whole.iter().copied().filter(|record| !bad.contains(record)).collect::<Vec<_>>());
        assert_eq!(skipped.bad().iter().map(|e| e.record().unwrap()).collect::<Vec<_>>(), bad);

        let masked = all(engine(course(100, 10, 0..1), threads, OnError::Mask { limit: 3 }, work)).concat();
        let valid: Vec<bool> = whole.iter().map(|record| !bad.contains(record)).collect();
        assert_eq!(masked.iter().map(|row| row.1).collect::<Vec<_>>(), valid);

        let mut limited = engine(course(100, 10, 0..1), threads, OnError::Skip { limit: 2 }, work);
        for _ in 0..3 {
            limited.next().unwrap().unwrap();
        }
        let error = limited.next().unwrap().unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::TooManyErrors);
        assert!(bad.iter().all(|record| error.to_string().contains(&format!("record {record}"))), "{error}");
        assert!(limited.next().is_none());
    }
}

#[test]
fn faults_of_more_than_one_record_are_not_skipped() {
    for kind in [ErrorKind::StaleIndex, ErrorKind::SourceChanged, ErrorKind::Io(std::io::ErrorKind::Other)] {
        let fault = kind.clone();
        let mut engine = engine(course(10, 10, 0..1), 2, OnError::Skip { limit: 100 }, move |_| {
            Err(Error::new(fault.clone(), "everything"))
        });
        assert_eq!(*engine.next().unwrap().unwrap_err().kind(), kind);
    }
}

#[test]
fn work_runs_ahead_of_the_caller_by_a_bounded_window() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let job = Numbers {
        per_claim: 1,
        work: Box::new(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }),
    };
    let settings = Settings { on_error: OnError::Stop, prefetch: Some(3), read_ahead: None };
    let mut engine = Engine::new(job, pool(2).unwrap(), course(1000, 10, 0..1), settings);
    for delivered in 1..=20 {
        engine.next().unwrap().unwrap();
        assert!(started.load(Ordering::SeqCst) <= (delivered + 3) * 10);
    }
}

#[test]
fn dropping_the_run_stops_the_work() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let (sender, receiver) = channel::<()>();
    let receiver = Mutex::new(receiver);
    let mut engine = engine(course(1000, 10, 0..1), 2, OnError::Stop, move |_| {
        // After the first batch every record waits for the caller, who drops its end.
        if count.fetch_add(1, Ordering::SeqCst) >= 10 {
            let _ = receiver.lock().unwrap().recv();
        }
        Ok(())
    });
    let shared = Arc::downgrade(&engine.shared);
    engine.next().unwrap().unwrap();
    drop(engine);
    drop(sender);
    // Every task of the pool lets go of the run once it has seen that it is over.
    while shared.strong_count() > 0 {
        std::thread::yield_now();
    }
    let done = started.load(Ordering::SeqCst);
    assert!(done <= 10 + 2, "{done} records were begun for 10 that were wanted");
}

#[test]
fn a_run_inside_our_own_pool_does_not_wait_for_itself() {
    let own = pool(1).unwrap();
    let batches = own.install(|| all(engine(course(100, 10, 0..1), 1, OnError::Stop, |_| Ok(()))));
    assert_eq!(batches.concat().len(), 100);
    // Runs within the records of a run, all on one thread.
    let outer = engine(course(5, 2, 0..1), 1, OnError::Stop, |_| {
        assert_eq!(all(engine(course(30, 4, 0..1), 1, OnError::Stop, |_| Ok(()))).concat().len(), 30);
        Ok(())
    });
    assert_eq!(all(outer).concat().len(), 5);
}

#[test]
fn a_run_inside_a_callers_pool_ends() {
    let theirs = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let batches = theirs.install(|| all(engine(course(100, 10, 0..2), 2, OnError::Stop, |_| Ok(()))));
    assert_eq!(batches.concat().len(), 200);
}

#[test]
fn a_billion_records_begin_at_once() {
    let since = std::time::Instant::now();
    let mut engine = engine(course(1 << 30, 10, 0..u64::MAX), 2, OnError::Stop, |_| Ok(()));
    engine.next().unwrap().unwrap();
    // The promise is a millisecond; a busy machine is given a hundred times that.
    assert!(since.elapsed().as_millis() < 100, "{:?}", since.elapsed());
}

#[test]
fn epochs_without_a_batch_end() {
    let mut short = course(3, 4, 0..u64::MAX);
    short.remainder = Remainder::Drop;
    assert_eq!(all(engine(short, 2, OnError::Stop, |_| Ok(()))).len(), 0);
    assert_eq!(all(engine(course(0, 4, 0..u64::MAX), 2, OnError::Stop, |_| Ok(()))).len(), 0);
    let mut rest = course(10, 4, 0..2);
    rest.start = (0, 10);
    assert_eq!(all(engine(rest, 2, OnError::Stop, |_| Ok(()))).len(), 3);
}
