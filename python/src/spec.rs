//! Features as a dict: the words of the JSON spec.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tfrmap::Features;

use crate::error::OrRaise;

/// Features of a dict, or of what TensorFlow calls features.
pub fn from_python(py: Python<'_>, spec: &Bound<'_, PyAny>) -> PyResult<Features> {
    let text = py.import("json")?.call_method1("dumps", (plain(py, spec)?,))?;
    let json = serde_json::from_str(text.cast::<PyString>()?.to_str()?)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Features::from_json(&json).or_raise(py)
}

/// The dict in plain types, without objects of TensorFlow or NumPy: what is pickled.
pub fn plain<'py>(py: Python<'py>, spec: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    py.import("tfrmap._spec")?.call_method1("plain", (spec,))
}

/// The dict of features.
pub fn to_python<'py>(py: Python<'py>, features: &Features) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (features.to_json().to_string(),))
}
