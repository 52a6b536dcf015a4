//! tfrmap: memory-mapped, indexed, random-access reading of standard TFRecord files.

mod crc;
mod dataset;
mod error;
mod file;
mod frame;
pub mod image;
mod index;
mod order;
mod record;
mod sniff;

pub use dataset::DatasetWriter;
pub use error::{Error, ErrorKind, FramePart, Result};
pub use file::Access;
pub use index::{BuildEvent, BuildReport, BuildStatus, Index, IndexBuilder, IndexState, Span};
pub use order::{ORDER_VERSION, Order};
pub use record::{
    FileVerifier, MissingIndex, OpenOptions, Record, RecordReader, RecordWriter, Salvage, Salvaged, Store,
    Verify, VerifyEvent, VerifySummary,
};
