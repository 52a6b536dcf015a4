//! tfrmap: memory-mapped, indexed, random-access reading of standard TFRecord files.

mod batch;
mod crc;
mod dataset;
mod error;
mod example;
mod file;
mod frame;
pub mod image;
mod index;
mod order;
mod record;
mod sniff;

pub use batch::{
    Batch, Batches, Buffer, ByteStrings, Column, Dense, Element, F16, Images, Mapped, OnError, Ragged,
    Remainder, Source, State, Stats, Tensor, Values,
};
pub use dataset::{Dataset, DatasetWriter};
pub use error::{Error, ErrorKind, FramePart, Result};
pub use example::{
    BytesIter, DType, DefaultValue, Example, ExampleBuilder, ExampleIter, Feature, FeatureList, FeatureSpec,
    FeatureValue, Features, FloatIter, Int64Iter, KeyProfile, Kind, ListProfile, MinMax, PayloadKind,
    Profile, SequenceExample, SequenceExampleBuilder, proto,
};
pub use file::Access;
pub use index::{BuildEvent, BuildReport, BuildStatus, Index, IndexBuilder, IndexState, Span};
pub use order::{ORDER_VERSION, Order};
pub use record::{
    FileVerifier, MissingIndex, OpenOptions, Record, RecordReader, RecordWriter, Salvage, Salvaged, Store,
    Verify, VerifyEvent, VerifySummary,
};
