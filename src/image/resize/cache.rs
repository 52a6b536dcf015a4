//! A few tables by their keys, reused without allocation.

/// The number of tables kept: enough for the usual picture sizes of a data set.
const CAPACITY: usize = 16;

/// Tables by key. A new key takes over the memory of the table that was not used for longest.
pub(crate) struct Cache<K, T> {
    /// Last used first.
    entries: Vec<(K, T)>,
}

impl<K, T> Default for Cache<K, T> {
    fn default() -> Cache<K, T> {
        Cache { entries: Vec::new() }
    }
}

impl<K: Copy + PartialEq, T: Default> Cache<K, T> {
    /// The table of a key, made by `fill` if it is not there.
    pub fn get(&mut self, key: K, fill: impl FnOnce(&mut T, &K)) -> &T {
        self.bring(key, fill);
        &self.entries[0].1
    }

    /// Two tables at once.
    pub fn pair(&mut self, [a, b]: [K; 2], fill: impl Fn(&mut T, &K)) -> [&T; 2] {
        self.bring(b, &fill);
        self.bring(a, &fill);
        [&self.entries[0].1, if a == b { &self.entries[0].1 } else { &self.entries[1].1 }]
    }

    fn bring(&mut self, key: K, fill: impl FnOnce(&mut T, &K)) {
        let at = match self.entries.iter().position(|(k, _)| *k == key) {
            Some(at) => at,
            None => {
                if self.entries.len() < CAPACITY {
                    self.entries.push((key, T::default()));
                }
                let last = self.entries.len() - 1;
                self.entries[last].0 = key;
                fill(&mut self.entries[last].1, &key);
                last
            }
        };
        self.entries[..=at].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_belong_to_their_keys() {
        let mut cache = Cache::<usize, usize>::default();
        let fill = |table: &mut usize, key: &usize| *table = key * 10;
        for round in 0..3 {
            for key in 0..40 {
                assert_eq!(*cache.get(key, fill), key * 10, "round {round}");
                assert_eq!(cache.pair([key, key / 2], fill), [&(key * 10), &(key / 2 * 10)]);
                assert_eq!(cache.pair([7, 7], fill), [&70, &70]);
            }
        }
        assert_eq!(cache.entries.len(), CAPACITY);
        let mut made = 0;
        cache.get(39, |_, _| made += 1);
        assert_eq!(made, 0);
    }
}
