//! The threads that work: rayon pools of our own, never a caller's.

use std::process;
use std::sync::{Arc, Mutex, Weak};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, ErrorKind, Result};

/// Pools in use, by process and by the number of threads asked for. A pool ends with the last run that works on it. A
/// forked child has none of its parent's threads, so that it never gets one of its pools.
static POOLS: Mutex<Vec<(u32, usize, Weak<ThreadPool>)>> = Mutex::new(Vec::new());

/// The pool of a number of threads; 0 is as many as RAYON_NUM_THREADS says, or as there are cores.
pub(crate) fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    // Another thread of the parent may have held the lock at the time of a fork: then the child builds without it.
    let Ok(mut pools) = POOLS.try_lock() else { return build(threads) };
    let pid = process::id();
    pools.retain(|(of, _, pool)| *of == pid && pool.strong_count() > 0);
    let found = pools.iter().find(|(_, of, _)| *of == threads);
    if let Some(pool) = found.and_then(|(_, _, pool)| pool.upgrade()) {
        return Ok(pool);
    }
    let pool = build(threads)?;
    pools.push((pid, threads, Arc::downgrade(&pool)));
    Ok(pool)
}

/// More threads than this are a slip: starting them alone takes longer than any work.
const MOST_THREADS: usize = 1024;

fn build(threads: usize) -> Result<Arc<ThreadPool>> {
    if threads > MOST_THREADS {
        return Err(Error::invalid(format!("{threads} threads are asked for, more than {MOST_THREADS}")));
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("tfrmap-{i}"));
    let pool = builder.build().map_err(|error| {
        let kind = ErrorKind::Io(std::io::ErrorKind::Other);
        Error::new(kind, format!("{threads} threads could not be started: {error}"))
            .with_help("ask for fewer by threads(n)")
    })?;
    Ok(Arc::new(pool))
}
