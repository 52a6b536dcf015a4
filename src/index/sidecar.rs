//! Where sidecars are, and how they are written so that any number of processes and crashes leave a whole one or none.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::crc;
use crate::error::{Error, ErrorKind, Result};
use crate::file;

/// The hidden folder beside the data.
const FOLDER: &str = ".tfrmap";
/// What is appended to the data file's name.
const EXTENSION: &str = ".tfri";
/// The variable that names an index folder for all data.
const VARIABLE: &str = "TFRMAP_INDEX_DIR";

/// Where the sidecar of `data` may be: written to the first, looked for in all.
///
/// With an index folder (given, or by `TFRMAP_INDEX_DIR`) there is one place in it; else the place beside the file that
/// a symbolic link leads to, and then the one beside the link (where the file's own folder cannot be written).
pub(crate) fn locate(data: &Path, index_dir: Option<&Path>) -> Vec<PathBuf> {
    let is_link = data.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let real = if is_link { data.canonicalize().ok() } else { None };
    let real = real.as_deref().unwrap_or(data);
    let variable = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = index_dir.map(Path::to_path_buf).or_else(variable) {
        return vec![folder.join(file_name(real))];
    }
    let beside = |path: &Path| path.parent().unwrap_or(Path::new("")).join(FOLDER).join(file_name(path));
    let mut places = vec![beside(real)];
    if is_link {
        places.push(beside(data));
    }
    places
}

fn file_name(data: &Path) -> OsString {
    let mut name = data.file_name().unwrap_or_default().to_os_string();
    name.push(EXTENSION);
    name
}

/// The first of the places at which there is something.
///
/// # Errors
/// `Io` where a place cannot be looked at for another reason than that nothing is there.
pub(crate) fn find(places: &[PathBuf]) -> Result<Option<PathBuf>> {
    for place in places {
        match fs::metadata(place) {
            Ok(_) => return Ok(Some(place.clone())),
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(Error::io(place, error)),
        }
    }
    Ok(None)
}

/// True where an error says that nothing is there. (No file can have a name that is too long.)
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

/// The error for data that has no sidecar where one is needed.
pub(crate) fn missing(data: &Path) -> Error {
    Error::new(ErrorKind::Io(io::ErrorKind::NotFound), "the file has no index")
        .at_path(data)
        .with_help("write it with `tfr-index build`")
}

/// Waits for its lock and writes a sidecar.
pub(crate) fn save_at(place: &Path, bytes: &[u8]) -> Result<()> {
    Lock::acquire(place)?.write(bytes)
}

/// Makes renames in a folder durable, where the system can do that.
pub(crate) fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// Removes the sidecar of data that is about to be replaced.
pub(crate) fn remove(data: &Path) -> Result<()> {
    for place in locate(data, None) {
        match fs::remove_file(&place) {
            Err(error) if !is_absence(&error) => {
                return Err(Error::io(place, error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn folder_of(place: &Path) -> &Path {
    place.parent().unwrap_or(Path::new(""))
}

/// The right to write one sidecar, among all processes. Given back when dropped or when the process dies.
pub(crate) struct Lock {
    place: PathBuf,
    temporary: PathBuf,
    /// The file that is locked, and its name; `None` where the file system knows no locks.
    held: Option<(PathBuf, File)>,
}

impl Lock {
    /// Waits until no other process builds this sidecar.
    ///
    /// # Errors
    /// `Io` where the folder cannot be written.
    pub(crate) fn acquire(place: &Path) -> Result<Lock> {
        let folder = folder_of(place);
        fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        // These names do not hold the data file's, which may already be as long as names can be.
        let name = crc::crc32c(place.file_name().unwrap_or_default().as_encoded_bytes());
        let path = folder.join(format!(".{name:08x}.lock"));
        loop {
            let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = open.map_err(|error| Error::io(&path, error))?;
            let place = place.to_path_buf();
            if file.lock().is_err() {
                // Then others may write too, each to a name of its own.
                static COUNTER: AtomicU64 = AtomicU64::new(0);
                let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
                let temporary = folder.join(format!(".{name:08x}-{}-{unique}.tmp", std::process::id()));
                return Ok(Lock { place, temporary, held: None });
            }
            // Who held it before has removed the name: then another may already hold the lock on a new file.
            if same_file(&file, &path) {
                let temporary = folder.join(format!(".{name:08x}.tmp"));
                // What a builder that died has left.
                let _ = fs::remove_file(&temporary);
                return Ok(Lock { place, temporary, held: Some((path, file)) });
            }
        }
    }

    /// Writes the sidecar: out of sight, fsync, then its name. Killed meanwhile, it leaves an empty lock file at most,
    /// where the system has files without names.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        let put = || -> io::Result<()> {
            let unnamed = file::create_unnamed(folder_of(&self.place));
            let has_name = unnamed.is_none();
            let mut file = match unnamed {
                Some(file) => file,
                None => OpenOptions::new().write(true).create_new(true).open(&self.temporary)?,
            };
            file.write_all(bytes)?;
            file.sync_all()?;
            if !has_name {
                match file::give_name(&file, &self.place) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    named => return named,
                }
                file::give_name(&file, &self.temporary)?;
            }
            fs::rename(&self.temporary, &self.place)
        };
        put().map_err(|error| {
            let _ = fs::remove_file(&self.temporary);
            Error::io(&self.place, error)
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still held, so that nobody holds a lock on a file that then loses its name.
        if let Some((path, _)) = &self.held {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if id(&a) == id(&b))
}

#[cfg(not(unix))]
fn same_file(_file: &File, path: &Path) -> bool {
    path.exists()
}
