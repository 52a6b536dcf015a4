//! Any bytes as a data file: the stream reader, the store, the verifier and salvage agree about every byte of it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use tfrmap::{
    Error, ErrorKind, FileVerifier, MissingIndex, OpenOptions, RecordReader, RecordWriter, Salvage, Salvaged,
    Store, VerifyEvent,
};

use super::input::{self, OVERHEAD};
use super::scratch::scratch;

pub fn run(data: &[u8]) {
    let Some((&[mode, low, high], rest)) = data.split_first_chunk() else { return };
    let mut plain = rest.to_vec();
    if mode & 1 != 0 {
        input::mend_frames(&mut plain);
    }
    if mode & 2 != 0 && !plain.is_empty() {
        let at = usize::from(u16::from_le_bytes([low, high])) % plain.len();
        plain[at] ^= 1 << (mode >> 5);
    }
    streams_agree(&plain, mode >> 2 & 3);
    files_agree(&plain);
}

/// A record, or an error's class, with what it says about its place.
type Item = (Result<Vec<u8>, &'static str>, u64, u64);

fn items<R: Read>(mut reader: RecordReader<R>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut payload = Vec::new();
    loop {
        let (record, offset) = (reader.record(), reader.offset());
        match reader.read_into(&mut payload) {
            Ok(true) => items.push((Ok(payload.clone()), record, offset)),
            Ok(false) => return items,
            Err(error) => {
                assert_eq!((error.record(), error.offset()), (Some(record), Some(offset)));
                items.push((Err(error.kind().name()), record, offset));
            }
        }
    }
}

fn streams_agree(plain: &[u8], container: u8) {
    let read = items(RecordReader::new(plain));
    assert_eq!(items(RecordReader::new(Slow(plain, 0))), read, "short reads change nothing");
    if looks_compressed(plain) {
        return;
    }
    let (one, two) = plain.split_at(plain.len() / 3);
    let packed = match container {
        0 => return,
        1 => gzip(plain),
        2 => zlib(plain),
        _ => [gzip(one), gzip(two)].concat(),
    };
    let inflated = items(RecordReader::new(&packed[..]));
    assert_eq!(inflated, read, "compression changes nothing");
    // A cut stream gives a beginning of the records, and says that it is cut.
    let cut = items(RecordReader::new(&packed[..packed.len() * 2 / 3]));
    let whole = |items: &[Item]| items.iter().take_while(|item| item.0.is_ok()).count();
    let same = whole(&cut);
    assert_eq!(cut[..same], inflated[..same]);
    assert!(cut.last().is_some_and(|item| item.0.is_err()), "{cut:?}");
}

/// Whether the reader may take it for a gzip or zlib stream.
pub fn looks_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b]) || bytes.first().is_some_and(|byte| byte & 15 == 8)
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Gives few bytes at a time, and is interrupted between.
struct Slow<'a>(&'a [u8], u8);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1.wrapping_add(1);
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = out.len().min(1 + usize::from(self.1 % 7));
        self.0.read(&mut out[..len])
    }
}

fn files_agree(plain: &[u8]) {
    scratch(|folder| {
        let path = folder.join("data");
        fs::write(&path, plain).unwrap();
        let read = items(RecordReader::open(&path).unwrap());
        let options = OpenOptions::new().missing_index(MissingIndex::InMemory);
        let (store, problem) = Store::scan(&options, &path).unwrap();
        if problem.as_ref().is_some_and(|problem| matches!(problem.kind(), ErrorKind::Compressed { .. })) {
            assert!(store.is_empty());
            return;
        }
        let (records, last) = match read.split_last() {
            Some(((Err(class), record, offset), records)) if *class != "CorruptData" => {
                (records, Some((*class, *record, *offset)))
            }
            _ => (&read[..], None),
        };
        let place = |error: &Error| (error.kind().name(), error.record().unwrap(), error.offset().unwrap());
        assert_eq!(problem.as_ref().map(place), last);
        assert_eq!(store.len(), records.len() as u64);
        for (payload, record, offset) in records {
            match (payload, store.get(*record)) {
                (Ok(payload), Ok(record)) => {
                    assert_eq!((record.as_bytes(), record.offset()), (&payload[..], *offset))
                }
                (Err(class), Err(error)) => assert_eq!((*class, *record, *offset), place(&error)),
                (stream, store) => panic!("{stream:?} {store:?}"),
            }
        }
        verifier_agrees(&path, &read);
        salvage_agrees(&path, plain, &read);
        // What was whole comes out as it was.
        if last.is_none() && read.iter().all(|item| item.0.is_ok()) {
            let mut writer = RecordWriter::new(Vec::new());
            read.iter().for_each(|item| writer.write(item.0.as_ref().unwrap()).unwrap());
            assert_eq!(writer.into_inner(), plain);
        }
    });
}

fn verifier_agrees(path: &Path, read: &[Item]) {
    let mut problems = Vec::new();
    let summary = FileVerifier::new().jobs(1).verify(path, |event| {
        if let VerifyEvent::Problem(error) = event {
            problems.push((error.kind().name(), error.record().unwrap(), error.offset().unwrap()));
        }
    });
    let summary = summary.unwrap();
    let bad: Vec<_> = read
        .iter()
        .filter_map(|(payload, record, offset)| Some((*payload.as_ref().err()?, *record, *offset)))
        .collect();
    assert_eq!(problems, bad);
    assert_eq!((summary.records, summary.bad), (read.len() as u64, bad.len() as u64));
}

fn salvage_agrees(path: &Path, plain: &[u8], read: &[Item]) {
    let mut salvage = match Salvage::open(path) {
        Ok(salvage) => salvage,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::NotTfrecord { .. }), "{error}");
            assert!(read.iter().all(|item| item.0.is_err()));
            return;
        }
    };
    let (mut at, mut lost) = (0, 0..0);
    let mut found = Vec::new();
    let mut payload = Vec::new();
    while let Some(part) = salvage.next() {
        match part.unwrap() {
            Salvaged::Record(span) => {
                assert_eq!(span.offset, at, "parts cover the file without a gap");
                at += span.payload_len + OVERHEAD as u64;
                salvage.read_into(span, &mut payload).unwrap();
                found.push((span.offset, payload.clone()));
            }
            Salvaged::Lost { range, .. } => {
                assert!(range.start == at && range.end > at, "{range:?} at {at}");
                at = range.end;
                lost = range;
            }
            Salvaged::Unproven(span) => {
                let end = span.offset + span.payload_len + OVERHEAD as u64;
                assert!(lost.start <= span.offset && end <= lost.end);
                salvage.read_into(span, &mut payload).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(at, plain.len() as u64);
    for (payload, _, offset) in read {
        if let Ok(payload) = payload {
            let place =
                found.binary_search_by_key(offset, |(at, _)| *at).expect("what can be read is salvaged");
            assert_eq!(found[place].1, *payload);
        }
    }
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/fmt"), data.join("golden/framing/files"), data.join("cases/parse")];
    let files: Vec<_> = folders.iter().flat_map(|folder| input::contents(folder, 1500)).collect();
    let modes = [0u8, 1, 3, 0x25 | 2, 1 | 4, 1 | 8, 3 | 12];
    let with_mode =
        |(i, file): (usize, &Vec<u8>)| [&[modes[i % modes.len()], (i * 7) as u8, 0][..], file].concat();
    files
        .iter()
        .enumerate()
        .map(with_mode)
        .chain(files.iter().map(|file| [&[0; 3][..], file].concat()))
        .collect()
}
