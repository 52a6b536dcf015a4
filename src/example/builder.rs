//! Builders of records, for writing.

use std::collections::BTreeMap;

use prost::Message;

use crate::example::proto;

/// Builds a `tf.train.Example`. Keys are written in ascending order, so the same features give the same bytes.
///
/// ```
/// use tfrmap::{Example, ExampleBuilder};
///
/// let payload = ExampleBuilder::new()
///     .image(b"\xff\xd8...", "JPEG", 480, 640)
///     .label(3)
///     .text("tabby cat")
///     .floats("image/object/bbox/xmin", [0.1, 0.5])
///     .encode();
/// assert_eq!(Example::parse(&payload)?.len(), 7);
/// # Ok::<(), tfrmap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExampleBuilder {
    features: BTreeMap<Vec<u8>, proto::Feature>,
}

impl ExampleBuilder {
    /// An example without features.
    pub fn new() -> ExampleBuilder {
        ExampleBuilder::default()
    }

    /// Sets a feature, in the place of an earlier one of that key.
    pub fn feature(mut self, key: impl Into<Vec<u8>>, feature: proto::Feature) -> ExampleBuilder {
        self.features.insert(key.into(), feature);
        self
    }

    /// Sets a feature of one byte string.
    pub fn bytes(self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> ExampleBuilder {
        self.bytes_list(key, [value])
    }

    /// Sets a feature of byte strings.
    pub fn bytes_list<V: Into<Vec<u8>>>(
        self,
        key: impl Into<Vec<u8>>,
        values: impl IntoIterator<Item = V>,
    ) -> ExampleBuilder {
        self.feature(key, proto::Feature::bytes_list(values))
    }

    /// Sets a feature of one float.
    pub fn float(self, key: impl Into<Vec<u8>>, value: f32) -> ExampleBuilder {
        self.floats(key, [value])
    }

    /// Sets a feature of floats.
    pub fn floats(self, key: impl Into<Vec<u8>>, values: impl IntoIterator<Item = f32>) -> ExampleBuilder {
        self.feature(key, proto::Feature::float_list(values))
    }

    /// Sets a feature of one integer.
    pub fn int64(self, key: impl Into<Vec<u8>>, value: i64) -> ExampleBuilder {
        self.int64s(key, [value])
    }

    /// Sets a feature of integers.
    pub fn int64s(self, key: impl Into<Vec<u8>>, values: impl IntoIterator<Item = i64>) -> ExampleBuilder {
        self.feature(key, proto::Feature::int64_list(values))
    }

    /// Sets the picture under the keys of TensorFlow's slim: `image/encoded`, the bytes of the file; `image/format`,
    /// such as `JPEG` or `PNG`; `image/height` and `image/width` in pixels.
    pub fn image(self, encoded: impl Into<Vec<u8>>, format: &str, height: u32, width: u32) -> ExampleBuilder {
        self.bytes("image/encoded", encoded)
            .bytes("image/format", format)
            .int64("image/height", height.into())
            .int64("image/width", width.into())
    }

    /// Sets the number of the class: `image/class/label`.
    pub fn label(self, label: i64) -> ExampleBuilder {
        self.int64("image/class/label", label)
    }

    /// Sets the name of the class: `image/class/text`.
    pub fn text(self, text: &str) -> ExampleBuilder {
        self.bytes("image/class/text", text)
    }

    /// The message.
    pub fn build(self) -> proto::Example {
        proto::Example { features: Some(features(self.features)) }
    }

    /// The bytes of the message, to be written as a record.
    pub fn encode(self) -> Vec<u8> {
        self.build().encode_to_vec()
    }
}

fn features(features: BTreeMap<Vec<u8>, proto::Feature>) -> proto::Features {
    let entries = features.into_iter().map(|(key, value)| proto::FeatureEntry { key, value });
    proto::Features { feature: entries.collect() }
}

/// Builds a `tf.train.SequenceExample`. Keys are written in ascending order, so the same features give the same bytes.
///
/// ```
/// use tfrmap::{ExampleBuilder, SequenceExample, SequenceExampleBuilder, proto::Feature};
///
/// let payload = SequenceExampleBuilder::new()
///     .context(ExampleBuilder::new().int64("id", 5))
///     .list("words", [1, 2, 3].map(|word| Feature::int64_list([word])))
///     .encode();
/// assert_eq!(SequenceExample::parse(&payload)?.list("words").map(|list| list.len()), Some(3));
/// # Ok::<(), tfrmap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceExampleBuilder {
    context: ExampleBuilder,
    lists: BTreeMap<Vec<u8>, proto::FeatureList>,
}

impl SequenceExampleBuilder {
    /// A sequence without features.
    pub fn new() -> SequenceExampleBuilder {
        SequenceExampleBuilder::default()
    }

    /// Sets the features of the whole sequence.
    pub fn context(mut self, context: ExampleBuilder) -> SequenceExampleBuilder {
        self.context = context;
        self
    }

    /// Sets the steps of a key, in the place of earlier ones.
    pub fn list(
        mut self,
        key: impl Into<Vec<u8>>,
        steps: impl IntoIterator<Item = proto::Feature>,
    ) -> SequenceExampleBuilder {
        self.lists.insert(key.into(), proto::FeatureList { feature: steps.into_iter().collect() });
        self
    }

    /// The message.
    pub fn build(self) -> proto::SequenceExample {
        let entries = self.lists.into_iter().map(|(key, value)| proto::FeatureListEntry { key, value });
        proto::SequenceExample {
            context: Some(features(self.context.features)),
            feature_lists: Some(proto::FeatureLists { feature_list: entries.collect() }),
        }
    }

    /// The bytes of the message, to be written as a record.
    pub fn encode(self) -> Vec<u8> {
        self.build().encode_to_vec()
    }
}
