//! Frames into any `Write`.

use std::io::Write;

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::frame;

/// Writes records to any [`Write`], byte for byte as TensorFlow's own writer does.
///
/// Three small writes a record: wrap a file in a [`BufWriter`](std::io::BufWriter). For files that appear only when
/// they are whole, see [`DatasetWriter`](crate::DatasetWriter).
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    inner: W,
    offset: u64,
    records: u64,
    torn: bool,
}

impl<W: Write> RecordWriter<W> {
    /// Writes from here on.
    pub fn new(inner: W) -> RecordWriter<W> {
        RecordWriter { inner, offset: 0, records: 0, torn: false }
    }

    /// Writes one record.
    ///
    /// # Errors
    /// `Io`; after one every further write fails too, since what was written may end inside a frame.
    pub fn write(&mut self, payload: &[u8]) -> Result<()> {
        self.write_with_crc(payload, crc::masked(payload))
    }

    /// Writes one record of which the masked CRC is known.
    pub(crate) fn write_with_crc(&mut self, payload: &[u8], crc: u32) -> Result<()> {
        if self.torn {
            return Err(Error::new(ErrorKind::Io(std::io::ErrorKind::Other), "an earlier write failed"));
        }
        self.torn = true;
        let len = payload.len() as u64;
        let io = |error: std::io::Error| {
            Error::new(ErrorKind::Io(error.kind()), error.to_string()).with_source(error)
        };
        self.inner.write_all(&frame::header(len)).map_err(io)?;
        self.inner.write_all(payload).map_err(io)?;
        self.inner.write_all(&crc.to_le_bytes()).map_err(io)?;
        self.torn = false;
        self.offset += len + frame::OVERHEAD;
        self.records += 1;
        Ok(())
    }

    /// The number of bytes written so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of records written so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Flushes what is written into.
    ///
    /// # Errors
    /// `Io`.
    pub fn flush(&mut self) -> Result<()> {
        self.inner
            .flush()
            .map_err(|error| Error::new(ErrorKind::Io(error.kind()), error.to_string()).with_source(error))
    }

    /// What is written into.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Gives back what was written into, without flushing it.
    pub fn into_inner(self) -> W {
        self.inner
    }
}
