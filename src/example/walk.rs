//! The one walk over a payload: every byte is checked, every feature is shown to a visitor.

use crate::example::found::{self, Found, IN_ENTRY, IN_MAP, IN_ROOT};
use crate::example::wire::{Cursor, Parse, length_tag};

const ONE: u32 = length_tag(1);
const TWO: u32 = length_tag(2);

/// Where the steps of a feature list are: the map entry that holds them, and their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundList {
    pub steps: usize,
    entry: (usize, usize),
}

/// What a walk shows its entries. Keys may come more than once: the last one counts.
pub(crate) trait Visitor<'a> {
    /// Whether field 2 of the payload is read, as the feature lists of a `SequenceExample`; it is skipped otherwise.
    const LISTS: bool;

    /// An entry of `Example.features` or `SequenceExample.context`, which it has to check.
    fn entry(&mut self, entry: Cursor<'a>) -> Parse<()>;

    /// A list of `SequenceExample.feature_lists`.
    fn list(&mut self, _key: &'a [u8], _list: FoundList) {}

    /// Field 2 was met and not read: the payload is (also) a `SequenceExample`.
    fn lists_skipped(&mut self) {}
}

/// Walks an `Example`, or a `SequenceExample`: both keep their features in field 1. A field of another wire type
/// than its own is skipped here, as TensorFlow does; deeper it is malformed.
pub(crate) fn walk<'a, V: Visitor<'a>>(payload: &'a [u8], visitor: &mut V) -> Parse<()> {
    let mut root = Cursor::new(payload);
    while !root.at_end() {
        match root.tag()? {
            ONE => {
                let mut map = root.sub()?;
                while let Some(entry) = next_entry(&mut map)? {
                    visitor.entry(entry)?;
                }
            }
            TWO if V::LISTS => {
                let mut map = root.sub()?;
                while let Some(entry) = next_entry(&mut map)? {
                    let (key, list) = list_entry(entry)?;
                    visitor.list(key, list);
                }
            }
            tag => {
                if tag == TWO {
                    visitor.lists_skipped();
                }
                root.skip(tag, IN_ROOT)?;
            }
        }
    }
    Ok(())
}

/// The next entry of a map field, which is field 1 of both `Features` and `FeatureLists`.
#[inline(always)]
pub(crate) fn next_entry<'a>(map: &mut Cursor<'a>) -> Parse<Option<Cursor<'a>>> {
    match map.plain_sub() {
        Some(entry) => Ok(Some(entry)),
        None => any_entry(map),
    }
}

#[cold]
fn any_entry<'a>(map: &mut Cursor<'a>) -> Parse<Option<Cursor<'a>>> {
    while !map.at_end() {
        match map.tag()? {
            ONE => return map.sub().map(Some),
            tag if tag >> 3 == 1 => return map.wrong_wire(),
            tag => map.skip(tag, IN_MAP)?,
        }
    }
    Ok(None)
}

/// A map entry of `FeatureLists`: key and steps. Lists of one entry are merged, so their steps follow each other.
fn list_entry<'a>(mut entry: Cursor<'a>) -> Parse<(&'a [u8], FoundList)> {
    let mut key: &[u8] = &[];
    let mut found = FoundList { steps: 0, entry: (entry.pos(), entry.end()) };
    while !entry.at_end() {
        match entry.tag()? {
            ONE => key = entry.sub()?.rest(),
            TWO => {
                let mut list = entry.sub()?;
                while let Some(step) = next_step(&mut list)? {
                    found::feature(step)?;
                    found.steps += 1;
                }
            }
            tag if tag >> 3 <= 2 => return entry.wrong_wire(),
            tag => entry.skip(tag, IN_ENTRY)?,
        }
    }
    Ok((key, found))
}

#[inline]
fn next_step<'a>(list: &mut Cursor<'a>) -> Parse<Option<Cursor<'a>>> {
    while !list.at_end() {
        match list.tag()? {
            ONE => return list.sub().map(Some),
            tag if tag >> 3 == 1 => return list.wrong_wire(),
            tag => list.skip(tag, IN_ENTRY - 1)?,
        }
    }
    Ok(None)
}

/// Goes through the steps of a list that a walk has found, and so checked.
#[derive(Clone, Debug)]
pub(crate) struct Steps<'a> {
    entry: Cursor<'a>,
    list: Option<Cursor<'a>>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(list: &FoundList, payload: &'a [u8]) -> Steps<'a> {
        Steps { entry: Cursor::part(payload, list.entry.0, list.entry.1), list: None }
    }

    fn advance(&mut self) -> Parse<Option<Found>> {
        loop {
            if let Some(list) = &mut self.list
                && let Some(step) = next_step(list)?
            {
                return found::feature(step).map(Some);
            }
            if self.entry.at_end() {
                return Ok(None);
            }
            match self.entry.tag()? {
                TWO => self.list = Some(self.entry.sub()?),
                tag => self.entry.skip(tag, IN_ENTRY)?,
            }
        }
    }
}

impl Iterator for Steps<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        self.advance().ok().flatten()
    }
}

/// Goes through the entries of field `tag` of a payload that was walked before, without looking into them.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a> {
    tag: u32,
    root: Cursor<'a>,
    map: Cursor<'a>,
}

impl<'a> Entries<'a> {
    /// The entries of `Example.features` or `SequenceExample.context`.
    #[inline]
    pub(crate) fn features(payload: &'a [u8]) -> Entries<'a> {
        Entries { tag: ONE, root: Cursor::new(payload), map: Cursor::new(&[]) }
    }

    /// The entries of `SequenceExample.feature_lists`.
    pub(crate) fn lists(payload: &'a [u8]) -> Entries<'a> {
        Entries { tag: TWO, root: Cursor::new(payload), map: Cursor::new(&[]) }
    }

    #[cold]
    fn advance(&mut self) -> Parse<Option<Cursor<'a>>> {
        loop {
            if let Some(entry) = next_entry(&mut self.map)? {
                return Ok(Some(entry));
            }
            if self.root.at_end() {
                return Ok(None);
            }
            match self.root.tag()? {
                tag if tag == self.tag => self.map = self.root.sub()?,
                tag => self.root.skip(tag, IN_ROOT)?,
            }
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Cursor<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Cursor<'a>> {
        match self.map.plain_sub() {
            Some(entry) => Some(entry),
            None => self.advance().ok().flatten(),
        }
    }
}

/// A list entry that was checked before.
pub(crate) fn found_list<'a>(entry: Cursor<'a>) -> Option<(&'a [u8], FoundList)> {
    list_entry(entry).ok()
}
