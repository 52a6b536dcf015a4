//! Records: of an indexed file at random, or of a stream one after the other; and the writing of them.

mod ahead;
mod inflate;
mod options;
mod owned;
mod pool;
mod reader;
mod salvage;
mod store;
mod verify;
mod writer;

pub(crate) use ahead::Located;
pub use options::{MissingIndex, OpenOptions, Verify};
pub use owned::Record;
pub use reader::RecordReader;
pub use salvage::{Salvage, Salvaged};
pub use store::Store;
pub use verify::{FileVerifier, VerifyEvent, VerifySummary};
pub use writer::RecordWriter;
