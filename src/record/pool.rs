//! Which data files are open: as many as the system's limits allow for good, all others in turn.
//!
//! A store is opened at its first read. While the process is far from its limits on maps and descriptors the file then
//! stays open until the store is dropped. Beyond that files share a few places and give them up to each other.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::error::Result;
use crate::file::{self, DataFile};
use crate::index::{Entry, Index};

/// An open data file with its index.
pub(crate) struct Opened {
    path: Arc<Path>,
    data: DataFile,
    index: Arc<Index>,
    /// Whether the first and last frame have been found to be as indexed.
    proven: AtomicBool,
    /// Up to where the system was asked for bytes last; beyond any file before that.
    asked: AtomicU64,
    _permit: Option<Permit>,
}

/// Bytes asked for beyond a record where records are read in order.
const AHEAD: u64 = 4 << 20;

impl Opened {
    pub(super) fn new(path: Arc<Path>, data: DataFile, index: Arc<Index>, permit: Option<Permit>) -> Opened {
        Opened {
            path,
            data,
            index,
            proven: AtomicBool::new(false),
            asked: AtomicU64::new(u64::MAX),
            _permit: permit,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[inline]
    pub(super) fn data(&self) -> &DataFile {
        &self.data
    }

    #[inline]
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    #[inline]
    pub(super) fn proven(&self) -> &AtomicBool {
        &self.proven
    }

    /// Asks the system for a record that is not in memory, and for what follows where the records before were asked for.
    #[cold]
    pub(super) fn ask_for(&self, entry: Entry) {
        let asked = self.asked.load(Ordering::Relaxed);
        let in_order = (entry.offset..=entry.end).contains(&asked);
        let wanted = if in_order { asked..entry.end + AHEAD } else { entry.offset..entry.end };
        self.asked.store(wanted.end, Ordering::Relaxed);
        self.data.advise_willneed(wanted);
    }

    /// True where it stays open for as long as the store does.
    pub(super) fn is_permanent(&self) -> bool {
        self._permit.is_some()
    }
}

/// How many files may stay open for good: half of what the system allows, since the process has other uses too.
static LEFT: LazyLock<Left> = LazyLock::new(|| {
    let half = |limit: u64| AtomicI64::new((limit / 2).min(1 << 30) as i64);
    Left { maps: half(file::map_limit()), descriptors: half(file::descriptor_limit()) }
});

struct Left {
    maps: AtomicI64,
    descriptors: AtomicI64,
}

/// The right to stay open for good.
pub(crate) struct Permit {
    maps: i64,
    descriptors: i64,
}

impl Permit {
    /// A permit for a file that takes so many maps and descriptors, where there are that many left.
    pub(super) fn take(maps: i64, descriptors: i64) -> Option<Permit> {
        let permit = Permit { maps, descriptors };
        let left = LEFT.maps.fetch_sub(maps, Ordering::Relaxed) - maps;
        let left = left.min(LEFT.descriptors.fetch_sub(descriptors, Ordering::Relaxed) - descriptors);
        (left >= 0).then_some(permit)
    }

    /// Gives back what turned out not to be needed.
    pub(super) fn settle(&mut self, maps: i64, descriptors: i64) {
        LEFT.maps.fetch_add(self.maps - maps, Ordering::Relaxed);
        LEFT.descriptors.fetch_add(self.descriptors - descriptors, Ordering::Relaxed);
        (self.maps, self.descriptors) = (maps, descriptors);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        LEFT.maps.fetch_add(self.maps, Ordering::Relaxed);
        LEFT.descriptors.fetch_add(self.descriptors, Ordering::Relaxed);
    }
}

/// Open files without a permit: the last ones used.
static IN_TURN: LazyLock<Mutex<InTurn>> = LazyLock::new(|| {
    let places = (file::descriptor_limit() / 16).clamp(2, 64) as usize;
    Mutex::new(InTurn { places, clock: 0, open: HashMap::new() })
});

struct InTurn {
    places: usize,
    clock: u64,
    open: HashMap<u64, (u64, Arc<Opened>)>,
}

/// A number for a store, never used twice in a process.
pub(super) fn new_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The open file of a store without a permit, opened where it is not.
pub(super) fn in_turn(id: u64, open: impl FnOnce() -> Result<Opened>) -> Result<Arc<Opened>> {
    let mut pool = IN_TURN.lock().unwrap_or_else(PoisonError::into_inner);
    pool.clock += 1;
    let now = pool.clock;
    if let Some((used, opened)) = pool.open.get_mut(&id) {
        *used = now;
        return Ok(opened.clone());
    }
    drop(pool);
    // Opened without the lock, so that others do not wait for a slow disk. Two threads may both do it.
    let opened = Arc::new(open()?);
    let mut pool = IN_TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut closed = Vec::new();
    while pool.open.len() >= pool.places {
        let oldest = pool.open.iter().min_by_key(|(_, (used, _))| *used).map(|(id, _)| *id);
        closed.extend(oldest.and_then(|id| pool.open.remove(&id)));
    }
    pool.open.insert(id, (now, opened.clone()));
    drop(pool);
    Ok(opened)
}

/// Closes the file of a store that goes away.
pub(super) fn forget(id: u64) {
    let closed = IN_TURN.lock().unwrap_or_else(PoisonError::into_inner).open.remove(&id);
    drop(closed);
}
