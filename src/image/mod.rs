//! Pictures: decoding by content, resizing, and the conversion to what a batch holds.

pub mod jpeg;
