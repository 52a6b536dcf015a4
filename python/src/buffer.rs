//! Memory of ours lent to Python by the buffer protocol: the one file of this package with `unsafe`.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::{PyErr, ffi};

/// Bytes that Python sees without a copy: `memoryview(buffer)`, `numpy.ndarray(shape, dtype, buffer)`.
///
/// The memory lives as long as any view of it. A column is writable; a record is not.
#[pyclass(frozen, subclass, module = "tfrmap._native")]
pub struct Buffer {
    data: *mut c_void,
    len: usize,
    writable: bool,
    /// Keeps `data` alive and in place; never touched again while this object lives.
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: `data` points into `_owner`, which may be sent between threads.
unsafe impl Send for Buffer {}
// SAFETY: the fields never change after `new`, and Rust never reads or writes the memory itself: all access is through
// Python's views, whose ordering is the business of their users, as with every other writable buffer.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Lends numbers that may be written. The owner must not move them when it is itself left in place.
    pub fn writable<T, O: Send + Sync + 'static>(
        owner: O,
        values: impl FnOnce(&mut O) -> &mut [T],
    ) -> Buffer {
        let mut owner = Box::new(owner);
        let slice = values(&mut owner);
        let (data, len) = (slice.as_mut_ptr().cast(), size_of_val(slice));
        Buffer { data, len, writable: true, _owner: owner }
    }

    /// Lends bytes that may only be read.
    pub fn read_only<O: Send + Sync + 'static>(owner: O, bytes: impl FnOnce(&O) -> &[u8]) -> Buffer {
        let owner = Box::new(owner);
        let slice = bytes(&owner);
        let (data, len) = (slice.as_ptr().cast_mut().cast(), slice.len());
        Buffer { data, len, writable: false, _owner: owner }
    }
}

#[pymethods]
impl Buffer {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill"));
        }
        let buffer = slf.get();
        let read_only = c_int::from(!buffer.writable);
        // A vector or a map is never larger than isize::MAX bytes.
        let len = buffer.len as ffi::Py_ssize_t;
        // SAFETY: the caller lends a `Py_buffer` to fill. `data` is valid for `len` bytes while the object lives, and the view
        // holds a reference to the object. Views that ask to write a read-only buffer are refused by the call.
        let filled =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), buffer.data, len, read_only, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    fn __len__(&self) -> usize {
        self.len
    }

    fn __repr__(&self) -> String {
        let kind = if self.writable { "writable" } else { "read-only" };
        format!("<{kind} buffer of {} bytes>", self.len)
    }
}
