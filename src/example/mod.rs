//! Records as `tf.train.Example`: borrowed views for reading, owned messages for writing, and [`Features`], which says
//! what of a record becomes a column.

mod builder;
mod dtype;
mod feature;
mod features;
mod found;
mod infer;
mod json;
mod keys;
mod kind;
mod plain;
pub(crate) mod plan;
mod print;
mod profile;
pub mod proto;
pub(crate) mod row;
mod runs;
mod sequence;
mod unique;
mod view;
mod walk;
mod wire;

pub use builder::{ExampleBuilder, SequenceExampleBuilder};
pub use dtype::DType;
pub use feature::{BytesIter, Feature, FloatIter, Int64Iter};
pub use features::{DefaultValue, FeatureSpec, FeatureValue, Features};
pub use kind::Kind;
pub use profile::{KeyProfile, ListProfile, MinMax, PayloadKind, Profile};
pub use sequence::{FeatureList, SequenceExample};
pub use view::{Example, ExampleIter};
