//! The values of a feature, run by run.

use crate::example::found::{Found, IN_ENTRY, IN_FEATURE, IN_LIST};
use crate::example::wire::{Cursor, Parse, fixed32_tag, length_tag, varint_tag};

/// A value, or several packed ones.
pub(crate) enum Run<'a> {
    /// A byte string, or a packed list.
    Length(Cursor<'a>),
    /// An unpacked integer.
    Varint(u64),
    /// An unpacked float.
    Fixed32([u8; 4]),
}

/// Goes through the runs of values in a feature's lists, wherever they are in its entry. What is malformed was refused
/// before, so an error is only an end.
#[derive(Clone, Debug)]
pub(crate) struct Runs<'a> {
    payload: &'a [u8],
    /// The start of the run that is next, if it is known; it ends where the entry does. 0 if not.
    run: usize,
    /// Within the list as long as that lasts, then within the feature, then within the entry.
    pos: usize,
    list_end: usize,
    feature_end: usize,
    entry_end: usize,
    list_tag: u32,
}

impl<'a> Runs<'a> {
    #[inline]
    pub(crate) fn new(found: &Found, payload: &'a [u8]) -> Runs<'a> {
        Runs {
            payload,
            run: found.run,
            pos: if found.count > 0 { found.list.0 } else { found.entry_end },
            list_end: found.list.1,
            feature_end: found.feature_end,
            entry_end: found.entry_end,
            list_tag: found.kind.list_tag(),
        }
    }

    fn later(&mut self) -> Parse<Option<Run<'a>>> {
        const LENGTH: u32 = length_tag(1);
        const VARINT: u32 = varint_tag(1);
        const FIXED32: u32 = fixed32_tag(1);
        const FEATURE: u32 = length_tag(2);
        loop {
            if self.pos < self.list_end {
                let mut list = Cursor::part(self.payload, self.pos, self.list_end);
                let run = match list.tag()? {
                    LENGTH => Some(Run::Length(list.sub()?)),
                    VARINT => Some(Run::Varint(list.varint()?)),
                    FIXED32 => Some(Run::Fixed32(list.fixed32()?)),
                    tag => {
                        list.skip(tag, IN_LIST)?;
                        None
                    }
                };
                self.pos = list.pos();
                if run.is_some() {
                    return Ok(run);
                }
            } else if self.pos < self.feature_end {
                let mut feature = Cursor::part(self.payload, self.pos, self.feature_end);
                let tag = feature.tag()?;
                if tag == self.list_tag {
                    let list = feature.sub()?;
                    (self.pos, self.list_end) = (list.pos(), list.end());
                } else {
                    feature.skip(tag, IN_FEATURE)?;
                    self.pos = feature.pos();
                }
            } else if self.pos < self.entry_end {
                let mut entry = Cursor::part(self.payload, self.pos, self.entry_end);
                match entry.tag()? {
                    FEATURE => {
                        let feature = entry.sub()?;
                        (self.pos, self.feature_end) = (feature.pos(), feature.end());
                    }
                    tag => {
                        entry.skip(tag, IN_ENTRY)?;
                        self.pos = entry.pos();
                    }
                }
            } else {
                return Ok(None);
            }
        }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    #[inline]
    fn next(&mut self) -> Option<Run<'a>> {
        if self.run > 0 {
            let run = Cursor::part(self.payload, self.run, self.entry_end);
            self.run = 0;
            return Some(Run::Length(run));
        }
        if self.pos >= self.entry_end {
            return None;
        }
        self.later().ok().flatten()
    }
}
