//! Which records a data set has, and in which order: what the verbs made of it, as an expression.

use std::sync::Arc;

use crate::order::{ORDER_VERSION, Order};

/// An expression over the records of the shards. Its length does not depend on the epoch.
#[derive(Clone, Debug)]
pub(crate) enum View {
    /// Records `first..first + len`, as they lie in the files.
    All {
        first: u64,
        len: u64,
    },
    Shuffled {
        inner: Arc<View>,
        seed: u64,
    },
    Slice {
        inner: Arc<View>,
        start: u64,
        len: u64,
    },
    Select {
        inner: Arc<View>,
        positions: Arc<[u64]>,
    },
    Concat {
        one: Arc<View>,
        two: Arc<View>,
    },
}

/// A view in one epoch: position -> global record number, a pure function. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum EpochOrder {
    All { first: u64, len: u64 },
    Shuffled { inner: Arc<EpochOrder>, order: Order },
    Slice { inner: Arc<EpochOrder>, start: u64, len: u64 },
    Select { inner: Arc<EpochOrder>, positions: Arc<[u64]> },
    Concat { one: Arc<EpochOrder>, one_len: u64, two: Arc<EpochOrder> },
}

impl View {
    pub(crate) fn len(&self) -> u64 {
        match self {
            View::All { len, .. } | View::Slice { len, .. } => *len,
            View::Shuffled { inner, .. } => inner.len(),
            View::Select { positions, .. } => positions.len() as u64,
            View::Concat { one, two } => one.len().saturating_add(two.len()),
        }
    }

    /// The order of an epoch. Costs what [`Order::shuffled`] costs, for each `shuffled` in it.
    pub(crate) fn order(&self, epoch: u64) -> EpochOrder {
        let inner = |view: &Arc<View>| Arc::new(view.order(epoch));
        match self {
            View::All { first, len } => EpochOrder::All { first: *first, len: *len },
            View::Shuffled { inner: view, seed } => {
                EpochOrder::Shuffled { inner: inner(view), order: Order::shuffled(view.len(), *seed, epoch) }
            }
            View::Slice { inner: view, start, len } => {
                EpochOrder::Slice { inner: inner(view), start: *start, len: *len }
            }
            View::Select { inner: view, positions } => {
                EpochOrder::Select { inner: inner(view), positions: positions.clone() }
            }
            View::Concat { one, two } => {
                EpochOrder::Concat { one: inner(one), one_len: one.len(), two: inner(two) }
            }
        }
    }

    /// The same view of records that lie `by` further behind.
    pub(crate) fn moved(&self, by: u64) -> View {
        let inner = |view: &Arc<View>| Arc::new(view.moved(by));
        match self {
            View::All { first, len } => View::All { first: first + by, len: *len },
            View::Shuffled { inner: view, seed } => View::Shuffled { inner: inner(view), seed: *seed },
            View::Slice { inner: view, start, len } => {
                View::Slice { inner: inner(view), start: *start, len: *len }
            }
            View::Select { inner: view, positions } => {
                View::Select { inner: inner(view), positions: positions.clone() }
            }
            View::Concat { one, two } => View::Concat { one: inner(one), two: inner(two) },
        }
    }

    /// True where records come as they lie in the files, one after the other.
    pub(crate) fn is_sequential(&self) -> bool {
        match self {
            View::All { .. } => true,
            View::Slice { inner, .. } => inner.is_sequential(),
            View::Shuffled { .. } | View::Select { .. } | View::Concat { .. } => false,
        }
    }

    /// The seed of the last `shuffled`.
    pub(crate) fn seed(&self) -> Option<u64> {
        match self {
            View::All { .. } => None,
            View::Shuffled { seed, .. } => Some(*seed),
            View::Slice { inner, .. } | View::Select { inner, .. } => inner.seed(),
            View::Concat { one, two } => one.seed().or_else(|| two.seed()),
        }
    }

    /// Adds what was done to a hash.
    pub(crate) fn fingerprint(&self, hash: &mut Fingerprint) {
        match self {
            View::All { first, len } => hash.add(&[1, *first, *len]),
            View::Shuffled { inner, seed } => {
                inner.fingerprint(hash);
                hash.add(&[2, *seed, u64::from(ORDER_VERSION)]);
            }
            View::Slice { inner, start, len } => {
                inner.fingerprint(hash);
                hash.add(&[3, *start, *len]);
            }
            View::Select { inner, positions } => {
                inner.fingerprint(hash);
                hash.add(&[4, positions.len() as u64]);
                hash.add(positions);
            }
            View::Concat { one, two } => {
                one.fingerprint(hash);
                two.fingerprint(hash);
                hash.add(&[5]);
            }
        }
    }
}

impl EpochOrder {
    pub(crate) fn len(&self) -> u64 {
        match self {
            EpochOrder::All { len, .. } | EpochOrder::Slice { len, .. } => *len,
            EpochOrder::Shuffled { order, .. } => order.len(),
            EpochOrder::Select { positions, .. } => positions.len() as u64,
            EpochOrder::Concat { one_len, two, .. } => one_len.saturating_add(two.len()),
        }
    }

    /// The global number of the record at a position below [`len`](EpochOrder::len).
    #[inline]
    pub(crate) fn at(&self, position: u64) -> u64 {
        match self {
            EpochOrder::All { first, .. } => first + position,
            EpochOrder::Shuffled { inner, order } => inner.at(order.at(position)),
            EpochOrder::Slice { inner, start, .. } => inner.at(start + position),
            EpochOrder::Select { inner, positions } => inner.at(positions[position as usize]),
            EpochOrder::Concat { one, one_len, .. } if position < *one_len => one.at(position),
            EpochOrder::Concat { one_len, two, .. } => two.at(position - one_len),
        }
    }
}

/// A 64-bit hash of numbers in order (FNV-1a over their little-endian bytes, then mixed): frozen, as saved states hold it.
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, numbers: &[u64]) {
        for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(crate) fn finish(&self) -> u64 {
        let x = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(view: &View, epoch: u64) -> Vec<u64> {
        let order = view.order(epoch);
        assert_eq!(order.len(), view.len());
        (0..order.len()).map(|position| order.at(position)).collect()
    }

    #[test]
    fn verbs_apply_left_to_right() {
        let files = Arc::new(View::All { first: 0, len: 10 });
        let shuffled = Arc::new(View::Shuffled { inner: files.clone(), seed: 3 });
        let first_of_shuffled = View::Slice { inner: shuffled.clone(), start: 2, len: 4 };
        assert_eq!(all(&first_of_shuffled, 1), all(&shuffled, 1)[2..6]);
        let first = Arc::new(View::Slice { inner: files, start: 2, len: 4 });
        let mut shuffled_first = all(&View::Shuffled { inner: first.clone(), seed: 3 }, 1);
        shuffled_first.sort_unstable();
        assert_eq!(shuffled_first, [2, 3, 4, 5]);
        let picked = Arc::new(View::Select { inner: first, positions: [3, 0, 0].into() });
        assert_eq!(all(&picked, 0), [5, 2, 2]);
        let both = View::Concat { one: picked.clone(), two: Arc::new(picked.moved(100)) };
        assert_eq!(all(&both, 0), [5, 2, 2, 105, 102, 102]);
    }

    #[test]
    fn every_verb_changes_the_fingerprint() {
        let files = Arc::new(View::All { first: 0, len: 10 });
        let inner = || files.clone();
        let views = [
            View::All { first: 0, len: 10 },
            View::All { first: 0, len: 11 },
            View::Shuffled { inner: inner(), seed: 0 },
            View::Shuffled { inner: inner(), seed: 1 },
            View::Slice { inner: inner(), start: 0, len: 10 },
            View::Slice { inner: inner(), start: 1, len: 9 },
            View::Select { inner: inner(), positions: [1, 2].into() },
            View::Select { inner: inner(), positions: [2, 1].into() },
            View::Concat { one: inner(), two: inner() },
        ];
        let mut prints: Vec<u64> = views
            .iter()
            .map(|view| {
                let mut hash = Fingerprint::new();
                view.fingerprint(&mut hash);
                hash.finish()
            })
            .collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), views.len());
    }
}
