//! Writing of data files.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyBytes, PyDict};
use tfrmap::{DatasetWriter, ExampleBuilder, proto};

use crate::error::OrRaise;

/// Writes a data file, or a set of shards, that appears under its name, with its index, when it is closed without an error.
///
/// `with Writer("train.tfrecord") as w: w.write({"image/encoded": jpeg, "image/class/label": 7})`.
/// With `shards=4` the path is a prefix: `PREFIX-00000-of-00004` and so on, records going to them in turn.
#[pyclass(frozen, module = "tfrmap")]
pub struct Writer {
    path: PathBuf,
    state: Mutex<State>,
}

enum State {
    Open(DatasetWriter),
    /// The files, and the number of records in them.
    Finished(Vec<PathBuf>, u64),
    Abandoned,
}

#[pymethods]
impl Writer {
    #[new]
    #[pyo3(signature = (path, *, shards = None, overwrite = false, append = false, index = true))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        shards: Option<usize>,
        overwrite: bool,
        append: bool,
        index: bool,
    ) -> PyResult<Writer> {
        let made = py.detach(|| match (shards, overwrite, append) {
            (None, false, true) => Ok(DatasetWriter::append(&path)),
            (_, _, true) => Err("append takes neither shards nor overwrite"),
            (None, false, _) => Ok(DatasetWriter::create(&path)),
            (None, true, _) => Ok(DatasetWriter::overwrite(&path)),
            (Some(n), false, _) => Ok(DatasetWriter::create_sharded(&path, n)),
            (Some(n), true, _) => Ok(DatasetWriter::overwrite_sharded(&path, n)),
        });
        let writer = made.map_err(PyValueError::new_err)?.or_raise(py)?.index(index);
        Ok(Writer { path, state: Mutex::new(State::Open(writer)) })
    }

    /// Writes one record: a dict of features as a `tf.train.Example`, or bytes as they are.
    ///
    /// Values of features: bytes, str, int, float, bool, NumPy arrays and scalars, and lists of them.
    fn write(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(bytes) = record.cast::<PyBytes>() {
            return self.write_payload(py, bytes.as_bytes());
        }
        let payload = match record.cast::<PyDict>() {
            Ok(features) => encode(py, features)?,
            Err(_) => match PyBuffer::<u8>::get(record) {
                Ok(bytes) => bytes.to_vec(py)?,
                Err(_) => {
                    let name = record.get_type().name()?;
                    return Err(PyTypeError::new_err(format!(
                        "a record is a dict of features, or bytes; not a {name}"
                    )));
                }
            },
        };
        self.write_payload(py, &payload)
    }

    /// Puts the files in place and writes their indexes; returns the paths. Nothing happens the second time.
    fn close(&self, py: Python<'_>) -> PyResult<Vec<OsString>> {
        let mut state = self.state.lock_py_attached(py).map_err(poisoned)?;
        let (paths, records) = match std::mem::replace(&mut *state, State::Abandoned) {
            State::Open(writer) => {
                let records = writer.records();
                let dataset = py.detach(|| writer.finish()).or_raise(py)?;
                (dataset.shards().map(PathBuf::from).collect(), records)
            }
            State::Finished(paths, records) => (paths, records),
            State::Abandoned => return Err(closed()),
        };
        let names = paths.iter().map(|path| path.clone().into_os_string()).collect();
        *state = State::Finished(paths, records);
        Ok(names)
    }

    /// The number of records in the data set so far.
    #[getter]
    fn records(&self, py: Python<'_>) -> PyResult<u64> {
        match &*self.state.lock_py_attached(py).map_err(poisoned)? {
            State::Open(writer) => Ok(writer.records()),
            State::Finished(_, records) => Ok(*records),
            State::Abandoned => Err(closed()),
        }
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (exc_type, exc_value, traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: Option<Bound<'_, PyAny>>,
        exc_value: Option<Bound<'_, PyAny>>,
        traceback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (exc_value, traceback);
        if exc_type.is_none() {
            return self.close(py).map(|_| ());
        }
        // Leaves nothing under the final names.
        *self.state.lock_py_attached(py).map_err(poisoned)? = State::Abandoned;
        Ok(())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state = match &*self.state.lock_py_attached(py).map_err(poisoned)? {
            State::Open(writer) => format!("{} records so far", writer.records()),
            State::Finished(paths, _) => format!("finished, {} files", paths.len()),
            State::Abandoned => "abandoned".to_string(),
        };
        Ok(format!("<Writer of {}: {state}>", self.path.display()))
    }
}

impl Writer {
    fn write_payload(&self, py: Python<'_>, payload: &[u8]) -> PyResult<()> {
        match &mut *self.state.lock_py_attached(py).map_err(poisoned)? {
            State::Open(writer) => py.detach(|| writer.write(payload)).or_raise(py),
            _ => Err(closed()),
        }
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the writer is closed")
}

fn poisoned<T>(_: T) -> PyErr {
    PyValueError::new_err("the writer failed earlier")
}

/// An Example of a dict; `tfrmap._values.feature` says what each value is.
fn encode(py: Python<'_>, features: &Bound<'_, PyDict>) -> PyResult<Vec<u8>> {
    static FEATURE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let feature = FEATURE.import(py, "tfrmap._values", "feature")?;
    let mut example = ExampleBuilder::new();
    for (key, value) in features {
        let key: Vec<u8> = match key.cast::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes().to_vec(),
            Err(_) => {
                let wrong = |_| PyTypeError::new_err(format!("a key of a feature is text, not {key}"));
                key.extract::<String>().map_err(wrong)?.into_bytes()
            }
        };
        let (kind, values): (String, Bound<'_, PyAny>) =
            feature.call1((PyBytes::new(py, &key), value))?.extract()?;
        example = match kind.as_str() {
            "int64" => example.int64s(key, values.extract::<Vec<i64>>()?),
            "float" => example.floats(key, values.extract::<Vec<f32>>()?),
            "none" => example.feature(key, proto::Feature::default()),
            _ => {
                let values: Vec<Bound<'_, PyBytes>> = values.extract()?;
                example.bytes_list(key, values.iter().map(|value| value.as_bytes()))
            }
        };
    }
    Ok(example.encode())
}
