//! The pipeline: batches in flight on a pool of our own, generic over what is done for each record.
//!
//! A batch in flight is one task of the pool, which owns the batch's memory. It lets other threads claim rows of it, as
//! many at a time as make the claim worth its while, and works on rows itself until none is left. A thread that finds
//! nothing to claim begins the next batch, so that there is no barrier between batches. Rows are claimed in order; so of
//! several bad rows the first is known whatever the number of threads, and everything else depends on the row alone.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, Yield};

use crate::batch::course::{Course, Cursor, Ticket};
use crate::batch::job::{Fate, Job, Row};
use crate::batch::policy::{OnError, too_many};
use crate::batch::read_ahead::ReadAhead;
use crate::batch::stats::Stats;
use crate::dataset::ahead::GROUP;
use crate::error::{Error, ErrorKind, Result};

/// How many claims per thread are in flight, if the caller does not say how many batches are to be.
const CLAIMS_IN_FLIGHT: usize = 8;
/// The most batches whose bytes are asked for before one is begun: the first batch is not to wait for all that is asked.
const ASKED_AT_ONCE: u64 = 4;
/// The most batches in flight by default.
const MOST_IN_FLIGHT: usize = 64;

/// What the caller can choose.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) on_error: OnError,
    /// Batches made ahead.
    pub(crate) prefetch: Option<usize>,
    /// Asks for bytes ahead of time.
    pub(crate) read_ahead: Option<Arc<ReadAhead>>,
}

/// A run.
pub(crate) struct Engine<J: Job> {
    shared: Arc<Shared<J>>,
    process: u32,
    cursor: Cursor,
    /// Runs ahead of `cursor` by `ahead` batches, at most `horizon`.
    ahead_cursor: Cursor,
    ahead: u64,
    horizon: u64,
    window: usize,
    in_flight: usize,
    submitted: u64,
    limit: u64,
    ended: Option<Instant>,
    /// Epoch and position after the last batch handed over.
    reached: (u64, u64),
    bad: Vec<Error>,
    stats: Stats,
    started: Option<Instant>,
}

struct Shared<J: Job> {
    job: J,
    pool: Arc<ThreadPool>,
    on_error: OnError,
    read_ahead: Option<Arc<ReadAhead>>,
    /// The caller is gone, or the run has failed.
    stopped: AtomicBool,
    /// The threads' state, while they do not need it.
    workers: Mutex<Vec<J::Worker>>,
    board: Mutex<Board<J::Out>>,
    ready: Condvar,
}

/// The batches in flight, in order.
struct Board<T> {
    front: u64,
    slots: VecDeque<Option<Finished<T>>>,
    unfinished: usize,
    /// Since when nothing is left to do.
    idle_since: Option<Instant>,
}

struct Finished<T> {
    out: Result<T>,
    /// What was wrong with rows that are not in the batch.
    bad: Vec<Error>,
    reached: (u64, u64),
    rows: u64,
    payload_bytes: u64,
}

/// A lock whose holder cannot leave it half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<J: Job> Engine<J> {
    pub(crate) fn new(mut job: J, pool: Arc<ThreadPool>, course: Course, settings: Settings) -> Engine<J> {
        let threads = pool.current_num_threads();
        let rows = course.batch.min(course.view.len()).max(1);
        let rows_most = usize::try_from(rows).unwrap_or(usize::MAX);
        let claim = job.rows_per_claim(rows_most, threads).max(1);
        let wanted = CLAIMS_IN_FLIGHT.saturating_mul(threads).saturating_mul(claim) as u64;
        let in_flight = wanted.div_ceil(rows) as usize + 1;
        let window = settings.prefetch.unwrap_or(in_flight.min(MOST_IN_FLIGHT)).max(1);
        job.begin(rows_most, window.saturating_add(1));
        let horizon = settings.read_ahead.as_ref().map_or(0, |ahead| ahead.batches(rows, threads));
        let reached = course.start;
        let cursor = Cursor::new(Arc::new(course));
        let board = Board { front: 0, slots: VecDeque::new(), unfinished: 0, idle_since: None };
        let shared = Shared {
            job,
            pool,
            on_error: settings.on_error,
            read_ahead: settings.read_ahead,
            stopped: AtomicBool::new(false),
            workers: Mutex::default(),
            board: Mutex::new(board),
            ready: Condvar::new(),
        };
        Engine {
            shared: Arc::new(shared),
            process: process::id(),
            ahead_cursor: cursor.clone(),
            ahead: 0,
            horizon,
            cursor,
            window,
            in_flight: 0,
            submitted: 0,
            limit: settings.on_error.limit(),
            ended: None,
            reached,
            bad: Vec::new(),
            stats: Stats::default(),
            started: None,
        }
    }

    /// Epoch and position after the last batch handed over.
    pub(crate) fn reached(&self) -> (u64, u64) {
        self.reached
    }

    pub(crate) fn bad(&self) -> &[Error] {
        &self.bad
    }

    pub(crate) fn stats(&self) -> Stats {
        let now = self.ended.unwrap_or_else(Instant::now);
        let elapsed = self.started.map_or(Duration::ZERO, |started| now.saturating_duration_since(started));
        let stats = Stats { elapsed, ..self.stats };
        self.shared.read_ahead.as_ref().map_or(stats, |read_ahead| read_ahead.add_to(stats))
    }

    /// The next batch; `Pending` where it is not there at a point of time.
    pub(crate) fn next_until(&mut self, until: Option<Instant>) -> Poll<Option<Result<J::Out>>> {
        if self.ended.is_some() {
            return Poll::Ready(None);
        }
        if self.process != process::id() {
            self.ended = Some(Instant::now());
            let reason =
                "the batches were begun before this process was forked off, their threads are not in it";
            return Poll::Ready(Some(Err(Error::invalid(reason).with_help("call batches in the child"))));
        }
        self.started.get_or_insert_with(Instant::now);
        self.fill();
        if self.in_flight == 0 {
            self.ended = Some(Instant::now());
            return Poll::Ready(None);
        }
        let Some(finished) = self.wait(until) else { return Poll::Pending };
        self.in_flight -= 1;
        self.bad.extend(finished.bad);
        let out = match finished.out {
            Ok(_) if self.bad.len() as u64 > self.limit => Err(too_many(&self.bad, self.limit)),
            out => out,
        };
        match out {
            Ok(out) => {
                self.reached = finished.reached;
                self.stats.batches += 1;
                self.stats.records += finished.rows;
                self.stats.payload_bytes += finished.payload_bytes;
                self.fill();
                Poll::Ready(Some(Ok(out)))
            }
            Err(error) => {
                self.end();
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    /// Stops all work within a record's time.
    fn end(&mut self) {
        self.ended = Some(Instant::now());
        self.shared.stopped.store(true, Ordering::Relaxed);
    }

    /// Submits as many batches as may be in flight.
    fn fill(&mut self) {
        while self.in_flight < self.window {
            let wanted = (self.horizon - self.ahead).min(ASKED_AT_ONCE);
            let ahead: Vec<Ticket> = (0..wanted).map_while(|_| self.ahead_cursor.next()).collect();
            self.ahead += ahead.len() as u64;
            let Some(ticket) = self.cursor.next() else { return };
            self.ahead = self.ahead.saturating_sub(1);
            let mut board = lock(&self.shared.board);
            if let Some(since) = board.idle_since.take() {
                self.stats.waited_for_consumer += since.elapsed();
            }
            board.slots.push_back(None);
            board.unfinished += 1;
            drop(board);
            let (shared, number) = (Arc::clone(&self.shared), self.submitted);
            self.shared.pool.spawn_fifo(move || shared.drive(number, ticket, ahead));
            self.submitted += 1;
            self.in_flight += 1;
        }
    }

    fn wait(&mut self, until: Option<Instant>) -> Option<Finished<J::Out>> {
        let shared = &self.shared;
        let mut board = lock(&shared.board);
        if let Some(finished) = board.pop() {
            return Some(finished);
        }
        let since = Instant::now();
        let finished = loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break None;
            }
            // A thread of our own pool must work while it waits, or the work might have no thread left.
            board = if shared.pool.current_thread_index().is_some() {
                drop(board);
                let worked = shared.pool.yield_now() == Some(Yield::Executed);
                let board = lock(&shared.board);
                if worked || board.slots.front().is_some_and(Option::is_some) {
                    board
                } else {
                    let pause = Duration::from_millis(1);
                    shared.ready.wait_timeout(board, pause).unwrap_or_else(PoisonError::into_inner).0
                }
            } else if let Some(left) = left {
                shared.ready.wait_timeout(board, left).unwrap_or_else(PoisonError::into_inner).0
            } else {
                shared.ready.wait(board).unwrap_or_else(PoisonError::into_inner)
            };
            if let Some(finished) = board.pop() {
                break Some(finished);
            }
        };
        drop(board);
        self.stats.waited_for_data += since.elapsed();
        finished
    }
}

impl<J: Job> Drop for Engine<J> {
    fn drop(&mut self) {
        if self.process == process::id() {
            self.end();
        } else {
            // In a forked child, locks may be held by threads that are not there: the memory is left alone.
            std::mem::forget(Arc::clone(&self.shared));
        }
    }
}

impl<T> Board<T> {
    fn pop(&mut self) -> Option<Finished<T>> {
        let finished = self.slots.front_mut()?.take()?;
        self.slots.pop_front();
        self.front += 1;
        Some(finished)
    }
}

impl<J: Job> Shared<J> {
    /// Makes one batch, on a thread of the pool.
    fn drive(&self, number: u64, ticket: Ticket, ahead: Vec<Ticket>) {
        let made = catch_unwind(AssertUnwindSafe(|| {
            if let Some(read_ahead) = &self.read_ahead {
                ahead.iter().for_each(|ticket| read_ahead.ask(ticket));
            }
            self.make(&ticket)
        }));
        let finished = made.unwrap_or_else(|panic| Finished {
            out: Err(panicked(&*panic)),
            bad: Vec::new(),
            reached: (0, 0),
            rows: 0,
            payload_bytes: 0,
        });
        let mut board = lock(&self.board);
        let slot = (number - board.front) as usize;
        board.slots[slot] = Some(finished);
        board.unfinished -= 1;
        if board.unfinished == 0 {
            board.idle_since = Some(Instant::now());
        }
        drop(board);
        // Only the batch in front is waited for.
        if slot == 0 {
            self.ready.notify_all();
        }
    }

    fn make(&self, ticket: &Ticket) -> Finished<J::Out> {
        let reached = (ticket.epoch(), ticket.position_after());
        let mut finished =
            Finished { out: Err(gone()), bad: Vec::new(), reached, rows: ticket.rows(), payload_bytes: 0 };
        finished.out = self.make_rows(ticket, &mut finished.bad, &mut finished.payload_bytes);
        finished
    }

    fn make_rows(&self, ticket: &Ticket, lost: &mut Vec<Error>, payload_bytes: &mut u64) -> Result<J::Out> {
        let count = usize::try_from(ticket.rows()).unwrap_or(usize::MAX);
        let mut rows: Vec<Row> = Vec::new();
        rows.try_reserve_exact(count)
            .map_err(|_| Error::invalid(format!("a batch of {count} rows does not fit into memory")))?;
        rows.extend((0..count as u64).map(|row| ticket.row(row)));
        let mut block = self.job.block(&rows)?;
        let bad = self.work_on(&mut block, &rows, ticket.epoch(), payload_bytes);
        if self.stopped.load(Ordering::Relaxed) {
            return Err(gone());
        }
        let mut fates = vec![Fate::Good; count];
        for (row, error) in bad {
            match self.on_error.fate(&error) {
                None => return Err(error),
                Some(fate) => fates[row] = fate,
            }
            // A row that only fills up was, or will be, counted in its own place.
            if rows[row].place.valid {
                lost.push(error);
            }
        }
        self.job.finish(block, rows, fates, ticket.epoch())
    }

    /// Has all rows worked on; gives the bad ones in order. Under a policy that stops, rows after the first bad one may
    /// not have been looked at.
    fn work_on(
        &self,
        block: &mut J::Block,
        rows: &[Row],
        epoch: u64,
        payload_bytes: &mut u64,
    ) -> Vec<(usize, Error)> {
        let threads = self.pool.current_num_threads();
        let per_claim = self.job.rows_per_claim(rows.len(), threads).max(1);
        let crew = Crew {
            shared: self,
            rows,
            epoch,
            per_claim,
            left: Mutex::new((0, self.job.parts(block))),
            fatal: AtomicBool::new(false),
            result: Mutex::new((Vec::new(), 0)),
        };
        let helpers = rows.len().div_ceil(per_claim).min(threads).saturating_sub(1);
        if helpers == 0 {
            crew.work();
        } else {
            rayon::scope(|scope| {
                for _ in 0..helpers {
                    scope.spawn(|_| crew.work());
                }
                crew.work();
            });
        }
        let (mut bad, bytes) = crew.result.into_inner().unwrap_or_else(PoisonError::into_inner);
        *payload_bytes = bytes;
        bad.sort_by_key(|(row, _)| *row);
        bad
    }
}

/// The threads that work on one batch.
struct Crew<'c, 'b, J: Job> {
    shared: &'c Shared<J>,
    rows: &'c [Row],
    epoch: u64,
    per_claim: usize,
    /// The first row that nobody has claimed, and the memory from there on.
    left: Mutex<(usize, J::Parts<'b>)>,
    /// A row was met that ends the run: later rows need not be claimed.
    fatal: AtomicBool,
    /// Bad rows and payload bytes.
    result: Mutex<(Vec<(usize, Error)>, u64)>,
}

impl<'b, J: Job> Crew<'_, 'b, J> {
    /// Claims rows and works on them until none are left.
    fn work(&self) {
        let shared = self.shared;
        let mut worker: Option<J::Worker> = None;
        let mut claim = J::Claim::default();
        let (mut bad, mut bytes) = (Vec::new(), 0);
        while let Some((first, count)) = self.claim(&mut claim) {
            let worker = worker
                .get_or_insert_with(|| lock(&shared.workers).pop().unwrap_or_else(|| shared.job.worker()));
            for i in 0..count {
                if shared.stopped.load(Ordering::Relaxed) {
                    break;
                }
                if i % GROUP == 0 {
                    shared.job.prepare(worker, &self.rows[first..first + count], i);
                }
                let row = &self.rows[first + i];
                let run = || shared.job.run(worker, &mut claim, i, row, self.epoch);
                match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(Ok(payload)) => bytes += payload,
                    Ok(Err(error)) => self.note(&mut bad, first + i, error),
                    Err(panic) => {
                        // What the panic left behind is not to be trusted.
                        *worker = shared.job.worker();
                        self.note(&mut bad, first + i, shared.job.place(panicked(&*panic), row));
                    }
                }
            }
        }
        if let Some(worker) = worker {
            lock(&shared.workers).push(worker);
        }
        let mut result = lock(&self.result);
        result.0.append(&mut bad);
        result.1 += bytes;
    }

    fn note(&self, bad: &mut Vec<(usize, Error)>, row: usize, error: Error) {
        if self.shared.on_error.fate(&error).is_none() {
            self.fatal.store(true, Ordering::Relaxed);
        }
        bad.push((row, error));
    }

    fn claim(&self, claim: &mut J::Claim<'b>) -> Option<(usize, usize)> {
        if self.fatal.load(Ordering::Relaxed) || self.shared.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let mut left = lock(&self.left);
        let first = left.0;
        let count = self.per_claim.min(self.rows.len() - first);
        if count == 0 {
            return None;
        }
        left.0 += count;
        self.shared.job.claim(&mut left.1, count, claim);
        Some((first, count))
    }
}

/// The caller is gone: nobody will see this.
fn gone() -> Error {
    Error::invalid("the run has ended")
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message");
    Error::new(ErrorKind::Panicked, format!("a panic: {message}"))
}

#[cfg(test)]
mod tests;
