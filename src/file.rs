//! The bytes of a file, mapped or read. The one place of the map and of calls to the operating system.
#![allow(unsafe_code)]

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::Path;

#[cfg(unix)]
use ::memmap2::Advice;
use ::memmap2::Mmap;

use crate::error::{Error, ErrorKind, Result};

/// How the bytes of data files are reached.
///
/// A mapped file must not be modified or truncated in place while it is open; replace it by rename. Those who cannot
/// promise that choose [`Access::Read`], where a file that is cut during use is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// `Map` on file systems that are known to be local, `Read` on all others (network, FUSE).
    #[default]
    Auto,
    /// Map the file into memory: a record is a slice of the page cache, without a copy.
    Map,
    /// Read each record into memory with `pread`.
    Read,
}

/// An open regular file of a length fixed at opening, for reading at any offset from any number of threads.
#[derive(Debug)]
pub(crate) struct DataFile {
    bytes: Bytes,
    len: u64,
}

#[derive(Debug)]
enum Bytes {
    Empty,
    Map(Mmap),
    File(File),
}

impl DataFile {
    /// Opens a regular file. Costs an `open`, an `fstat`, and for `Auto` a `statfs`.
    ///
    /// # Errors
    /// `Io` with the path: not found, no permission, or no regular file (folders, FIFOs, devices: at once).
    pub(crate) fn open(path: &Path, access: Access) -> Result<DataFile> {
        let (file, metadata) = open_regular(path)?;
        let len = metadata.len();
        if len == 0 {
            return Ok(DataFile { bytes: Bytes::Empty, len });
        }
        let map = match access {
            Access::Read => false,
            Access::Map => true,
            Access::Auto => is_local(&file),
        };
        let bytes = if map {
            match map_file(&file, len) {
                Ok(map) => Bytes::Map(map),
                Err(_) if access == Access::Auto => Bytes::File(file),
                Err(error) => {
                    return Err(Error::io(path, error)
                        .with_help("read without a map (Access::Read), or raise vm.max_map_count"));
                }
            }
        } else {
            Bytes::File(file)
        };
        Ok(DataFile { bytes, len })
    }

    /// The length in bytes at the time of opening.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// True where the bytes are mapped.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.bytes, Bytes::Map(_))
    }

    /// True where a descriptor is held open.
    pub(crate) fn holds_descriptor(&self) -> bool {
        matches!(self.bytes, Bytes::File(_))
    }

    /// All bytes, where they are mapped or there are none.
    #[inline]
    pub(crate) fn mapped(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Empty => Some(&[]),
            Bytes::Map(map) => Some(map),
            Bytes::File(_) => None,
        }
    }

    /// Fills `buf` from `offset` on.
    ///
    /// # Errors
    /// `SourceChanged` where the file ends before that, `Io` where reading fails; neither names the path.
    pub(crate) fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        let got = match &self.bytes {
            Bytes::File(file) => read_full_at(file, buf, offset).map_err(|error| {
                Error::new(ErrorKind::Io(error.kind()), error.to_string()).with_source(error)
            })?,
            _ => {
                let all = self.mapped().unwrap_or_default();
                let tail = usize::try_from(offset).ok().and_then(|at| all.get(at..)).unwrap_or_default();
                let len = tail.len().min(buf.len());
                buf[..len].copy_from_slice(&tail[..len]);
                len
            }
        };
        if got == buf.len() {
            return Ok(());
        }
        let reason =
            format!("the file was cut while it was open: it had {} bytes, and ends before", self.len);
        Err(Error::new(ErrorKind::SourceChanged, reason).at_offset(offset + got as u64))
    }

    /// Tells the system that access will jump: no read-ahead beyond what is asked for. A hint: failures are ignored.
    pub(crate) fn advise_random(&self) {
        match &self.bytes {
            Bytes::Empty => {}
            #[cfg(unix)]
            Bytes::Map(map) => drop(map.advise(Advice::Random)),
            #[cfg(target_os = "linux")]
            Bytes::File(file) => fadvise(file, 0..0, libc::POSIX_FADV_RANDOM),
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }

    /// Whether these bytes are in memory, as far as that is cheap to see; `None` where it cannot be told. Of a file that is
    /// read, the first and the last byte are looked for, which may make the system fetch their pages.
    #[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
    pub(crate) fn is_resident(&self, range: Range<u64>) -> Option<bool> {
        match &self.bytes {
            Bytes::Empty => Some(true),
            #[cfg(target_os = "linux")]
            Bytes::Map(map) => resident(map.get(range.start as usize..range.end as usize)?),
            #[cfg(target_os = "linux")]
            Bytes::File(file) => {
                let last = range.end.saturating_sub(1).max(range.start);
                Some(cached(file, range.start)? && cached(file, last)?)
            }
            #[allow(unreachable_patterns)]
            _ => None,
        }
    }

    /// Has the system forget what it holds of a file in memory; false where it does not do that.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn evict(path: &Path) -> bool {
        let file = File::open(path).unwrap();
        file.sync_all().unwrap();
        let len = file.metadata().unwrap().len();
        fadvise(&file, 0..len, libc::POSIX_FADV_DONTNEED);
        let file = DataFile::open(path, Access::Map).unwrap();
        (0..len.div_ceil(4096)).all(|page| file.is_resident(page * 4096..page * 4096 + 1) == Some(false))
    }

    /// Asks the system to have these bytes soon, without waiting. A hint: failures are ignored.
    pub(crate) fn advise_willneed(&self, range: Range<u64>) {
        pieces(range.start.min(self.len)..range.end.min(self.len)).for_each(|piece| self.ask_for(piece));
    }

    /// Asks for one piece within the file.
    #[cfg_attr(not(unix), allow(unused_variables))]
    fn ask_for(&self, range: Range<u64>) {
        match &self.bytes {
            Bytes::Empty => {}
            #[cfg(unix)]
            Bytes::Map(map) => {
                // Both fit: they are offsets into the map.
                let (start, len) = (range.start as usize, (range.end - range.start) as usize);
                drop(map.advise_range(Advice::WillNeed, start, len));
            }
            #[cfg(target_os = "linux")]
            Bytes::File(file) => fadvise(file, range, libc::POSIX_FADV_WILLNEED),
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }
}

/// The system reads no more than its read-ahead size for one request; 128 KB is the usual one.
pub(crate) const PIECE: u64 = 128 << 10;

/// A range as pieces that are read whole.
fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    range.clone().step_by(PIECE as usize).map(move |start| start..range.end.min(start + PIECE))
}

/// Has the cache line of a byte fetched, without waiting for it. A hint, which beyond the end does nothing.
#[inline]
pub(crate) fn prefetch(bytes: &[u8], at: usize) {
    let Some(byte) = bytes.get(at) else { return };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86_64. A prefetch gives nothing and never faults; the address is that of a byte in a slice.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            std::ptr::from_ref(byte).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(*byte);
}

/// Opens a regular file for reading; never waits, whatever the path is.
pub(crate) fn open_regular(path: &Path) -> Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Miri does not know the flag.
    #[cfg(all(unix, not(miri)))]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let at = |error| Error::io(path, error);
    let file = options.open(path).map_err(at)?;
    let metadata = file.metadata().map_err(at)?;
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok((file, metadata));
    }
    let error = if kind.is_dir() {
        io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file")
    } else {
        io::Error::new(io::ErrorKind::InvalidInput, "is no regular file (a FIFO, a socket or a device)")
    };
    Err(at(error))
}

/// A file in a folder that has no name yet, and is gone with the last handle unless it is given one.
///
/// `None` where the system or the file system has no such files.
pub(crate) fn create_unnamed(folder: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_TMPFILE);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let file = options.open(folder).ok()?;
        // The way to a name leads through there.
        Path::new("/proc/self/fd").exists().then_some(file)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

/// Gives a file of [`create_unnamed`] its name.
///
/// # Errors
/// `AlreadyExists` where there is something of that name.
pub(crate) fn give_name(file: &File, path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        use std::os::unix::ffi::OsStrExt;
        let from = std::ffi::CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let to = std::ffi::CString::new(path.as_os_str().as_bytes())?;
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both are strings that end with a zero byte and live until the call is done.
        let done = unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, path);
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn map_file(file: &File, len: u64) -> io::Result<Mmap> {
    let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    // SAFETY: the map is read-only, and the crate's contract (README, `Dataset::open`, `Access`) is that a data file
    // is not modified or truncated in place while it is open, but replaced by rename. Index files are only ever
    // written to a temporary name and renamed. `len` is the file's length, and not zero.
    unsafe { ::memmap2::MmapOptions::new().len(len).map(file) }
}

#[cfg(unix)]
fn read_some_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn read_some_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// Reads until `buf` is full or the file ends, and returns how much was read.
fn read_full_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match read_some_at(file, &mut buf[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(target_os = "linux")]
fn fadvise(file: &File, range: Range<u64>, advice: libc::c_int) {
    use std::os::fd::AsRawFd;
    let (Ok(start), Ok(len)) = (range.start.try_into(), (range.end - range.start).try_into()) else {
        return;
    };
    // SAFETY: no memory is passed; the descriptor is open for as long as `file` is borrowed.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), start, len, advice) };
}

/// File systems whose pages cannot vanish because a server does, by their `statfs` magic number.
#[cfg(target_os = "linux")]
const LOCAL: &[u64] = &[
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0xf2f5_2010, // F2FS
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0x7371_7368, // SquashFS
    0xe0f5_e1e2, // EROFS
    0x3153_464a, // JFS
    0x5265_4973, // ReiserFS
    0x3434,      // NILFS
    0x9660,      // ISO 9660
    0x4d44,      // FAT
    0x2011_bab0, // exFAT
];

/// Whether a file is on a file system of this machine alone.
#[cfg(target_os = "linux")]
pub(crate) fn is_local(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `stat` is a valid place for one `statfs`, and zeroed, so initialised whatever the call does.
    let stat = unsafe {
        if libc::fstatfs(file.as_raw_fd(), stat.as_mut_ptr()) != 0 {
            return false;
        }
        stat.assume_init()
    };
    LOCAL.contains(&(stat.f_type as u64 & 0xffff_ffff))
}

#[cfg(target_os = "macos")]
pub(crate) fn is_local(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: as on Linux.
    let stat = unsafe {
        if libc::fstatfs(file.as_raw_fd(), stat.as_mut_ptr()) != 0 {
            return false;
        }
        stat.assume_init()
    };
    stat.f_flags & libc::MNT_LOCAL as u32 != 0
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn is_local(_file: &File) -> bool {
    false
}

/// How many files this process may have open at once (the soft limit).
pub(crate) fn descriptor_limit() -> u64 {
    #[cfg(unix)]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid place for one `rlimit`.
        if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } == 0 {
            // Narrower on machines of 32 bits.
            #[allow(clippy::unnecessary_cast)]
            return limit.rlim_cur as u64;
        }
    }
    256
}

/// How many maps this process may have at once.
pub(crate) fn map_limit() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    text.trim().parse().unwrap_or(65_530)
}

/// Bytes that files may fill of the memory: what is free or holds pages of files now, as far as the control group allows;
/// 0 where that is not known.
pub(crate) fn cache_room() -> u64 {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let memory = read("/proc/meminfo");
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = available.and_then(|text| text.trim().trim_end_matches("kB").trim_end().parse().ok());
    let group = read("/sys/fs/cgroup/memory.max").trim().parse().unwrap_or(u64::MAX);
    kilobytes.map_or(0, |kilobytes: u64| kilobytes.saturating_mul(1024).min(group))
}

/// Whether a byte of a file can be read without waiting; `None` where the file system cannot tell.
#[cfg(target_os = "linux")]
fn cached(file: &File, at: u64) -> Option<bool> {
    use std::os::fd::AsRawFd;
    let mut byte = 0u8;
    let place = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let at = at.try_into().ok()?;
    // SAFETY: `place` is one valid place of one byte; the descriptor is open for as long as `file` is borrowed.
    match unsafe { libc::preadv2(file.as_raw_fd(), &place, 1, at, libc::RWF_NOWAIT) } {
        1 => Some(true),
        -1 if io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock => Some(false),
        _ => None,
    }
}

/// Whether all pages of a part of a map are in memory, by the first hundreds of them.
#[cfg(target_os = "linux")]
fn resident(bytes: &[u8]) -> Option<bool> {
    const PAGE: usize = 4096;
    const PAGES: usize = 256;
    let begin = bytes.as_ptr().addr() % PAGE;
    let len = (begin + bytes.len()).min(PAGES * PAGE);
    let mut pages = [0u8; PAGES];
    let start = bytes.as_ptr().wrapping_sub(begin).cast_mut().cast::<libc::c_void>();
    // SAFETY: mincore only reads the page table. It writes one byte for each page of `len` bytes, of which `pages` has
    // enough. `start` is page-aligned: the page of the slice's first byte, and maps begin at a page.
    let answer = unsafe { libc::mincore(start, len, pages.as_mut_ptr()) };
    (answer == 0).then(|| pages[..len.div_ceil(PAGE)].iter().all(|page| page & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else the system reads the begin of what is asked for, and the rest page by page.
    #[test]
    fn what_is_asked_for_comes_in_pieces_that_are_read_whole() {
        let of = |range| pieces(range).collect::<Vec<_>>();
        assert_eq!(of(4096..4096 + 300_000), [4096..135_168, 135_168..266_240, 266_240..304_096]);
        assert_eq!(of(7..7), []);
    }
}
