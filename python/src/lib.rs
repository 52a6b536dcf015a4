//! The native half of the Python package `tfrmap`; `python/tfrmap` holds the other half.

mod arrays;
mod batch;
mod batches;
mod buffer;
mod dataset;
mod error;
mod index;
mod logging;
mod paths;
mod record;
mod records;
mod spec;
mod writer;

use pyo3::prelude::*;

/// What `tfrmap/__init__.py` re-exports.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batches::Batches;
    #[pymodule_export]
    use crate::buffer::Buffer;
    #[pymodule_export]
    use crate::dataset::{Dataset, open};
    #[pymodule_export]
    use crate::index::index;
    #[pymodule_export]
    use crate::record::Record;
    #[pymodule_export]
    use crate::records::Records;
    #[pymodule_export]
    use crate::writer::Writer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::logging::init();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
