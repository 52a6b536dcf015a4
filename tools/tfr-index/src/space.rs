//! Room on the disk, looked at before much is written.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::copy::{Input, Kind};
use crate::failure::{Failure, Result};
use crate::units;

/// Refuses to begin where the file system of `output` has no room for so many bytes.
pub fn check(output: &Path, needed: u64) -> Result<()> {
    let folder = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match free(folder) {
        Some(free) if free < needed => Err(Failure::usage(format!(
            "{}: the copy takes at least {}, but only {} are free; choose another disk",
            folder.display(),
            units::bytes(needed),
            units::bytes(free)
        ))),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

/// The bytes of an input's records, at least: a gzip file says in its last four bytes how long its last member is.
pub fn inflated(input: &Input) -> u64 {
    match input.kind {
        Kind::Inflated => input.bytes.max(gzip_len(&input.path).unwrap_or(0)),
        _ => input.bytes,
    }
}

fn gzip_len(path: &Path) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let mut head = [0; 2];
    file.read_exact(&mut head).ok()?;
    file.seek(SeekFrom::End(-4)).ok()?;
    let mut len = [0; 4];
    file.read_exact(&mut len).ok()?;
    // The length is kept modulo 2^32, and of a torn file these are any bytes: what cannot be is not believed.
    let (packed, len) = (file.metadata().ok()?.len(), u64::from(u32::from_le_bytes(len)));
    (head == [0x1f, 0x8b] && len / 1032 <= packed).then_some(len)
}
