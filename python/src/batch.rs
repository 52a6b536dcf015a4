//! A batch as Python gets it: `tfrmap.Batch`, a dict of arrays.

use std::ptr;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use tfrmap::Column;

use crate::arrays;
use crate::error::OrRaise;

/// Hands over the columns without a copy.
pub fn to_python(py: Python<'_>, mut batch: tfrmap::Batch) -> PyResult<Bound<'_, PyAny>> {
    static BATCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let fields = PyDict::new(py);
    let rows = batch.len();
    fields.set_item("indices", arrays::vector(py, "uint64", batch.indices().to_vec())?)?;
    let sources = batch.sources().flat_map(|source| [source.shard as i64, source.record as i64]).collect();
    fields.set_item("sources", arrays::matrix(py, "int64", [rows, 2], sources)?)?;
    fields.set_item("valid", arrays::vector(py, "bool", batch.valid().to_vec())?)?;
    fields.set_item("epoch", batch.epoch())?;
    let keys: Vec<Vec<u8>> = batch.columns().map(|(key, _)| key.to_vec()).collect();
    let key_of = |is: &dyn Fn(&Column) -> bool| {
        batch.columns().find(|(_, column)| is(column)).map(|(key, _)| arrays::key(py, key))
    };
    if let Ok(images) = batch.images() {
        let is = |column: &Column| column.shape().is_some_and(|shape| ptr::eq(shape, images.shape()));
        fields.set_item("image_key", key_of(&is))?;
    }
    if let Ok(labels) = batch.labels() {
        let is = |column: &Column| column.get::<i64>().is_ok_and(|values| ptr::eq(&values[..], labels));
        fields.set_item("label_key", key_of(&is))?;
    }
    let (columns, lengths) = (PyDict::new(py), PyDict::new(py));
    for key in keys {
        let reuse = batch.reuse(&key);
        let column = batch.take_column(&key).or_raise(py)?;
        let name = arrays::key(py, &key);
        let (array, row_lengths) = arrays::column(py, column, reuse.as_ref())?;
        if let Some(row_lengths) = row_lengths {
            lengths.set_item(&name, row_lengths)?;
        }
        columns.set_item(name, array)?;
    }
    fields.set_item("lengths", lengths)?;
    BATCH.import(py, "tfrmap._batch", "Batch")?.call((columns,), Some(&fields))
}
