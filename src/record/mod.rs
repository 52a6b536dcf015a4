//! Records: of an indexed file at random, or of a stream one after the other; and the writing of them.

mod inflate;
mod options;
mod pool;
mod reader;
mod record;
mod store;
mod writer;

pub use options::{MissingIndex, OpenOptions, Verify};
pub use reader::RecordReader;
pub use record::Record;
pub use store::Store;
pub use writer::RecordWriter;
