//! One record.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView, PyTuple};
use tfrmap::{Example, SequenceExample};

use crate::arrays;
use crate::buffer::Buffer;
use crate::error::to_python;

/// The payload of one record and where it came from.
///
/// Behaves as read-only bytes without a copy (`memoryview(record)`, `bytes(record)`, `len(record)`) and keeps the file's bytes
/// alive by itself: it may outlive its data set.
#[pyclass(frozen, extends = Buffer, module = "tfrmap")]
pub struct Record {
    record: tfrmap::Record,
}

impl Record {
    pub fn create(py: Python<'_>, record: tfrmap::Record) -> PyResult<Bound<'_, Record>> {
        let buffer = Buffer::read_only(record.clone(), |record| record.as_bytes());
        Bound::new(py, PyClassInitializer::from(buffer).add_subclass(Record { record }))
    }
}

#[pymethods]
impl Record {
    /// The payload as a read-only memoryview, without a copy.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyMemoryView>> {
        PyMemoryView::from(slf)
    }

    /// The data file.
    #[getter]
    fn path(&self) -> &std::ffi::OsStr {
        self.record.path().as_os_str()
    }

    /// The record number within its file, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.record.index()
    }

    /// The offset in bytes within its file of the first byte of the record's frame.
    #[getter]
    fn offset(&self) -> u64 {
        self.record.offset()
    }

    /// The features of a `tf.train.Example`: a dict of one-dimensional arrays (int64, float32, or `bytes` objects).
    fn example<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let example = Example::parse(self.record.as_bytes()).map_err(|e| self.at(py, &e))?;
        features(py, &example)
    }

    /// A `tf.train.SequenceExample` as `(context, lists)`: the context as `example()` gives it, and for each feature list the
    /// arrays of its steps.
    fn sequence_example<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sequence = SequenceExample::parse(self.record.as_bytes()).map_err(|e| self.at(py, &e))?;
        let lists = PyDict::new(py);
        for (key, list) in sequence.lists() {
            let steps: Vec<_> =
                list.iter().map(|step| arrays::feature(py, &step)).collect::<PyResult<_>>()?;
            lists.set_item(arrays::key(py, key), steps)?;
        }
        (features(py, &sequence.context())?, lists).into_pyobject(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let bytes = py.import("builtins")?.getattr("bytes")?;
        (&bytes, (bytes.call1((slf,))?,)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let record = &self.record;
        format!("<Record {} of {}: {} bytes>", record.index(), record.path().display(), record.len())
    }
}

impl Record {
    /// An error about the payload, with this record as its place.
    fn at(&self, py: Python<'_>, error: &tfrmap::Error) -> PyErr {
        let raised = to_python(py, error);
        let record = &self.record;
        let (path, index, offset) = (record.path().display(), record.index(), record.offset());
        let text = format!("{path}: record {index} at byte {offset}: {}", error.reason());
        let place = || -> PyResult<()> {
            let value = raised.value(py);
            value.setattr("args", (text,))?;
            value.setattr("path", self.record.path().as_os_str())?;
            value.setattr("record", self.record.index())?;
            value.setattr("offset", self.record.offset())
        };
        place().err().unwrap_or(raised)
    }
}

fn features<'py>(py: Python<'py>, example: &Example<'_>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, feature) in example.iter() {
        dict.set_item(arrays::key(py, key), arrays::feature(py, &feature)?)?;
    }
    Ok(dict)
}
