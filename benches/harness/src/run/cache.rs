//! Puts the page cache into the state a definition asks for, with the system's own tools (no unsafe code for `posix_fadvise`).

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Failure;

/// Drops `files` from the page cache and checks that they are gone.
///
/// # Errors
/// When a tool is missing or more than 2 % of the bytes stayed.
pub fn evict(files: &[PathBuf]) -> Result<(), String> {
    // Dirty pages cannot be dropped.
    quiet(Command::new("sync").args(files))?;
    for file in files {
        let input = format!("if={}", file.display());
        quiet(Command::new("dd").args([&input, "iflag=nocache", "count=0"]))?;
    }
    let size: u64 = files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum();
    let listing = Command::new("fincore")
        .args(["--bytes", "--noheadings", "--output", "RES"])
        .args(files)
        .output()
        .map_err(|e| format!("fincore (util-linux) is needed to check that the cache is cold: {e}"))?;
    let left: u64 =
        String::from_utf8_lossy(&listing.stdout).split_whitespace().flat_map(str::parse::<u64>).sum();
    if left * 50 > size {
        return Err(format!("{left} of {size} bytes stayed in the page cache"));
    }
    Ok(())
}

fn quiet(command: &mut Command) -> Result<(), String> {
    match command.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(e) => Err(format!("{command:?}: {e}")),
    }
}

/// Reads `files` once.
///
/// # Errors
/// When one cannot be read.
pub fn warm(files: &[PathBuf]) -> Result<(), Failure> {
    for path in files {
        let mut file = File::open(path).map_err(|e| Failure::io(path, &e))?;
        io::copy(&mut file, &mut io::sink()).map_err(|e| Failure::io(path, &e))?;
    }
    Ok(())
}
