//! Random access, a true shuffle and fast batches on standard TFRecord files.
//!
//! A data file is mapped, a small index of offsets lies beside it, and any record is reached in O(1). So an epoch is a
//! permutation of the whole set, resuming is exact, and nothing has to be converted.
//!
//! # The main job
//!
//! ```
//! use tfrmap::Dataset;
//!
//! # fn main() -> tfrmap::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("train.tfrecord");
//! # let mut jpeg = Vec::new();
//! # jpeg_encoder::Encoder::new(&mut jpeg, 90).encode(&[200; 30 * 20 * 3], 30, 20, jpeg_encoder::ColorType::Rgb).unwrap();
//! # let mut writer = tfrmap::DatasetWriter::create(&path)?;
//! # for label in 0..40 {
//! #     writer.write(&tfrmap::ExampleBuilder::new().image(jpeg.as_slice(), "jpeg", 20, 30).label(label).encode())?;
//! # }
//! # writer.finish()?;
//! # let seed = 7;
//! for batch in Dataset::open(path)?.shuffled(seed).batches(10) {
//!     let batch = batch?;
//!     let images = batch.images()?; // f32 in 0..=1
//!     let labels = batch.labels()?; // i64
//!     assert_eq!(images.shape(), [10, 224, 224, 3]);
//!     assert_eq!(labels.len(), 10);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Training over epochs is `.shuffled(seed).epochs(0..90).batches(64)`: each epoch has its own order, batches never
//! straddle two epochs, and the pipeline does not drain between them.
//!
//! # What is where
//!
//! | you want to | use |
//! |---|---|
//! | open a file, a folder or a pattern; choose order, part, rank | [`Dataset`], [`OpenOptions`] |
//! | say which features to read, and as what | [`Features`], [`image::ImageSpec`] |
//! | take batches, skip bad records, save and resume | [`Batches`], [`OnError`], [`Remainder`], [`State`] |
//! | read columns of a batch without a copy | [`Batch`], [`Column`], [`Tensor`] |
//! | run your own closure on each record, in parallel | [`Dataset::map`] |
//! | write TFRecords with their index | [`DatasetWriter`], [`ExampleBuilder`] |
//! | reach single records | [`Dataset::get`], [`Store`], [`Example`], [`SequenceExample`] |
//! | stream, also from gzip and zlib | [`RecordReader`], [`RecordWriter`] |
//! | index, verify and salvage files | [`IndexBuilder`], [`FileVerifier`], [`Salvage`] |
//! | decode one picture | [`image::decode`], [`image::jpeg`] |
//!
//! The command-line tool `tfr-index` does the chores without a program.
//!
//! # The contract of the map
//!
//! **Do not modify or truncate a file in place while it is open; replace it by rename.** Files on local file systems are mapped, and
//! the operating system ends a process that touches a page that is gone. [`Access::Read`] is for those who cannot keep that: there
//! a file cut during use is an error.
//!
//! # Memory
//!
//! An index is mapped: 12 bytes a record on disk, none on the heap. An order needs 4 bytes a record below 65,536 records and
//! none above. The pipeline holds the batches in flight (see [`Batches::prefetch`]) and, for each thread, one record's bytes and a few
//! rows of pixels.
//!
//! # Limits
//!
//! - Compressed TFRecords cannot be read at random: [`RecordReader`] streams gzip and zlib, `tfr-index copy` rewrites them.
//! - An index is never rebuilt silently: data that grew or was replaced is an error that names `tfr-index build`.
//! - A record is read whole into memory before it is decoded.
//! - Only 64-bit targets can map files over 4 GiB.

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
    Remainder, Reuse, Source, State, Stats, Tensor, Values,
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

/// The snippets of the README are compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So are those of the guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct Guide;
