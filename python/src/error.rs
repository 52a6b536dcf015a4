//! Errors of the library as Python exceptions; the classes themselves are in `tfrmap/_errors.py`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyString};
use tfrmap::{Error, ErrorKind};

/// The name of the class in `tfrmap._errors` for an error.
fn class_of(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::ImageDecode | ErrorKind::ImageTooLarge | ErrorKind::UnsupportedImage => "ImageError",
        ErrorKind::MissingFeature | ErrorKind::WrongKind { .. } | ErrorKind::WrongShape { .. } => {
            "FeatureError"
        }
        ErrorKind::InvalidArgument => "ArgumentError",
        ErrorKind::Io(std::io::ErrorKind::NotFound) => "NotFoundError",
        ErrorKind::Io(_) | ErrorKind::AlreadyExists => "FileError",
        _ if error.is_stale_index() => "StaleIndexError",
        _ if error.is_corruption() || matches!(error.kind(), ErrorKind::Compressed { .. }) => {
            "CorruptionError"
        }
        _ => "Error",
    }
}

/// The exception for an error, with `path`, `record`, `offset` and `feature` as attributes.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let made = || -> PyResult<PyErr> {
        let module = MODULE.get_or_try_init(py, || py.import("tfrmap._errors").map(Bound::unbind))?.bind(py);
        let fields = PyDict::new(py);
        fields.set_item("kind", error.kind().name())?;
        fields.set_item("path", error.path().map(|path| path.as_os_str()))?;
        fields.set_item("record", error.record())?;
        fields.set_item("offset", error.offset())?;
        fields.set_item("feature", error.feature())?;
        let text = PyString::new(py, &error.to_string());
        Ok(PyErr::from_value(module.getattr(class_of(error))?.call((text,), Some(&fields))?))
    };
    made().unwrap_or_else(|failed| failed)
}

/// `?` for results of the library.
pub trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for tfrmap::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| to_python(py, &error))
    }
}
