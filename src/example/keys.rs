//! Which column a key belongs to.

/// A table from keys to column numbers, asked once for each feature of each record.
#[derive(Clone, Debug)]
pub(crate) struct KeyIndex {
    keys: Vec<(Box<[u8]>, usize)>,
    /// Numbers in `keys`, plus one, by hash; 0 is free. Empty for few keys, which are compared one by one.
    slots: Vec<u32>,
}

/// Up to this many keys it is faster to compare than to hash.
const FEW: usize = 8;

impl KeyIndex {
    pub(crate) fn new<'k>(keys: impl IntoIterator<Item = (&'k [u8], usize)>) -> KeyIndex {
        let keys: Vec<(Box<[u8]>, usize)> = keys.into_iter().map(|(key, i)| (key.into(), i)).collect();
        let mut slots = Vec::new();
        if keys.len() > FEW {
            slots.resize((keys.len() * 2).next_power_of_two(), 0);
            for (i, (key, _)) in keys.iter().enumerate() {
                let mut slot = hash(key) & (slots.len() - 1);
                while slots[slot] != 0 {
                    slot = (slot + 1) & (slots.len() - 1);
                }
                slots[slot] = i as u32 + 1;
            }
        }
        KeyIndex { keys, slots }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The column of a key.
    #[inline]
    pub(crate) fn get(&self, key: &[u8]) -> Option<usize> {
        if self.slots.is_empty() {
            return self.keys.iter().find(|(other, _)| **other == *key).map(|(_, i)| *i);
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(key) & mask;
        while let Some(at) = self.slots[slot].checked_sub(1) {
            let (other, i) = &self.keys[at as usize];
            if **other == *key {
                return Some(*i);
            }
            slot = (slot + 1) & mask;
        }
        None
    }
}

/// A quick hash of a short key: eight bytes at a time, the last ones perhaps twice. The words are multiplied one
/// beside the other, not one after the other.
#[inline(always)]
pub(crate) fn hash(key: &[u8]) -> usize {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(K);
    let mut hash = key.len() as u64;
    match key.last_chunk::<8>() {
        Some(last) => {
            for chunk in key.as_chunks::<8>().0 {
                hash = hash.rotate_left(23) ^ word(chunk);
            }
            hash = hash.rotate_left(23) ^ word(last);
        }
        None => {
            let mut last = [0; 8];
            last[..key.len()].copy_from_slice(key);
            hash ^= word(&last);
        }
    }
    (hash ^ hash >> 32).wrapping_mul(K).rotate_left(32) as usize
}
