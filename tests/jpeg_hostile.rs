//! Fear: a file that panics, hangs, or takes gigabytes, whatever its bytes are.

// The order of bytes in a JPEG file.
#![allow(clippy::big_endian_bytes)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tfrmap::image::jpeg::{Crop, Damage, Dct, Decoder, Error, Limits, Options, Output, decode, read_info};

fn input(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/images/inputs").join(name))
        .unwrap()
}

/// Position of a marker's FF.
fn find(bytes: &[u8], marker: u8) -> usize {
    bytes.windows(2).position(|pair| pair == [0xff, marker]).unwrap()
}

/// Writes another size into the frame header.
fn resize(bytes: &mut [u8], width: u16, height: u16) {
    let sof = bytes.windows(2).position(|p| p[0] == 0xff && (p[1] == 0xc0 || p[1] == 0xc2)).unwrap();
    bytes[sof + 5..sof + 7].copy_from_slice(&height.to_be_bytes());
    bytes[sof + 7..sof + 9].copy_from_slice(&width.to_be_bytes());
}

#[test]
fn sizes_above_the_limits_are_refused_from_the_header() {
    for name in ["jpg_q100.jpg", "jpg_prog_422.jpg", "jpg_gray.jpg", "jpg_cmyk_adobe.jpg"] {
        let mut bytes = input(name);
        for (width, height) in [(65_500, 65_500), (65_535, 8), (8, 65_535), (65_501, 1), (30_000, 30_000)] {
            resize(&mut bytes, width, height);
            let start = Instant::now();
            let result = decode(&bytes, &Options::default());
            assert!(matches!(result, Err(Error::TooLarge { .. })), "{name} {width} x {height}: {result:?}");
            assert!(matches!(read_info(&bytes), Err(Error::TooLarge { .. })));
            assert!(start.elapsed() < Duration::from_millis(50), "{name}: {:?}", start.elapsed());
        }
    }
    let mut bytes = input("jpg_gray.jpg");
    resize(&mut bytes, 100, 100);
    let limits = Limits { max_samples: 9_999, ..Limits::default() };
    assert!(matches!(
        decode(&bytes, &Options { limits, ..Options::default() }),
        Err(Error::TooLarge { width: 100, height: 100, .. })
    ));
}

/// A large size with next to no data: an error (or gray) in time, and no more memory than was decoded.
#[test]
fn a_header_that_promises_too_much_costs_little() {
    for name in ["jpg_q100.jpg", "jpg_gray.jpg"] {
        let mut bytes = input(name);
        resize(&mut bytes, 12_000, 12_000);
        bytes.truncate(bytes.len() - 2);
        let mut out = Vec::new();
        let start = Instant::now();
        let result = Decoder::new().decode_into(&bytes, &Options::default(), &mut out);
        assert!(matches!(result, Err(Error::Truncated { .. })), "{name}: {result:?}");
        assert!(out.capacity() < 1 << 24, "{name}: {}", out.capacity());
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
    }
}

/// The file with one of its scans many times more.
fn repeat_scan(bytes: &[u8], times: usize, data: &[u8]) -> Vec<u8> {
    let sos = find(bytes, 0xda);
    let length = usize::from(u16::from_be_bytes([bytes[sos + 2], bytes[sos + 3]])) + 2;
    let end = bytes.len() - 2;
    let mut out = bytes[..end].to_vec();
    for _ in 0..times {
        out.extend_from_slice(&bytes[sos..sos + length]);
        out.extend_from_slice(data);
    }
    out.extend_from_slice(&bytes[end..]);
    out
}

#[test]
fn thousands_of_scans_end_in_time() {
    let progressive = input("jpg_prog_422.jpg");
    for (times, data) in
        [(900, &[][..]), (900, &[0x55; 40][..]), (100_000, &[][..]), (100_000, &[0xaa; 3][..])]
    {
        let bomb = repeat_scan(&progressive, times, data);
        let start = Instant::now();
        let result = decode(&bomb, &Options::default());
        assert!(start.elapsed() < Duration::from_secs(10), "{times}: {:?}", start.elapsed());
        assert_eq!(matches!(result, Err(Error::TooManyScans { .. })), times > 1000, "{times}: {result:?}");
    }
}

#[test]
fn scans_of_a_large_picture_are_counted_by_their_blocks() {
    let mut progressive = input("jpg_prog_422.jpg");
    resize(&mut progressive, 5_000, 5_000);
    let bomb = repeat_scan(&progressive, 900, &[]);
    let start = Instant::now();
    let result = decode(&bomb, &Options { damage: Damage::Lenient, ..Options::default() });
    assert!(matches!(result, Err(Error::TooManyScans { .. })), "{result:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Decodes in several ways; only a panic fails.
fn decode_all_ways(bytes: &[u8], decoder: &mut Decoder) {
    let limits = Limits { max_samples: 1 << 22, ..Limits::default() };
    let mut out = Vec::new();
    for (dct, damage, output, crop) in [
        (Dct::Accurate, Damage::Strict, Output::Native, None),
        (Dct::Fast, Damage::Lenient, Output::Gray, None),
        (Dct::Accurate, Damage::Lenient, Output::Rgb, Some(Crop { x: 3, y: 9, width: 11, height: 17 })),
    ] {
        let options = Options { dct, damage, output, crop, limits: limits.clone() };
        let _ = decoder.decode_into(bytes, &options, &mut out);
    }
    let _ = read_info(bytes);
}

#[test]
fn no_damage_panics() {
    let names = [
        "jpg_q100.jpg",
        "jpg_base_411.jpg",
        "jpg_base_441.jpg",
        "jpg_gray_2x2.jpg",
        "jpg_prog_422.jpg",
        "jpg_prog_rst.jpg",
        "jpg_rst_3b.jpg",
        "jpg_cmyk_adobe.jpg",
        "jpg_ycck_adobe_420.jpg",
        "jpg_no_dht.jpg",
    ];
    let mut decoder = Decoder::new();
    let mut random = Random(5);
    for name in names {
        let bytes = input(name);
        for length in (0..bytes.len()).step_by(7) {
            decode_all_ways(&bytes[..length], &mut decoder);
        }
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(4) {
                let range = if random.below(2) == 0 { damaged.len().min(700) } else { damaged.len() };
                let at = random.below(range);
                match random.below(4) {
                    0 => damaged[at] ^= 1 << random.below(8),
                    1 => damaged[at] = [0, 0xff, 0xd9, 0xd3][random.below(4)],
                    2 => drop(damaged.drain(at..(at + 9).min(range))),
                    _ => damaged.insert(at, random.below(256) as u8),
                }
            }
            decode_all_ways(&damaged, &mut decoder);
        }
    }
}
