//! What every codec is held to: the size of pictures, memory, panics, and what its messages may hold.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, ErrorKind, Result};
use crate::image::spec::Limits;

/// Refuses sizes over the limit, and empty ones.
pub(crate) fn check_size(height: u32, width: u32, limits: &Limits) -> Result<()> {
    let pixels = u64::from(height) * u64::from(width);
    if pixels == 0 {
        return Err(Error::new(
            ErrorKind::ImageDecode,
            format!("the picture is empty: {height} x {width} pixels"),
        ));
    }
    if pixels > limits.pixels {
        let limit = limits.pixels;
        let reason = format!("{height} x {width} pixels are over the limit of {limit}");
        return Err(Error::new(ErrorKind::ImageTooLarge, reason));
    }
    Ok(())
}

/// Room for `len` elements in an empty vector.
pub(crate) fn reserve<T>(out: &mut Vec<T>, len: usize) -> Result<()> {
    out.try_reserve_exact(len.saturating_sub(out.len())).map_err(|_| too_large())
}

/// So many zeros.
pub(crate) fn zeros(len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| too_large())?;
    // Asked for first; then taken as zeros of the system's, which cost nothing until they are used.
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| too_large())?;
    Ok(vec![0; len])
}

fn too_large() -> Error {
    Error::new(ErrorKind::Io(std::io::ErrorKind::OutOfMemory), "the picture does not fit into memory")
}

/// Runs a codec; a panic inside it becomes an error.
pub(crate) fn guarded<T>(codec: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(codec)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::new(ErrorKind::Panicked, format!("the image codec panicked: {text}")))
    })
}

/// A codec's message on one line, without control characters.
pub(crate) fn clean(message: &str) -> String {
    message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
