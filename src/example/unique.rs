//! Entries of a map whose keys may repeat: of equal keys, the last.

use std::collections::HashMap;

use crate::example::found::entry_key;
use crate::example::keys::hash;
use crate::example::walk::Entries;
use crate::example::wire::Cursor;

/// How many keys are told apart without allocation.
const ENTRIES: usize = 256;

/// Entries without those that a later equal key supersedes.
#[derive(Clone)]
pub(crate) struct UniqueEntries<'a> {
    entries: Entries<'a>,
    /// The place of the last entry of each key; `None` where all keys are known to differ.
    last: Option<HashMap<&'a [u8], usize>>,
}

impl<'a> UniqueEntries<'a> {
    pub(crate) fn new(entries: Entries<'a>) -> UniqueEntries<'a> {
        let last = (!all_differ(entries.clone()))
            .then(|| entries.clone().map(|entry| (entry_key(entry), entry.pos())).collect());
        UniqueEntries { entries, last }
    }
}

impl<'a> Iterator for UniqueEntries<'a> {
    type Item = Cursor<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Cursor<'a>> {
        let Some(last) = &self.last else { return self.entries.next() };
        self.entries.find(|entry| last.get(entry_key(*entry)) == Some(&entry.pos()))
    }
}

/// True where all keys are known to differ, told without allocation; false also where it is not known.
fn all_differ(entries: Entries<'_>) -> bool {
    match entries.clone().take(ENTRIES + 1).count() {
        0 | 1 => true,
        2..=32 => hashes_differ::<64>(entries),
        33..=ENTRIES => hashes_differ::<512>(entries),
        _ => false,
    }
}

/// True where all keys have hashes of their own, put into twice as many slots.
fn hashes_differ<const SLOTS: usize>(entries: Entries<'_>) -> bool {
    // 0 is a free slot; a key of that hash counts as known before.
    let mut slots = [0_usize; SLOTS];
    for entry in entries {
        let hash = hash(entry_key(entry));
        let mut slot = hash % SLOTS;
        while slots[slot] != 0 && slots[slot] != hash {
            slot = (slot + 1) % SLOTS;
        }
        if slots[slot] == hash {
            return false;
        }
        slots[slot] = hash;
    }
    true
}
