//! Entries of a map whose keys may repeat: of equal keys, the last.

use std::collections::HashMap;

use crate::example::found::entry_key;
use crate::example::keys::hash;
use crate::example::walk::Entries;
use crate::example::wire::Cursor;

/// The table's slots, and how many entries it takes: half as many.
const SLOTS: usize = 512;
const ENTRIES: usize = SLOTS / 2;

/// Entries without those that a later equal key supersedes.
#[derive(Clone)]
pub(crate) struct UniqueEntries<'a> {
    entries: Entries<'a>,
    /// The place of the last entry of each key; `None` where all keys are known to differ.
    last: Option<HashMap<&'a [u8], usize>>,
}

impl<'a> UniqueEntries<'a> {
    pub(crate) fn new(entries: Entries<'a>) -> UniqueEntries<'a> {
        let last = (!all_differ(entries.clone())).then(|| {
            let place = |entry: Cursor<'a>| entry_key(entry).ok().map(|key| (key, entry.pos()));
            entries.clone().filter_map(place).collect()
        });
        UniqueEntries { entries, last }
    }
}

impl<'a> Iterator for UniqueEntries<'a> {
    type Item = Cursor<'a>;

    fn next(&mut self) -> Option<Cursor<'a>> {
        let Some(last) = &self.last else { return self.entries.next() };
        self.entries.find(|entry| {
            let place = entry_key(*entry).ok().and_then(|key| last.get(key));
            place == Some(&entry.pos())
        })
    }
}

/// True where all keys differ, without allocation; false also where there are too many to tell.
fn all_differ(entries: Entries<'_>) -> bool {
    let few = entries.clone().take(9).count();
    if few <= 8 {
        let mut keys: [&[u8]; 8] = [&[]; 8];
        for (i, entry) in entries.enumerate() {
            let Ok(key) = entry_key(entry) else { return false };
            if keys[..i].contains(&key) {
                return false;
            }
            keys[i] = key;
        }
        return true;
    }
    let mut table: [Option<&[u8]>; SLOTS] = [None; SLOTS];
    for (i, entry) in entries.enumerate() {
        let Ok(key) = entry_key(entry) else { return false };
        if i == ENTRIES {
            return false;
        }
        let mut slot = hash(key) % SLOTS;
        while let Some(other) = table[slot] {
            if other == key {
                return false;
            }
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = Some(key);
    }
    true
}
