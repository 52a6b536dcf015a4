//! The owned messages: `tf.train.Example` and `tf.train.SequenceExample` as [prost](https://docs.rs/prost) types.
//!
//! They are for building, changing and writing records; for reading, the borrowed [`Example`](crate::Example) costs a
//! hundredth. On the wire they are the messages of TensorFlow's `example.proto` and `feature.proto`. A map is kept as
//! the list of its entries, which is how it is written: so keys may be any bytes, the order is yours, and the same
//! message always gives the same bytes.

use prost::{Message, Oneof};

/// A list of byte strings.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct BytesList {
    /// The values.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub value: Vec<Vec<u8>>,
}

/// A list of floats.
#[derive(Clone, PartialEq, Message)]
pub struct FloatList {
    /// The values.
    #[prost(float, repeated, tag = "1")]
    pub value: Vec<f32>,
}

/// A list of integers.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Int64List {
    /// The values.
    #[prost(int64, repeated, tag = "1")]
    pub value: Vec<i64>,
}

/// The values of a feature, of one kind.
#[derive(Clone, PartialEq, Oneof)]
pub enum Kind {
    /// Byte strings.
    #[prost(message, tag = "1")]
    BytesList(BytesList),
    /// Floats.
    #[prost(message, tag = "2")]
    FloatList(FloatList),
    /// Integers.
    #[prost(message, tag = "3")]
    Int64List(Int64List),
}

/// A feature: a list of values, or nothing at all.
#[derive(Clone, PartialEq, Message)]
pub struct Feature {
    /// The values.
    #[prost(oneof = "Kind", tags = "1, 2, 3")]
    pub kind: Option<Kind>,
}

impl Feature {
    /// A feature of byte strings.
    pub fn bytes_list<V: Into<Vec<u8>>>(values: impl IntoIterator<Item = V>) -> Feature {
        let value = values.into_iter().map(Into::into).collect();
        Feature { kind: Some(Kind::BytesList(BytesList { value })) }
    }

    /// A feature of floats.
    pub fn float_list(values: impl IntoIterator<Item = f32>) -> Feature {
        Feature { kind: Some(Kind::FloatList(FloatList { value: values.into_iter().collect() })) }
    }

    /// A feature of integers.
    pub fn int64_list(values: impl IntoIterator<Item = i64>) -> Feature {
        Feature { kind: Some(Kind::Int64List(Int64List { value: values.into_iter().collect() })) }
    }
}

/// One entry of [`Features`]. Both fields are always written, as TensorFlow's parser wants them.
#[derive(Clone, PartialEq, Message)]
pub struct FeatureEntry {
    /// The key.
    #[prost(bytes = "vec", required, tag = "1")]
    pub key: Vec<u8>,
    /// The feature.
    #[prost(message, required, tag = "2")]
    pub value: Feature,
}

/// A map from keys to features.
#[derive(Clone, PartialEq, Message)]
pub struct Features {
    /// The entries; of equal keys the last one counts.
    #[prost(message, repeated, tag = "1")]
    pub feature: Vec<FeatureEntry>,
}

impl Features {
    /// The feature of a key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&Feature> {
        let is_key = |entry: &&FeatureEntry| entry.key == key.as_ref();
        self.feature.iter().rev().find(is_key).map(|entry| &entry.value)
    }

    /// Sets the feature of a key, in the place of an earlier one.
    pub fn insert(&mut self, key: impl Into<Vec<u8>>, value: Feature) {
        let key = key.into();
        match self.feature.iter_mut().rev().find(|entry| entry.key == key) {
            Some(entry) => entry.value = value,
            None => self.feature.push(FeatureEntry { key, value }),
        }
    }
}

/// A record: a map from keys to features.
#[derive(Clone, PartialEq, Message)]
pub struct Example {
    /// The features.
    #[prost(message, optional, tag = "1")]
    pub features: Option<Features>,
}

/// A list of features: one a step.
#[derive(Clone, PartialEq, Message)]
pub struct FeatureList {
    /// The steps.
    #[prost(message, repeated, tag = "1")]
    pub feature: Vec<Feature>,
}

/// One entry of [`FeatureLists`].
#[derive(Clone, PartialEq, Message)]
pub struct FeatureListEntry {
    /// The key.
    #[prost(bytes = "vec", required, tag = "1")]
    pub key: Vec<u8>,
    /// The steps.
    #[prost(message, required, tag = "2")]
    pub value: FeatureList,
}

/// A map from keys to feature lists.
#[derive(Clone, PartialEq, Message)]
pub struct FeatureLists {
    /// The entries; of equal keys the last one counts.
    #[prost(message, repeated, tag = "1")]
    pub feature_list: Vec<FeatureListEntry>,
}

impl FeatureLists {
    /// The steps of a key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&FeatureList> {
        let is_key = |entry: &&FeatureListEntry| entry.key == key.as_ref();
        self.feature_list.iter().rev().find(is_key).map(|entry| &entry.value)
    }
}

/// A record of a sequence: features of the whole, and lists of features, one a step.
#[derive(Clone, PartialEq, Message)]
pub struct SequenceExample {
    /// The features of the whole sequence.
    #[prost(message, optional, tag = "1")]
    pub context: Option<Features>,
    /// The features of the steps.
    #[prost(message, optional, tag = "2")]
    pub feature_lists: Option<FeatureLists>,
}
