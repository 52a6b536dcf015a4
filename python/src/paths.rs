//! One path or several, as an argument.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyTuple};
use tfrmap::OpenOptions;

use crate::error::OrRaise;

/// A path, or any iterable of paths.
pub struct Paths(pub Vec<PathBuf>);

impl<'a, 'py> FromPyObject<'a, 'py> for Paths {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Paths> {
        let paths = Paths::given(object)?;
        refuse_urls(&paths.0)?;
        Ok(paths)
    }
}

impl Paths {
    fn given(object: Borrowed<'_, '_, PyAny>) -> PyResult<Paths> {
        if let Ok(path) = object.extract::<PathBuf>() {
            return Ok(Paths(vec![path]));
        }
        if object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
            return Err(PyTypeError::new_err("a set of paths has no order: give a list"));
        }
        let wrong = |_| PyTypeError::new_err("expected a path (str or os.PathLike) or a list of paths");
        let paths = object.try_iter().map_err(wrong)?;
        paths.map(|path| path?.extract().map_err(wrong)).collect::<PyResult<_>>().map(Paths)
    }
}

/// Refuses what is a place elsewhere.
fn refuse_urls(paths: &[PathBuf]) -> PyResult<()> {
    let is_url = |path: &&PathBuf| path.to_str().is_some_and(|path| path.contains("://")) && !path.exists();
    match paths.iter().find(is_url) {
        Some(url) => Err(PyValueError::new_err(format!(
            "{}: URLs are not read; mount the bucket (gcsfuse, mount-s3), or copy the files to a disk",
            url.display()
        ))),
        None => Ok(()),
    }
}

impl Paths {
    /// The data files that the paths mean.
    pub fn files(&self, py: Python<'_>) -> PyResult<Vec<PathBuf>> {
        let files: tfrmap::Result<Vec<_>> =
            py.detach(|| self.0.iter().map(|path| OpenOptions::new().files(path)).collect());
        Ok(files.or_raise(py)?.concat())
    }

    /// The paths as a tuple of absolute ones, that mean the same in another process.
    pub fn absolute<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        PyTuple::new(py, self.0.iter().map(|path| absolute(path).into_os_string()))
    }
}
