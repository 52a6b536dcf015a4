//! Which positions of an epoch make which row of which batch: the arithmetic of ranks and remainders.

use crate::dataset::ranks::Ranks;

/// What happens to the last records of an epoch that do not fill a batch (on all ranks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remainder {
    /// The last batch is shorter. The default where there is one rank. With more of them, some may have a batch less.
    Keep,
    /// The last step that is not full on all ranks is left out.
    Drop,
    /// The last batch is filled up, on all ranks, with records from the start of the epoch; those rows are not
    /// [`valid`](crate::Batch::valid).
    Pad,
}

/// One rank's batches of one epoch, from a position on.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    len: u64,
    start: u64,
    batch: u64,
    ranks: Ranks,
    remainder: Remainder,
}

/// A row of a batch: where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) position: u64,
    /// False where the row only fills up a batch.
    pub(crate) valid: bool,
}

impl Steps {
    /// `start` is 0, or the position resumed at; it is at most `len`.
    pub(crate) fn new(len: u64, start: u64, batch: u64, ranks: Ranks, remainder: Remainder) -> Steps {
        Steps { len, start, batch, ranks, remainder }
    }

    /// The positions that all ranks take in one step.
    fn stride(&self) -> u64 {
        self.batch.saturating_mul(self.ranks.world_size)
    }

    fn left(&self) -> u64 {
        self.len - self.start
    }

    /// The positions that this rank takes.
    fn share(&self) -> u64 {
        self.left().saturating_sub(self.ranks.rank).div_ceil(self.ranks.world_size)
    }

    /// The number of batches.
    pub(crate) fn count(&self) -> u64 {
        match self.remainder {
            Remainder::Keep => self.share().div_ceil(self.batch),
            Remainder::Drop => self.left() / self.stride(),
            Remainder::Pad => self.left().div_ceil(self.stride()),
        }
    }

    /// The number of rows of a batch.
    pub(crate) fn rows(&self, step: u64) -> u64 {
        match self.remainder {
            Remainder::Keep => self.batch.min(self.share() - step * self.batch),
            Remainder::Drop | Remainder::Pad => self.batch,
        }
    }

    /// Where a row of a batch comes from.
    #[inline]
    pub(crate) fn place(&self, step: u64, row: u64) -> Place {
        let ahead = u128::from(step) * u128::from(self.stride())
            + u128::from(row) * u128::from(self.ranks.world_size)
            + u128::from(self.ranks.rank);
        let position = u128::from(self.start) + ahead;
        match u64::try_from(position) {
            Ok(position) if position < self.len => Place { position, valid: true },
            _ => Place {
                position: ((position - u128::from(self.len)) % u128::from(self.len)) as u64,
                valid: false,
            },
        }
    }

    /// Where all ranks stand after a number of steps: the position of a saved state.
    pub(crate) fn position_after(&self, steps: u64) -> u64 {
        self.start.saturating_add(steps.saturating_mul(self.stride())).min(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(len: u64, start: u64, batch: u64, world: u64, remainder: Remainder) -> Vec<Vec<Vec<Place>>> {
        (0..world)
            .map(|rank| {
                let steps = Steps::new(len, start, batch, Ranks { rank, world_size: world }, remainder);
                let step = |k| (0..steps.rows(k)).map(|row| steps.place(k, row)).collect();
                (0..steps.count()).map(step).collect()
            })
            .collect()
    }

    fn shape(len: u64, batch: u64, remainder: Remainder) -> Vec<usize> {
        all(len, 0, batch, 1, remainder)[0].iter().map(Vec::len).collect()
    }

    #[test]
    fn ten_records_in_batches_of_four() {
        assert_eq!(shape(10, 4, Remainder::Keep), [4, 4, 2]);
        assert_eq!(shape(10, 4, Remainder::Drop), [4, 4]);
        assert_eq!(shape(10, 4, Remainder::Pad), [4, 4, 4]);
        assert_eq!(shape(3, 4, Remainder::Drop), [0usize; 0]);
        assert_eq!(shape(0, 4, Remainder::Pad), [0usize; 0]);
        assert_eq!(shape(10, 1 << 40, Remainder::Keep), [10]);
        let padded = &all(10, 0, 4, 1, Remainder::Pad)[0][2];
        let places: Vec<_> = padded.iter().map(|place| (place.position, place.valid)).collect();
        assert_eq!(places, [(8, true), (9, true), (0, false), (1, false)]);
    }

    #[test]
    fn more_ranks_than_records() {
        let kept = all(3, 0, 1, 8, Remainder::Keep);
        assert_eq!(kept.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 0, 0, 0, 0, 0]);
        let padded = all(3, 0, 2, 8, Remainder::Pad);
        assert!(padded.iter().all(|rank| rank.len() == 1 && rank[0].len() == 2));
        let valid = padded.iter().flatten().flatten().filter(|place| place.valid).count();
        assert_eq!(valid, 3);
        assert!(padded.iter().flatten().flatten().all(|place| place.position < 3));
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        let huge = u64::MAX;
        for remainder in [Remainder::Keep, Remainder::Drop, Remainder::Pad] {
            let steps = Steps::new(huge, 5, huge, Ranks { rank: huge - 2, world_size: huge - 1 }, remainder);
            if steps.count() > 0 {
                steps.place(0, steps.rows(0) - 1);
            }
            assert!(steps.position_after(huge) <= huge);
        }
    }

    proptest! {
        /// Each step of all ranks together is a run of the one global order; nothing is lost or doubled; sizes differ by
        /// at most one; the state after a step is the same on every rank.
        #[test]
        fn ranks_together_are_one_order(len in 0u64..300, start in 0u64..300, batch in 1u64..9, world in 1u64..9) {
            let start = start.min(len);
            for remainder in [Remainder::Keep, Remainder::Drop, Remainder::Pad] {
                let ranks = all(len, start, batch, world, remainder);
                let most = ranks.iter().map(Vec::len).max().unwrap();
                let mut seen = Vec::new();
                for k in 0..most {
                    let mut step: Vec<Place> = ranks.iter().filter_map(|rank| rank.get(k)).flatten().copied().collect();
                    if remainder != Remainder::Keep {
                        prop_assert_eq!(step.len() as u64, batch * world);
                    }
                    step.retain(|place| place.valid);
                    step.sort_by_key(|place| place.position);
                    let from = start + k as u64 * batch * world;
                    prop_assert_eq!(step.first().map(|place| place.position), Some(from));
                    seen.extend(step.iter().map(|place| place.position));
                    let steps = Steps::new(len, start, batch, Ranks { rank: 0, world_size: world }, remainder);
                    prop_assert_eq!(steps.position_after(k as u64 + 1), seen.last().unwrap() + 1);
                }
                let end = match remainder {
                    Remainder::Drop => start + (len - start) / (batch * world) * batch * world,
                    _ => len,
                };
                prop_assert_eq!(seen, (start..end).collect::<Vec<u64>>());
                let sizes = ranks.iter().map(|rank| rank.iter().map(Vec::len).sum::<usize>());
                prop_assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
            }
        }
    }
}
