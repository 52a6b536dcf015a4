//! The verbs that choose and order records. Each takes the data set by value and gives another one.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

use crate::dataset::Dataset;
use crate::dataset::ranks::Ranks;
use crate::dataset::view::View;
use crate::error::{Error, Result};

impl Dataset {
    /// A true shuffle: a permutation of all records, another one in each epoch, the same for the same seed on every
    /// machine. No buffer and no list: O(1) memory above 65,536 records, and any position at once.
    ///
    /// Verbs apply from left to right: `take(100).shuffled(1)` shuffles the first 100 records, `shuffled(1).take(100)`
    /// gives in each epoch the first 100 of its shuffled order.
    pub fn shuffled(self, seed: u64) -> Dataset {
        self.viewed(|inner| View::Shuffled { inner, seed })
    }

    /// The one epoch to read. The default is epoch 0.
    pub fn epoch(self, epoch: u64) -> Dataset {
        self.with_epochs(epoch..epoch.saturating_add(1))
    }

    /// The epochs to read, one after the other: `0..90`, or `0..` without an end. A batch never holds records of two
    /// epochs, and the pipeline runs on from one to the next.
    pub fn epochs(self, epochs: impl RangeBounds<u64>) -> Dataset {
        let start = match epochs.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match epochs.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => u64::MAX,
        };
        self.with_epochs(start..end)
    }

    /// The first `n` records, or all where there are fewer.
    pub fn take(self, n: u64) -> Dataset {
        let len = self.len().min(n);
        self.slice(0, len)
    }

    /// All but the first `n` records.
    pub fn skip(self, n: u64) -> Dataset {
        let len = self.len();
        let start = len.min(n);
        self.slice(start, len - start)
    }

    fn slice(self, start: u64, len: u64) -> Dataset {
        self.viewed(|inner| View::Slice { inner, start, len })
    }

    /// The records at these positions, in this order; a position may come more than once. 8 bytes each.
    ///
    /// # Errors
    /// `InvalidArgument` where a position is not below [`len`](Dataset::len).
    pub fn select(self, positions: impl IntoIterator<Item = u64>) -> Result<Dataset> {
        let positions: Arc<[u64]> = positions.into_iter().collect();
        let len = self.len();
        if let Some(position) = positions.iter().find(|&&position| position >= len) {
            return Err(Error::invalid(format!(
                "there is no position {position} to select, the data set has {len}"
            )));
        }
        Ok(self.viewed(|inner| View::Select { inner, positions }))
    }

    /// These records, then those of another data set, whose epochs, ranks and features are not looked at.
    ///
    /// Where both come from one opened data set, global record numbers stay as they are; else the numbers of the second
    /// one follow those of the first.
    pub fn concat(mut self, other: Dataset) -> Dataset {
        let two = if Arc::ptr_eq(&self.shards, &other.shards) {
            other.view
        } else {
            let moved = other.view.moved(self.shards.len());
            self.shards = Arc::new(self.shards.concat(&other.shards));
            self.inferred = Arc::default();
            Arc::new(moved)
        };
        self.viewed(|one| View::Concat { one, two })
    }

    /// The share of one of `world_size` processes that read the same data set together.
    ///
    /// The split is made last, over the finished order, wherever this verb stands in the chain: in step `k` with batches
    /// of `b`, all ranks together read exactly the positions `k * b * world_size..(k + 1) * b * world_size` of one global
    /// order, rank `r` every `world_size`-th of them from the `r`-th on. With more than one rank
    /// [`Batches::remainder`](crate::Batches::remainder) must say what happens at the end.
    ///
    /// # Errors
    /// `InvalidArgument` where `rank` is not below `world_size`.
    pub fn for_rank(mut self, rank: u64, world_size: u64) -> Result<Dataset> {
        self.ranks = Ranks::new(rank, world_size)?;
        Ok(self)
    }

    /// [`for_rank`](Dataset::for_rank) with what the launcher says in the environment: `RANK` and `WORLD_SIZE` (torchrun),
    /// else `SLURM_PROCID` and `SLURM_NTASKS`, else `OMPI_COMM_WORLD_RANK` and `_SIZE` (Open MPI), else `PMI_RANK` and
    /// `PMI_SIZE` (MPICH, Intel MPI). Where none of them is set this is the only process.
    ///
    /// # Errors
    /// `InvalidArgument` where one is no number, or there is a world size above 1 without a rank.
    pub fn for_rank_from_env(mut self) -> Result<Dataset> {
        self.ranks = Ranks::from_env(|name| std::env::var(name).ok())?;
        Ok(self)
    }

    /// The rank of this process and the number of ranks: `(0, 1)` unless [`for_rank`](Dataset::for_rank) said otherwise.
    pub fn rank(&self) -> (u64, u64) {
        (self.ranks.rank, self.ranks.world_size)
    }

    /// The epochs to read.
    pub fn epoch_range(&self) -> Range<u64> {
        self.epochs.clone()
    }
}
