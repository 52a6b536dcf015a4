//! Output files that appear whole or not at all, and never over something by accident.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// A file that is written beside its place and moved there by [`AtomicFile::finish`]; dropped, it leaves nothing.
pub struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    force: bool,
    out: BufWriter<File>,
}

impl AtomicFile {
    /// Opens the temporary file. An existing `path` is refused at once, unless `force`.
    pub fn create(path: &Path, force: bool) -> Result<AtomicFile> {
        refuse_existing(path, force)?;
        let name =
            path.file_name().ok_or_else(|| Failure::usage(format!("{}: name a file", path.display())))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let file = File::create(&temporary).map_err(|error| Failure::io(path, error))?;
        Ok(AtomicFile {
            path: path.to_owned(),
            temporary,
            force,
            out: BufWriter::with_capacity(1 << 20, file),
        })
    }

    /// Brings everything to the disk and the file to its place.
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|error| Failure::io(&self.path, error))?;
        self.out.get_ref().sync_all().map_err(|error| Failure::io(&self.path, error))?;
        match self.put_in_place() {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(error) => Err(Failure::io(&self.path, error)),
        }
    }

    fn put_in_place(&self) -> io::Result<()> {
        if self.force {
            return fs::rename(&self.temporary, &self.path);
        }
        // A link refuses to replace what appeared meanwhile; file systems without links get a plain rename.
        match fs::hard_link(&self.temporary, &self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                fs::rename(&self.temporary, &self.path)
            }
            other => other,
        }
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // Gone already where it was renamed.
        let _ = fs::remove_file(&self.temporary);
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a whole file at once.
pub fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path, force)?;
    file.write_all(bytes).map_err(|error| Failure::io(path, error))?;
    file.finish()
}

/// Refuses an output path that exists, unless `force`; a folder, a device or a pipe is refused even so: a rename would put
/// a file in its place.
pub fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) if path.is_dir() => {
            Err(Failure::usage(format!("{}: this is a folder; name a file", path.display())))
        }
        Ok(_) if path.metadata().is_ok_and(|metadata| !metadata.is_file()) => {
            Err(Failure::usage(format!("{}: this is a device or a pipe; name a file", path.display())))
        }
        Ok(_) if !force => Err(exists(path)),
        _ => Ok(()),
    }
}

/// Refuses an output that is one of the inputs, under whatever name: data files are only ever read.
pub fn refuse_inputs(outputs: &[PathBuf], inputs: &[PathBuf]) -> Result<()> {
    let real: HashSet<PathBuf> = inputs.iter().filter_map(|input| input.canonicalize().ok()).collect();
    match outputs.iter().find(|output| output.canonicalize().is_ok_and(|output| real.contains(&output))) {
        Some(output) => {
            let output = output.display();
            Err(Failure::usage(format!("{output}: this is an input; choose another output")))
        }
        None => Ok(()),
    }
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!(
        "{}: this file exists; choose another name, or pass --force to replace it",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_survives_without_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write(&path, false, b"one").unwrap();
        assert!(matches!(write(&path, false, b"two"), Err(Failure::Usage(_))));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(&path, true, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn what_appears_meanwhile_survives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let file = AtomicFile::create(&path, false).unwrap();
        fs::write(&path, b"theirs").unwrap();
        assert!(file.finish().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn dropped_it_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("out"), false).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
