//! The fear: a few bytes make the process ask for more memory than there is, and it is ended instead of told.
//!
//! Each case runs in a process of its own whose address space is capped: what cannot be had must be an error with a reason.
#![cfg(unix)]

mod store_support;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use store_support::*;
use tfrmap::image::{DecodeOptions, ImageSpec, decode};
use tfrmap::{
    Access, Dataset, Example, ExampleBuilder, Features, FileVerifier, Index, IndexBuilder, RecordReader,
    Salvage, Salvaged, State, Store,
};

/// The address space that a case has, in KiB. A test program alone takes a few tens of MB.
const CAP: u64 = 400 << 10;
/// More than there is.
const HUGE: u64 = 600 << 20;

/// The header of a frame, its CRC right.
fn header(len: u64) -> Vec<u8> {
    let crc = tfr_crc(&len.to_le_bytes());
    [&len.to_le_bytes()[..], &crc.to_le_bytes()].concat()
}

/// The masked CRC, as the writer writes it.
fn tfr_crc(bytes: &[u8]) -> u32 {
    framed(&[bytes]).last_chunk().copied().map(u32::from_le_bytes).unwrap()
}

/// Gzip members, of which most are the same MBs of zeros.
fn gzipped(head: &[u8], zeros: usize) -> Vec<u8> {
    let member = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    [member(head), member(&vec![0; 16 << 20]).repeat(zeros / (16 << 20))].concat()
}

/// A sparse file that begins with these bytes.
fn sparse(path: &Path, head: &[u8], len: u64) {
    fs::write(path, head).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

type Case = (&'static str, fn(&Path) -> String);

/// What each case is told, as `class: text`.
const CASES: &[Case] = &[
    ("a compressed record larger than memory", |folder| {
        let path = folder.join("bomb.gz");
        fs::write(&path, gzipped(&header(HUGE), 640 << 20)).unwrap();
        told(RecordReader::open(&path).unwrap().next().unwrap().unwrap_err())
    }),
    ("a compressed stream larger than memory, of small records", |folder| {
        // Half a gigabyte in less than one megabyte: as long as records are small, so is the memory.
        let one = framed(&[vec![0; 1 << 20]]);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        (0..64).for_each(|_| encoder.write_all(&one).unwrap());
        let path = folder.join("long.gz");
        fs::write(&path, encoder.finish().unwrap().repeat(8)).unwrap();
        let mut reader = RecordReader::open(&path).unwrap();
        let mut payload = Vec::new();
        while reader.read_into(&mut payload).unwrap() {}
        format!("read {} records", reader.record())
    }),
    ("a claim larger than memory in a stream", |_| {
        let zeros = std::io::repeat(0).take(HUGE);
        let bytes = header(HUGE - 16);
        told(RecordReader::new(bytes.chain(zeros)).next().unwrap().unwrap_err())
    }),
    ("a record larger than memory, read", |folder| {
        let path = folder.join("data");
        sparse(&path, &header(HUGE), HUGE + 16);
        told(Store::open_with(&in_memory(Access::Read), &path).unwrap().get(0).unwrap_err())
    }),
    ("a record larger than memory, mapped", |folder| {
        let path = folder.join("data");
        sparse(&path, &header(HUGE), HUGE + 16);
        told(Store::open_with(&in_memory(Access::Map), &path).unwrap().get(0).unwrap_err())
    }),
    ("a record larger than memory, as the system likes it", |folder| {
        let path = folder.join("data");
        sparse(&path, &header(HUGE), HUGE + 16);
        let dataset = Dataset::open_with(&in_memory(Access::Auto), [&path]).unwrap();
        let batch = dataset.with_features(Features::raw()).batches(1).next().unwrap();
        told(batch.map(drop).unwrap_err())
    }),
    ("a record larger than memory, verified and salvaged", |folder| {
        let path = folder.join("data");
        sparse(&path, &header(HUGE), HUGE + 16);
        let report =
            IndexBuilder::new().check(true).jobs(1).build(std::slice::from_ref(&path), |_| {}).remove(0);
        let lost = Salvage::open(&path).unwrap().map(Result::unwrap);
        assert_eq!(lost.filter(|part| matches!(part, Salvaged::Lost { .. })).count(), 1);
        let summary = FileVerifier::new().jobs(1).verify(&path, |_| {}).unwrap();
        assert_eq!((summary.records, summary.good), (1, 0));
        told(report.error.unwrap())
    }),
    ("an index that claims more records than memory holds", |folder| {
        let path = data_in(folder);
        let index = sidecar(&path);
        let mut head = fs::read(&index).unwrap();
        let count: u64 = 200_000_000;
        head[16..24].copy_from_slice(&count.to_le_bytes());
        let crc = crc32c::crc32c(&head[..36]).to_le_bytes();
        head[36..40].copy_from_slice(&crc);
        sparse(&index, &head[..48], 40 + 8 * (count + 1) + 4 * count + 4);
        let error = Store::open(&path).and_then(|store| store.get(0)).unwrap_err();
        assert_eq!(
            IndexBuilder::new().build(std::slice::from_ref(&path), |_| {})[0].status.name(),
            "rebuilt"
        );
        assert_eq!(read_all(&Store::open(&path).unwrap()).unwrap(), payloads(100));
        told(error)
    }),
    ("an index of more records than memory holds, saved again", |folder| {
        let path = data_in(folder);
        let index = sidecar(&path);
        let mut head = fs::read(&index).unwrap();
        let count: u64 = 200_000_000;
        head[16..24].copy_from_slice(&count.to_le_bytes());
        head[24..32].copy_from_slice(&(16 * count).to_le_bytes());
        let crc = crc32c::crc32c(&head[..36]).to_le_bytes();
        head[36..40].copy_from_slice(&crc);
        sparse(&index, &head[..48], 40 + 8 * (count + 1) + 4 * count + 4);
        told(Index::open(&path).unwrap().save(folder.join("other")).map(drop).unwrap_err())
    }),
    ("a JPEG's header that claims all that is allowed", |_| {
        let mut picture = case_bytes("img/D22a_photo_baseline_420.jpg");
        let sof = picture.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
        picture[sof + 5..sof + 9].copy_from_slice(&[0x2c, 0, 0x2c, 0]);
        told(decode(&picture, &DecodeOptions::default()).map(drop).unwrap_err())
    }),
    ("a progressive JPEG's header that claims all that is allowed", |_| {
        let mut picture = case_bytes("img/D22b_photo_progressive.jpg");
        let sof = picture.windows(2).position(|pair| pair == [0xff, 0xc2]).unwrap();
        picture[sof + 5..sof + 9].copy_from_slice(&[0x2c, 0, 0x2c, 0]);
        told(decode(&picture, &DecodeOptions::default()).map(drop).unwrap_err())
    }),
    ("a PNG of all that is allowed, in a few bytes", |_| {
        told(decode(&large_png(11_000, 11_000), &DecodeOptions::default()).map(drop).unwrap_err())
    }),
    ("PNGs whose notes and colour profile inflate to more than memory", |_| {
        let (mut zeros, mut encoder) = (0, ZlibEncoder::new(Vec::new(), Compression::fast()));
        while zeros < HUGE {
            encoder.write_all(&[0; 1 << 16]).unwrap();
            zeros += 1 << 16;
        }
        let zeros = encoder.finish().unwrap();
        for (kind, head) in
            [(b"zTXt", &b"note\0\0"[..]), (b"iTXt", b"note\0\x01\0\0\0"), (b"iCCP", b"name\0\0")]
        {
            let picture = with_chunk(large_png(3, 2), *kind, &[head, &zeros].concat());
            let decoded = decode(&picture, &DecodeOptions::default()).unwrap();
            assert_eq!((decoded.height, decoded.width), (2, 3));
        }
        "passed over".into()
    }),
    ("a picture over the limit", |_| {
        let png = case_bytes("img/D11b_bomb_png_20000x20000_1bit.png");
        told(decode(&png, &DecodeOptions::default()).map(drop).unwrap_err())
    }),
    ("a batch larger than memory", |folder| {
        let path = folder.join("pictures");
        let picture = case_bytes("img/D22a_photo_baseline_420.jpg");
        let example = ExampleBuilder::new().bytes("image", picture).encode();
        fs::write(&path, framed(&vec![example; 40])).unwrap();
        let dataset = Dataset::open_with(&in_memory(Access::Map), [&path]).unwrap();
        let dataset = dataset.with_features(Features::new().image("image", ImageSpec::rgb(4000, 4000)));
        let batch = dataset.batches(40).next().unwrap();
        told(batch.map(drop).unwrap_err())
    }),
    ("shapes larger than memory", |_| {
        let features = Features::new().padded::<i64>("ids", [1 << 40]);
        told(features.parse(&[ExampleBuilder::new().int64("ids", 1).encode()]).map(drop).unwrap_err())
    }),
    ("JSON nested a million deep", |_| {
        let text = "[".repeat(1_000_000);
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_err());
        told(State::from_json(&text).unwrap_err())
    }),
    ("JSON of many megabytes", |_| {
        let text = format!("{{\"columns\":[{}1]}}", "1,".repeat(500_000));
        let json = serde_json::from_str(&text).unwrap();
        told(Features::from_json(&json).unwrap_err())
    }),
    ("a payload of nothing but nesting", |_| {
        let payload = vec![0x0b; 10 << 20];
        told(Example::parse(&payload).map(drop).unwrap_err())
    }),
];

fn told(error: tfrmap::Error) -> String {
    format!("{}: {error}", class(&error))
}

fn data_in(folder: &Path) -> PathBuf {
    let path = folder.join("data");
    fs::write(&path, framed(&payloads(100))).unwrap();
    Index::build(&path).unwrap().save(&path).unwrap();
    path
}

/// A valid gray PNG of nothing but zeros.
fn large_png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    let mut stream = writer.stream_writer().unwrap();
    (0..height).for_each(|_| stream.write_all(&vec![0; width as usize]).unwrap());
    stream.finish().unwrap();
    drop(writer);
    bytes
}

// The order of bytes in a PNG file.
#[allow(clippy::big_endian_bytes)]
/// A PNG with one more chunk, after its header.
fn with_chunk(mut png: Vec<u8>, kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    const HEADER_END: usize = 8 + 25;
    let mut crc = flate2::Crc::new();
    crc.update(&kind);
    crc.update(data);
    let (len, crc) = ((data.len() as u32).to_be_bytes(), crc.sum().to_be_bytes());
    png.splice(HEADER_END..HEADER_END, [&len[..], &kind, data, &crc].concat());
    png
}

/// Not a test of its own: the cap is the whole process's.
#[test]
fn child_runs_a_case() {
    let Some(folder) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    let number: usize = std::env::var("TFRMAP_TEST_CASE").unwrap().parse().unwrap();
    println!("TOLD {}", CASES[number].1(&folder));
}

#[test]
fn what_does_not_fit_is_an_error_and_no_abort() {
    let mut told = Vec::new();
    let mut failed = Vec::new();
    for (number, (name, _)) in CASES.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let script =
            format!("ulimit -v {CAP}; exec \"$0\" child_runs_a_case --exact --nocapture --test-threads=1");
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env("TFRMAP_TEST_TARGET", folder.path())
            .env("TFRMAP_TEST_CASE", number.to_string())
            .env("RAYON_NUM_THREADS", "2")
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        match text.lines().find_map(|line| Some(line.split_once("TOLD ")?.1)) {
            Some(line) if output.status.success() => told.push(format!("{name}: {line}")),
            _ => {
                failed.push(format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
            }
        }
    }
    println!("{}", told.join("\n"));
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), CASES.len(), failed.join("\n"));
}
