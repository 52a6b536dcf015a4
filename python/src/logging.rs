//! What the library says through `log`, as warnings of Python's logger `tfrmap`.

use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;

struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        // Nobody holds the GIL while it waits for threads of the library, so that this never waits for ever. At the end of
        // the interpreter there is nobody to tell, and nobody to tell of a failure to.
        let _ = Python::try_attach(|py| -> PyResult<()> {
            let logger = py.import("logging")?.call_method1("getLogger", ("tfrmap",))?;
            // The text is no format.
            logger.call_method1("warning", ("%s", text)).map(|_| ())
        });
    }

    fn flush(&self) {}
}

/// Has the library's warnings go to Python, unless somebody else in the process has them.
pub fn init() {
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}
