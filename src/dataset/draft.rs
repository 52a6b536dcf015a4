//! Files that are being written: seen by nobody, and gone when their writer is dropped or killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::file;

/// How hidden names begin.
const PREFIX: &str = ".tfrmap-";
/// How hidden names end of which the lock is held for as long as their writer lives.
const LOCKED: &str = ".tmp";
/// How the hidden names of large sets end, whose files are not held open.
const LOOSE: &str = ".part";

/// A file that has no name yet where the system knows such files (Linux), else a hidden one beside its place.
///
/// What a killed process leaves under a hidden name has a lock that nobody holds: [`sweep`] removes it.
#[derive(Debug)]
pub(super) struct Draft {
    place: PathBuf,
    /// Its hidden name, where it has one.
    name: Option<PathBuf>,
    /// `None` where it is not held open.
    file: Option<File>,
}

impl Draft {
    /// Begins a file that is to be at `place`. Without `hold` it is opened for each write.
    pub(super) fn new(place: PathBuf, hold: bool) -> io::Result<Draft> {
        if !hold {
            let (name, _) = create(&place, LOOSE)?;
            return Ok(Draft { place, name: Some(name), file: None });
        }
        match file::create_unnamed(folder_of(&place)) {
            Some(file) => {
                // Held from before it can have a name.
                let _ = file.try_lock();
                Ok(Draft { place, name: None, file: Some(file) })
            }
            None => Draft::named(place),
        }
    }

    /// A file under a hidden name, with its lock.
    fn named(place: PathBuf) -> io::Result<Draft> {
        loop {
            let (name, file) = create(&place, LOCKED)?;
            // Whoever sweeps may have been faster: then it has no name any more, or soon will not.
            let swept = matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !name.exists();
            if !swept {
                return Ok(Draft { place, name: Some(name), file: Some(file) });
            }
        }
    }

    /// Where it is to be.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Adds bytes at its end.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with_file(|mut file| file.write_all(bytes))
    }

    /// Adds all that a reader gives at its end.
    pub(super) fn copy_from(&mut self, source: &mut impl io::Read) -> io::Result<()> {
        self.with_file(|mut file| io::copy(source, &mut file).map(drop))
    }

    /// Brings it to the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.with_file(File::sync_all)
    }

    fn with_file<T>(&mut self, act: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        match (&self.file, &self.name) {
            (Some(file), _) => act(file),
            (None, Some(name)) => act(&OpenOptions::new().append(true).open(name)?),
            (None, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` where the name is taken, unless with `overwrite`.
    pub(super) fn publish(&mut self, overwrite: bool) -> io::Result<()> {
        if let (None, Some(file)) = (&self.name, &self.file) {
            if !overwrite {
                return file::give_name(file, &self.place);
            }
            // Only a file with a name can take the place of another.
            let name = retry(&self.place, LOCKED, |name| file::give_name(file, name))?.0;
            self.name = Some(name);
        }
        let Some(name) = &self.name else { return Ok(()) };
        if overwrite {
            fs::rename(name, &self.place)?;
        } else {
            // A link fails where the name is taken, a rename would replace it.
            match fs::hard_link(name, &self.place) {
                Ok(()) => fs::remove_file(name)?,
                Err(_) if self.place.symlink_metadata().is_ok() => {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Err(_) => fs::rename(name, &self.place)?,
            }
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = fs::remove_file(name);
        }
    }
}

/// Removes what killed writers have left in a folder. Where locks of other machines cannot be seen, nothing is touched.
pub(super) fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(folder_of(place)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if !name.starts_with(PREFIX.as_bytes()) || !name.ends_with(LOCKED.as_bytes()) {
            continue;
        }
        let Ok((file, _)) = file::open_regular(&entry.path()) else { continue };
        if file::is_local(&file) && file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn create(place: &Path, ending: &str) -> io::Result<(PathBuf, File)> {
    retry(place, ending, |name| OpenOptions::new().write(true).create_new(true).open(name))
}

/// Tries names beside `place` that no reader takes for data, until one is not taken.
fn retry<T>(
    place: &Path,
    ending: &str,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = place.with_file_name(format!("{PREFIX}{}-{number}{ending}", std::process::id()));
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (name, made)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn only_what_nobody_holds_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("data");
        let mut living = Draft::named(place.clone()).unwrap();
        let mut loose = Draft::new(place.clone(), false).unwrap();
        sweep(&place);
        assert_eq!(names(folder.path()), 2);
        // What a killed process leaves: the name without the lock.
        let mut dead = Draft::named(place.clone()).unwrap();
        dead.file = None;
        let left = dead.name.take();
        sweep(&place);
        assert!(!left.unwrap().exists());
        living.write(b"one").unwrap();
        living.publish(false).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"one");
        loose.write(b"two").unwrap();
        assert_eq!(loose.publish(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        loose.publish(true).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"two");
        drop((living, loose, dead));
        assert_eq!(names(folder.path()), 1);
    }

    #[test]
    fn every_kind_of_draft_behaves_the_same() {
        for make in [|place| Draft::new(place, true), |place| Draft::new(place, false), Draft::named] {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("data");
            for (text, overwrite) in [("one", false), ("two", true)] {
                let mut draft = make(place.clone()).unwrap();
                draft.write(text.as_bytes()).unwrap();
                draft.sync().unwrap();
                draft.publish(overwrite).unwrap();
                drop(draft);
                assert_eq!(fs::read(&place).unwrap(), text.as_bytes());
            }
            let mut late = make(place.clone()).unwrap();
            assert_eq!(late.publish(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            drop(late);
            assert_eq!((names(folder.path()), fs::read(&place).unwrap()), (1, b"two".to_vec()));
        }
    }
}
