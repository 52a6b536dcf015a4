//! The borrowed view of an `Example`: nothing is copied, nothing is allocated.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::example::feature::Feature;
use crate::example::found::{self, entry_key};
use crate::example::unique::UniqueEntries;
use crate::example::walk::{Entries, FoundList, Visitor, walk};
use crate::example::wire::{Cursor, Parse};

/// A record read as a `tf.train.Example`, borrowed from its bytes.
///
/// [`parse`](Example::parse) checks every byte once, and allocates nothing; [`get`](Example::get) then looks a key up
/// in one pass over the entries. The rules are those of protocol buffers: lists may be packed, unpacked or mixed,
/// messages that are given twice are merged, the last of equal keys wins, unknown fields are skipped. Keys are
/// bytes and need not be UTF-8. Where a key stands differs from record to record, so nothing is remembered.
///
/// ```
/// use tfrmap::{Example, ExampleBuilder};
///
/// let payload = ExampleBuilder::new().image(b"\xff\xd8...", "JPEG", 480, 640).label(7).encode();
/// let example = Example::parse(&payload)?;
/// let label = example.get("image/class/label").and_then(|feature| feature.int64s().next());
/// assert_eq!(label, Some(7));
/// # Ok::<(), tfrmap::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Example<'a> {
    payload: &'a [u8],
}

impl<'a> Example<'a> {
    /// Reads a payload. A `SequenceExample` is read too, but only its context is seen (said once through `log`).
    ///
    /// Costs 20 to 30 ns a feature whatever the size of byte strings, and one pass over lists of integers.
    ///
    /// # Errors
    /// `MalformedProto` with the byte within the payload, for anything that is no protocol buffer anywhere in it.
    pub fn parse(payload: &'a [u8]) -> Result<Example<'a>> {
        let lists =
            check(payload).map_err(|malformed| malformed.into_error().at_offset(malformed.offset as u64))?;
        if lists {
            say_once_that_lists_are_not_seen();
        }
        Ok(Example { payload })
    }

    /// A payload that was walked before.
    pub(crate) fn checked(payload: &'a [u8]) -> Example<'a> {
        Example { payload }
    }

    /// The feature of a key, or `None` where the record has none. The last of equal keys wins.
    ///
    /// Costs one pass over the entries, some 5 ns each.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Feature<'a>> {
        let key = key.as_ref();
        let mut last = None;
        for entry in Entries::features(self.payload) {
            if entry_key(entry) == key {
                last = Some(entry);
            }
        }
        let (_, found) = found::entry(last?).ok()?;
        Some(Feature::new(self.payload, found))
    }

    /// Keys and features in the order of the record, each key once (of equal keys, the last).
    ///
    /// Allocates only for a record with equal keys or with more than 256 features.
    pub fn iter(&self) -> ExampleIter<'a> {
        ExampleIter { payload: self.payload, entries: UniqueEntries::new(Entries::features(self.payload)) }
    }

    /// The number of features, each key counted once. Costs one pass over the entries.
    pub fn len(&self) -> usize {
        UniqueEntries::new(Entries::features(self.payload)).count()
    }

    /// True where the record has no feature at all.
    pub fn is_empty(&self) -> bool {
        Entries::features(self.payload).next().is_none()
    }
}

impl std::fmt::Debug for Example<'_> {
    /// Keys, kinds and counts; never values.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let features = self.iter().map(|(key, feature)| (crate::error::escape_key(key), feature));
        f.debug_map().entries(features).finish()
    }
}

impl<'a> IntoIterator for &Example<'a> {
    type Item = (&'a [u8], Feature<'a>);
    type IntoIter = ExampleIter<'a>;

    fn into_iter(self) -> ExampleIter<'a> {
        self.iter()
    }
}

/// The features of an [`Example`].
#[derive(Clone)]
pub struct ExampleIter<'a> {
    payload: &'a [u8],
    entries: UniqueEntries<'a>,
}

impl<'a> Iterator for ExampleIter<'a> {
    type Item = (&'a [u8], Feature<'a>);

    #[inline]
    fn next(&mut self) -> Option<(&'a [u8], Feature<'a>)> {
        let (key, found) = found::entry(self.entries.next()?).ok()?;
        Some((key, Feature::new(self.payload, found)))
    }
}

/// Checks a payload, and says whether it has feature lists, which are not looked into.
pub(crate) fn check(payload: &[u8]) -> Parse<bool> {
    struct Check {
        lists: bool,
    }

    impl<'a> Visitor<'a> for Check {
        const LISTS: bool = false;

        #[inline(always)]
        fn entry(&mut self, entry: Cursor<'a>) -> Parse<()> {
            found::check_entry(entry)
        }

        fn lists_skipped(&mut self) {
            self.lists = true;
        }
    }

    let mut check = Check { lists: false };
    walk(payload, &mut check)?;
    Ok(check.lists)
}

/// Checks a payload with its feature lists.
pub(crate) fn check_sequence(payload: &[u8]) -> Parse<()> {
    struct CheckLists;

    impl<'a> Visitor<'a> for CheckLists {
        const LISTS: bool = true;

        #[inline(always)]
        fn entry(&mut self, entry: Cursor<'a>) -> Parse<()> {
            found::check_entry(entry)
        }

        fn list(&mut self, _key: &'a [u8], _list: FoundList) {}
    }

    walk(payload, &mut CheckLists)
}

pub(crate) fn say_once_that_lists_are_not_seen() {
    static SAID: AtomicBool = AtomicBool::new(false);
    // A load first: a set of sequences comes here with every record, from every thread.
    if !SAID.load(Ordering::Relaxed) && !SAID.swap(true, Ordering::Relaxed) {
        log::warn!(
            "a SequenceExample is read as an Example: its feature lists are not seen, only its context"
        );
    }
}
