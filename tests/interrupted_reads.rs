//! The fear: reads that come in pieces, are interrupted, or fail give other records, a hang, or silence.
#![allow(unsafe_code)]

mod store_support;

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use store_support::*;
use tfrmap::{Access, Error, ErrorKind, FileVerifier, IndexBuilder, RecordReader, Salvage, Salvaged, Store};

/// Gives at most so many bytes at a time, is interrupted before each, and fails for good after `until` bytes.
struct Trickle<'a> {
    bytes: &'a [u8],
    at_once: usize,
    until: Option<(usize, io::ErrorKind)>,
    given: usize,
    interrupt: bool,
}

impl<'a> Trickle<'a> {
    fn new(bytes: &'a [u8], at_once: usize) -> Trickle<'a> {
        Trickle { bytes, at_once, until: None, given: 0, interrupt: false }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupt = !self.interrupt;
        if self.interrupt {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut len = self.at_once.min(out.len());
        if let Some((until, kind)) = self.until {
            len = len.min(until - self.given);
            if len == 0 && !out.is_empty() {
                return Err(kind.into());
            }
        }
        let got = (&self.bytes[self.given..]).read(&mut out[..len])?;
        self.given += got;
        Ok(got)
    }
}

/// Streams of every container: whole ones, cut ones and damaged ones.
fn streams() -> Vec<(String, Vec<u8>)> {
    let mut streams = Vec::new();
    for folder in [data("TFRMAP_GOLDEN", "golden").join("framing/files"), case("fmt")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && path.metadata().unwrap().len() < 20_000 {
                streams.push((path.display().to_string(), fs::read(path).unwrap()));
            }
        }
    }
    assert!(streams.len() > 40);
    streams
}

type Told = Result<Vec<u8>, (&'static str, Option<u64>, Option<u64>)>;

fn told(item: Result<Vec<u8>, Error>) -> Told {
    item.map_err(|error| (error.kind().name(), error.record(), error.offset()))
}

#[test]
fn pieces_and_interruptions_change_nothing() {
    for (name, bytes) in streams() {
        let whole: Vec<Told> = RecordReader::new(&bytes[..]).map(told).collect();
        for at_once in [1, 2, 11, 12, 13, 4096] {
            let pieces: Vec<Told> = RecordReader::new(Trickle::new(&bytes, at_once)).map(told).collect();
            assert_eq!(pieces, whole, "{name} by {at_once}");
        }
    }
}

#[test]
fn a_read_error_is_told_once_with_its_place_after_the_records_before_it() {
    let (bytes, count) = (framed(&payloads(40)), 40);
    let mut ends = Vec::new();
    let mut at = 0;
    for payload in payloads(count) {
        at += payload.len() + 16;
        ends.push(at);
    }
    for until in (0..bytes.len()).step_by(97) {
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::TimedOut, io::ErrorKind::Other] {
            let mut reader =
                RecordReader::new(Trickle { until: Some((until, kind)), ..Trickle::new(&bytes, 64) });
            let before = ends.iter().filter(|end| **end <= until).count();
            for payload in &payloads(count)[..before] {
                assert_eq!(&reader.next().unwrap().unwrap(), payload);
            }
            let error = reader.next().unwrap().unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Io(kind), "{error}");
            assert_eq!(error.record(), Some(before as u64));
            assert_eq!(error.offset(), Some(before.checked_sub(1).map_or(0, |last| ends[last] as u64)));
            assert!(reader.next().is_none());
        }
    }
}

/// Not a test of its own: a timer of the whole process interrupts it some thousand times a second.
#[cfg(unix)]
#[test]
fn child_reads_in_a_storm() {
    let Some(folder) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    extern "C" fn count(_signal: libc::c_int) {
        STORM.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    static STORM: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let every = libc::timeval { tv_sec: 0, tv_usec: 200 };
    // SAFETY: the handler does nothing but add to an atomic number, which a handler may do. `action` and `timer` are valid, and
    // zeroed where nothing is set: no flags (so no SA_RESTART), an empty mask.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as extern "C" fn(libc::c_int) as usize;
        assert_eq!(libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut()), 0);
        let timer = libc::itimerval { it_interval: every, it_value: every };
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()), 0);
    }
    let payloads = payloads(3000);
    let mut round = 0;
    while round < 5 || STORM.load(std::sync::atomic::Ordering::Relaxed) < 300 {
        let path = folder.join(format!("data-{round}"));
        fs::write(&path, framed(&payloads)).unwrap();
        let report = &IndexBuilder::new().check(true).build(std::slice::from_ref(&path), |_| {})[0];
        assert!(report.error.is_none(), "{report:?}");
        let store = Store::open_with(&only_sidecar(Access::Read), &path).unwrap();
        assert_eq!(read_all(&store).unwrap(), payloads);
        assert!(RecordReader::open(&path).unwrap().map(Result::unwrap).eq(payloads.iter().cloned()));
        assert_eq!(FileVerifier::new().access(Access::Read).verify(&path, |_| {}).unwrap().good, 3000);
        let salvaged = Salvage::open(&path).unwrap();
        assert!(salvaged.into_iter().all(|part| matches!(part.unwrap(), Salvaged::Record(_))));
        // A pipe's reads are those that signals really cut short.
        let (from, to) = io::pipe().unwrap();
        let bytes = framed(&payloads);
        let writer = std::thread::spawn(move || {
            let mut to = to;
            bytes.chunks(777).for_each(|chunk| io::Write::write_all(&mut to, chunk).unwrap());
        });
        assert!(RecordReader::new(from).map(Result::unwrap).eq(payloads.iter().cloned()));
        writer.join().unwrap();
        round += 1;
    }
    println!("STORM {}", STORM.load(std::sync::atomic::Ordering::Relaxed));
}

#[cfg(unix)]
#[test]
fn a_storm_of_signals_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = [("TFRMAP_TEST_TARGET", folder.path().to_str().unwrap())];
    let output = again("child_reads_in_a_storm", &target).wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("STORM"),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A file of the system's whose length is said to be a page, and which fails when it is read.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fails_is_an_io_error_with_the_path() {
    let failing = ["/sys/class/net/lo/duplex", "/sys/class/net/lo/speed", "/sys/class/net/lo/phys_port_id"];
    let fails = |path: &&str| {
        let len = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        len && fs::read(path).is_err()
    };
    let Some(path) = failing.into_iter().find(fails) else {
        eprintln!("SKIPPED: no file here fails when it is read");
        return;
    };
    let errors = [
        ("store", Store::open_with(&in_memory(Access::Read), path).unwrap_err()),
        ("index", tfrmap::Index::build(path).unwrap_err()),
        ("reader", RecordReader::open(path).unwrap().next().unwrap().unwrap_err()),
        ("salvage", Salvage::open(path).map(drop).unwrap_err()),
    ];
    for (what, error) in errors {
        assert!(error.is_io(), "{what}: {error}");
        assert_eq!(error.path().and_then(|path| path.to_str()), Some(path), "{what}: {error}");
    }
    let mut problems = Vec::new();
    let summary = FileVerifier::new().access(Access::Read).verify(path, |event| {
        if let tfrmap::VerifyEvent::Problem(error) = event {
            problems.push(error.is_io());
        }
    });
    assert_eq!((summary.unwrap().bad, problems), (1, vec![true]));
}
