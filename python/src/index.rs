//! Building of indexes.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tfrmap::IndexBuilder;

use crate::error::to_python;
use crate::paths::Paths;

/// Builds, extends or rebuilds the index of every data file meant by a path, folder, pattern, or list of them.
///
/// Returns a dict for each file: path, records, bytes, and status ("built", "fresh", "extended" or "rebuilt"). The other files
/// are done before the first failure is raised. `check` verifies every payload too; `force` writes every index anew.
#[pyfunction]
#[pyo3(signature = (paths, *, index_dir = None, check = false, force = false))]
pub fn index<'py>(
    py: Python<'py>,
    paths: Paths,
    index_dir: Option<PathBuf>,
    check: bool,
    force: bool,
) -> PyResult<Bound<'py, PyList>> {
    let mut builder = IndexBuilder::new().check(check).force(force);
    if let Some(folder) = index_dir {
        builder = builder.index_dir(folder);
    }
    let files = paths.files(py)?;
    let reports = py.detach(|| builder.build(&files, |_| {}));
    let list = PyList::empty(py);
    for report in &reports {
        if let Some(error) = &report.error {
            return Err(to_python(py, error));
        }
        let dict = PyDict::new(py);
        dict.set_item("path", report.path.as_os_str())?;
        dict.set_item("records", report.records)?;
        dict.set_item("bytes", report.bytes)?;
        dict.set_item("status", report.status.name())?;
        list.append(dict)?;
    }
    Ok(list)
}
