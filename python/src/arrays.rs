//! Columns as NumPy arrays that own our memory. NumPy is imported at the first array.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use tfrmap::{Column, Feature, Kind, Reuse, Values};

use crate::buffer::Buffer;

static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Imports NumPy, where that was not done yet.
pub fn load_numpy(py: Python<'_>) -> PyResult<()> {
    NDARRAY.import(py, "numpy", "ndarray").map(|_| ())
}

/// `numpy.ndarray(shape, dtype, buffer)`: writable, and the only owner of the memory.
fn array<'py>(py: Python<'py>, shape: &[usize], dtype: &str, buffer: Buffer) -> PyResult<Bound<'py, PyAny>> {
    NDARRAY.import(py, "numpy", "ndarray")?.call1((PyTuple::new(py, shape)?, dtype, buffer))
}

/// An array of one dimension.
pub fn vector<'py, T: Send + Sync + 'static>(
    py: Python<'py>,
    dtype: &str,
    values: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let len = values.len();
    array(py, &[len], dtype, Buffer::writable(values, |values| &mut values[..]))
}

/// An array of two dimensions.
pub fn matrix<'py, T: Send + Sync + 'static>(
    py: Python<'py>,
    dtype: &str,
    shape: [usize; 2],
    values: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    array(py, &shape, dtype, Buffer::writable(values, |values| &mut values[..]))
}

/// An array of lengths or counts, as int64.
fn lengths<'py>(py: Python<'py>, lengths: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    vector(py, "int64", lengths.iter().map(|&length| length as i64).collect::<Vec<_>>())
}

/// An array of `bytes` objects.
fn strings<'py, 'a>(
    py: Python<'py>,
    shape: &[usize],
    values: impl Iterator<Item = &'a [u8]>,
) -> PyResult<Bound<'py, PyAny>> {
    static OBJECTS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let values: Vec<_> = values.map(|value| PyBytes::new(py, value)).collect();
    let list = PyList::new(py, values)?;
    OBJECTS.import(py, "tfrmap._batch", "objects")?.call1((list, PyTuple::new(py, shape)?))
}

/// Values that go back to the pipeline when Python has no view of them any more.
struct Lent<T>
where
    Values: From<tfrmap::Buffer<T>>,
{
    values: Option<tfrmap::Buffer<T>>,
    reuse: Option<Reuse>,
}

impl<T> Drop for Lent<T>
where
    Values: From<tfrmap::Buffer<T>>,
{
    fn drop(&mut self) {
        if let (Some(values), Some(reuse)) = (self.values.take(), &self.reuse) {
            reuse.give_back(values.into());
        }
    }
}

/// The values of a column in a shape.
fn values<'py>(
    py: Python<'py>,
    shape: &[usize],
    values: Values,
    reuse: Option<&Reuse>,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = values.dtype().name();
    macro_rules! lend {
        ($values:expr) => {{
            let lent = Lent { values: Some($values), reuse: reuse.cloned() };
            let buffer = Buffer::writable(lent, |lent| lent.values.as_deref_mut().unwrap_or_default());
            array(py, shape, dtype, buffer)
        }};
    }
    match values {
        Values::UInt8(values) => lend!(values),
        Values::Int8(values) => lend!(values),
        Values::UInt16(values) => lend!(values),
        Values::Int16(values) => lend!(values),
        Values::Int32(values) => lend!(values),
        Values::Int64(values) => lend!(values),
        Values::Float16(values) => lend!(values),
        Values::Float32(values) => lend!(values),
        Values::Float64(values) => lend!(values),
        Values::Bool(values) => lend!(values),
        Values::Complex64(values) => lend!(values),
        Values::Complex128(values) => lend!(values),
        Values::Bytes(values) => strings(py, shape, values.iter()),
        _ => Err(PyTypeError::new_err(format!("columns of {dtype} have no NumPy array"))),
    }
}

/// A column as `(array, lengths)`: an ndarray, or `tfrmap.Ragged` for rows of any length; for a padded column also the number
/// of elements of each row, else `None`.
pub fn column<'py>(
    py: Python<'py>,
    column: Column,
    reuse: Option<&Reuse>,
) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
    static RAGGED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    match column {
        Column::Dense(dense) => {
            let padded = dense.lengths.map(|rows| lengths(py, &rows)).transpose()?;
            Ok((values(py, &dense.shape, dense.values, reuse)?, padded))
        }
        Column::Ragged(ragged) => {
            let class = RAGGED.import(py, "tfrmap._batch", "Ragged")?;
            let size = ragged.element.iter().product::<usize>().max(1);
            let mut shape = vec![ragged.values.len() / size];
            shape.extend_from_slice(&ragged.element);
            let mut array = values(py, &shape, ragged.values, reuse)?;
            if let Some(steps) = &ragged.step_lengths {
                array = class.call1((array, lengths(py, steps)?))?;
            }
            Ok((class.call1((array, lengths(py, &ragged.row_lengths)?))?, None))
        }
        _ => Err(PyTypeError::new_err("this kind of column has no NumPy array")),
    }
}

/// The values of one feature of a record: int64, float32 or an array of `bytes` objects.
pub fn feature<'py>(py: Python<'py>, feature: &Feature<'_>) -> PyResult<Bound<'py, PyAny>> {
    match feature.kind() {
        Kind::Int64 => vector(py, "int64", feature.int64s().collect()),
        Kind::Float => vector(py, "float32", feature.floats().collect()),
        _ => strings(py, &[feature.len()], feature.bytes()),
    }
}

/// A key of a feature: text, or `bytes` where it is not UTF-8.
pub fn key<'py>(py: Python<'py>, key: &[u8]) -> Bound<'py, PyAny> {
    match std::str::from_utf8(key) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, key).into_any(),
    }
}
