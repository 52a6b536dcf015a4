//! The borrowed view of a `SequenceExample`.

use std::fmt;

use crate::error::{Result, escape_key};
use crate::example::feature::Feature;
use crate::example::found::entry_key;
use crate::example::unique::UniqueEntries;
use crate::example::view::{Example, check_sequence};
use crate::example::walk::{Entries, FoundList, Steps, found_list};

/// A record read as a `tf.train.SequenceExample`: a context, which is an [`Example`], and lists of features, one a step.
///
/// A plain `Example` is a `SequenceExample` without lists.
#[derive(Clone, Copy)]
pub struct SequenceExample<'a> {
    payload: &'a [u8],
}

impl<'a> SequenceExample<'a> {
    /// Reads a payload, without allocation; checks every byte once.
    ///
    /// # Errors
    /// `MalformedProto` with the byte within the payload, for anything that is no protocol buffer anywhere in it.
    pub fn parse(payload: &'a [u8]) -> Result<SequenceExample<'a>> {
        check_sequence(payload)
            .map_err(|malformed| malformed.into_error().at_offset(malformed.offset as u64))?;
        Ok(SequenceExample { payload })
    }

    /// The features that hold for the whole sequence.
    pub fn context(&self) -> Example<'a> {
        Example::checked(self.payload)
    }

    /// The feature list of a key, or `None` where the record has none. The last of equal keys wins.
    pub fn list(&self, key: impl AsRef<[u8]>) -> Option<FeatureList<'a>> {
        let key = key.as_ref();
        let entry = Entries::lists(self.payload).filter(|entry| entry_key(*entry) == key).last()?;
        let (_, found) = found_list(entry)?;
        Some(FeatureList { payload: self.payload, found })
    }

    /// Keys and feature lists in the order of the record, each key once (of equal keys, the last).
    pub fn lists(&self) -> impl Iterator<Item = (&'a [u8], FeatureList<'a>)> + use<'a> {
        let payload = self.payload;
        UniqueEntries::new(Entries::lists(payload)).filter_map(move |entry| {
            let (key, found) = found_list(entry)?;
            Some((key, FeatureList { payload, found }))
        })
    }
}

impl fmt::Debug for SequenceExample<'_> {
    /// Keys, kinds and counts; never values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists: Vec<_> = self.lists().map(|(key, list)| (escape_key(key), list.len())).collect();
        f.debug_struct("SequenceExample").field("context", &self.context()).field("lists", &lists).finish()
    }
}

/// A list of a [`SequenceExample`]: a [`Feature`] for each step.
#[derive(Clone, Copy)]
pub struct FeatureList<'a> {
    payload: &'a [u8],
    found: FoundList,
}

impl<'a> FeatureList<'a> {
    /// The number of steps.
    pub fn len(&self) -> usize {
        self.found.steps
    }

    /// True where there is no step.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The features of the steps, in order.
    pub fn iter(&self) -> impl Iterator<Item = Feature<'a>> + use<'a> {
        let payload = self.payload;
        Steps::new(&self.found, payload).map(move |found| Feature::new(payload, found))
    }
}

impl fmt::Debug for FeatureList<'_> {
    /// The steps' kinds and counts; never values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
