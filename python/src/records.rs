//! The iteration over records.

use pyo3::prelude::*;

use crate::dataset::Dataset;
use crate::error::OrRaise;
use crate::record::Record;

/// An iterator of the records of a data set, in the order of its first epoch.
#[pyclass(module = "tfrmap._native")]
pub struct Records {
    dataset: Py<Dataset>,
    next: u64,
}

impl Records {
    pub fn new(dataset: Py<Dataset>) -> Records {
        Records { dataset, next: 0 }
    }
}

#[pymethods]
impl Records {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, Record>>> {
        let dataset = self.dataset.get().here(py)?;
        if self.next >= dataset.len() {
            return Ok(None);
        }
        let record = py.detach(|| dataset.get(self.next)).or_raise(py)?;
        self.next += 1;
        Record::create(py, record).map(Some)
    }
}
