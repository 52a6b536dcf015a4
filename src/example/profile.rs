//! What records hold: the statistics behind inference and `tfr-index schema`.

use std::collections::BTreeMap;

use crate::example::feature::Feature;
use crate::example::kind::Kind;
use crate::example::sequence::SequenceExample;
use crate::example::view::{Example, check};
use crate::example::wire::{Cursor, DEPTH};
use crate::image::Format;

/// What a payload is, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PayloadKind {
    /// A `tf.train.SequenceExample` with feature lists.
    SequenceExample,
    /// A `tf.train.Example`.
    Example,
    /// An event of TensorBoard.
    Event,
    /// UTF-8 text.
    Text,
    /// Something else, or nothing at all.
    Unknown,
}

impl PayloadKind {
    /// `SequenceExample`, `Example`, `Event`, `text` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            PayloadKind::SequenceExample => "SequenceExample",
            PayloadKind::Example => "Example",
            PayloadKind::Event => "Event",
            PayloadKind::Text => "text",
            PayloadKind::Unknown => "unknown",
        }
    }

    /// The kind of one payload.
    pub fn of(payload: &[u8]) -> PayloadKind {
        match Parsed::of(payload) {
            Parsed::Sequence(_) => PayloadKind::SequenceExample,
            Parsed::Example(_) => PayloadKind::Example,
            Parsed::Other(kind) => kind,
        }
    }
}

/// A payload by its kind.
enum Parsed<'a> {
    Sequence(SequenceExample<'a>),
    Example(Example<'a>),
    Other(PayloadKind),
}

impl<'a> Parsed<'a> {
    fn of(payload: &'a [u8]) -> Parsed<'a> {
        if let Ok(sequence) = SequenceExample::parse(payload)
            && sequence.lists().next().is_some()
        {
            return Parsed::Sequence(sequence);
        }
        // An empty payload says nothing; one with an empty map of features does.
        if payload.first() == Some(&0x0a) && check(payload).is_ok() {
            let example = Example::checked(payload);
            if example.is_empty() || example.iter().any(|(key, feature)| is_feature(key, &feature)) {
                return Parsed::Example(example);
            }
        }
        Parsed::Other(match payload {
            _ if is_event(payload) => PayloadKind::Event,
            _ if is_text(payload) => PayloadKind::Text,
            _ => PayloadKind::Unknown,
        })
    }
}

/// False for what only looks like a feature: other messages can be read as Examples whose keys are noise and whose
/// features are unset (`ExampleListWithContext`).
fn is_feature(key: &[u8], feature: &Feature<'_>) -> bool {
    feature.kind() != Kind::None || is_text(key)
}

/// `Event { double wall_time = 1; int64 step = 2; oneof { string, message .. } = 3.. }`, which always has its time.
fn is_event(payload: &[u8]) -> bool {
    let mut cursor = Cursor::new(payload);
    let mut time = false;
    while !cursor.at_end() {
        let Ok(tag) = cursor.tag() else { return false };
        let (field, wire) = (tag >> 3, tag & 7);
        let right = match field {
            1 => wire == 1,
            2 => wire == 0,
            3..=9 => wire == 2,
            _ => true,
        };
        if !right || cursor.skip(tag, DEPTH).is_err() {
            return false;
        }
        time |= field == 1;
    }
    time
}

fn is_text(payload: &[u8]) -> bool {
    let printable = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    !payload.is_empty() && std::str::from_utf8(payload).is_ok_and(|text| text.chars().all(printable))
}

/// Least and most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinMax {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

fn widen(range: &mut Option<MinMax>, value: u64) {
    let old = range.unwrap_or(MinMax { min: value, max: value });
    *range = Some(MinMax { min: old.min.min(value), max: old.max.max(value) });
}

/// What was seen under one key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyProfile {
    /// Records that have the key.
    pub present: u64,
    /// Records among them whose feature holds no list at all.
    pub unset: u64,
    /// Records whose feature holds byte strings.
    pub bytes: u64,
    /// Records whose feature holds floats.
    pub float: u64,
    /// Records whose feature holds integers.
    pub int64: u64,
    /// The number of values, over the features that hold a list.
    pub count: Option<MinMax>,
    /// Records whose feature is one byte string that is a picture by content, for each format.
    pub pictures: BTreeMap<&'static str, u64>,
}

impl KeyProfile {
    fn add(&mut self, feature: &Feature<'_>) {
        self.present += 1;
        match feature.kind() {
            Kind::Bytes => self.bytes += 1,
            Kind::Float => self.float += 1,
            Kind::Int64 => self.int64 += 1,
            Kind::None => {
                self.unset += 1;
                return;
            }
        }
        widen(&mut self.count, feature.len() as u64);
        let mut values = feature.bytes();
        if let (Some(value), None) = (values.next(), values.next())
            && let Some(format) = Format::of(value)
        {
            *self.pictures.entry(format.name()).or_default() += 1;
        }
    }

    /// The kinds that were seen and in how many records, the most frequent first.
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        let mut kinds = vec![(Kind::Bytes, self.bytes), (Kind::Float, self.float), (Kind::Int64, self.int64)];
        kinds.retain(|(_, records)| *records > 0);
        kinds.sort_by_key(|(_, records)| std::cmp::Reverse(*records));
        kinds
    }

    /// The kind, where it is the same in all records.
    pub fn kind(&self) -> Option<Kind> {
        match self.kinds()[..] {
            [(kind, _)] => Some(kind),
            _ => None,
        }
    }

    /// The most frequent picture format, where more than half of the features that hold a list are one picture each.
    pub fn image(&self) -> Option<&'static str> {
        let set = self.present - self.unset;
        let pictures: u64 = self.pictures.values().sum();
        let format = self.pictures.iter().max_by_key(|(_, records)| **records)?;
        (pictures * 2 > set).then_some(*format.0)
    }
}

/// What was seen under one key of the feature lists of sequences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListProfile {
    /// Records that have the key.
    pub present: u64,
    /// The number of steps.
    pub steps: Option<MinMax>,
    /// The steps' features, counted as if each were a record's.
    pub step: KeyProfile,
}

/// What was seen in records, key by key.
///
/// ```
/// use tfrmap::{ExampleBuilder, Profile};
///
/// let mut profile = Profile::new();
/// profile.add(&ExampleBuilder::new().label(3).encode());
/// assert_eq!(profile.features().to_json().to_string(), r#"{"image/class/label":{"fixed_len":{"dtype":"int64","shape":[]}}}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    records: u64,
    payloads: BTreeMap<PayloadKind, u64>,
    empty: u64,
    keys: BTreeMap<Vec<u8>, KeyProfile>,
    lists: BTreeMap<Vec<u8>, ListProfile>,
}

impl Profile {
    /// Nothing seen yet.
    pub fn new() -> Profile {
        Profile::default()
    }

    /// Looks at one more payload. Costs one pass over it.
    pub fn add(&mut self, payload: &[u8]) {
        self.records += 1;
        let (kind, example) = match Parsed::of(payload) {
            Parsed::Sequence(sequence) => {
                for (key, list) in sequence.lists() {
                    let profile = entry(&mut self.lists, key);
                    profile.present += 1;
                    widen(&mut profile.steps, list.len() as u64);
                    list.iter().for_each(|step| profile.step.add(&step));
                }
                (PayloadKind::SequenceExample, Some(sequence.context()))
            }
            Parsed::Example(example) => (PayloadKind::Example, Some(example)),
            Parsed::Other(kind) => (kind, None),
        };
        if payload.is_empty() {
            self.empty += 1;
        } else {
            *self.payloads.entry(kind).or_default() += 1;
        }
        for (key, feature) in example.iter().flat_map(Example::iter) {
            entry(&mut self.keys, key).add(&feature);
        }
    }

    /// The number of payloads seen.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The number of payloads that are Examples or SequenceExamples; an empty payload is an Example without features.
    pub fn examples(&self) -> u64 {
        self.of_kind(PayloadKind::Example) + self.of_kind(PayloadKind::SequenceExample) + self.empty
    }

    fn of_kind(&self, kind: PayloadKind) -> u64 {
        self.payloads.get(&kind).copied().unwrap_or(0)
    }

    /// The kind of most payloads; a SequenceExample without lists looks like an Example, and counts as one of its set.
    pub fn payload(&self) -> PayloadKind {
        let mut counts = self.payloads.clone();
        if let (Some(sequences), Some(examples)) =
            (self.payloads.get(&PayloadKind::SequenceExample), self.payloads.get(&PayloadKind::Example))
        {
            counts.insert(PayloadKind::SequenceExample, sequences + examples);
        }
        // Of equal counts the first kind.
        counts
            .iter()
            .rev()
            .max_by_key(|(_, records)| **records)
            .map_or(PayloadKind::Unknown, |(kind, _)| *kind)
    }

    /// Keys in ascending order, and what was seen under them.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = (&[u8], &KeyProfile)> {
        self.keys.iter().map(|(key, profile)| (key.as_slice(), profile))
    }

    /// Keys of feature lists in ascending order, and what was seen under them.
    pub fn lists(&self) -> impl ExactSizeIterator<Item = (&[u8], &ListProfile)> {
        self.lists.iter().map(|(key, profile)| (key.as_slice(), profile))
    }
}

fn entry<'m, V: Default>(map: &'m mut BTreeMap<Vec<u8>, V>, key: &[u8]) -> &'m mut V {
    if !map.contains_key(key) {
        map.insert(key.to_vec(), V::default());
    }
    map.get_mut(key).expect("the key was just inserted")
}
