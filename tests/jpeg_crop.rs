//! Fear: a crop window whose pixels are not those of the whole picture, at its edges above all; rows handed over in
//! another order, twice, or not at all.

use std::fs;
use std::path::Path;

use tfrmap::image::jpeg::{
    Crop, Damage, Dct, Decoder, Error, Image, Options, Output, RowSink, decode, read_info,
};

fn inputs() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/images/inputs");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let jpegs = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "jpg"));
    jpegs.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

/// Windows at the corners, edges, in the middle, and of single rows, columns and pixels.
fn windows(width: u32, height: u32) -> Vec<Crop> {
    let spans = |n: u32| {
        let mut spans = vec![(0, n), (0, 1), (n - 1, 1), (n / 3, n - n / 3), (n / 2, 1), (0, n.div_ceil(2))];
        spans.extend(
            [7, 8, 9, 15, 16, 17, 31, 33].into_iter().filter(|&at| at < n).map(|at| (at, (n - at).min(9))),
        );
        spans
    };
    let (xs, ys) = (spans(width), spans(height));
    // Each column span with each of a few row spans, and the other way round.
    let all =
        xs.iter().enumerate().flat_map(|(i, x)| ys.iter().enumerate().map(move |(j, y)| (i, j, *x, *y)));
    all.filter(|(i, j, ..)| i % 3 == j % 3 || *i == 0 || *j == 0)
        .map(|(_, _, (x, width), (y, height))| Crop { x, y, width, height })
        .collect()
}

fn cut(pixels: &[u8], width: usize, channels: usize, crop: Crop) -> Vec<u8> {
    let rows = pixels.chunks_exact(width * channels).skip(crop.y as usize).take(crop.height as usize);
    let part = crop.x as usize * channels..(crop.x + crop.width) as usize * channels;
    rows.flat_map(|row| row[part.clone()].to_vec()).collect()
}

/// Decodes each window alone and compares it with that part of the whole; gives their number.
fn compare_windows(decoder: &mut Decoder, bytes: &[u8], options: &Options, whole: &Image, what: &str) -> u32 {
    let (mut pixels, windows) = (Vec::new(), windows(whole.width, whole.height));
    for crop in &windows {
        let options = Options { crop: Some(*crop), ..options.clone() };
        decoder.decode_into(bytes, &options, &mut pixels).unwrap();
        let want = cut(&whole.pixels, whole.width as usize, whole.channels, *crop);
        assert!(pixels == want, "{what}: {crop:?}");
    }
    windows.len() as u32
}

#[test]
fn a_window_equals_the_crop_of_the_whole() {
    let mut decoder = Decoder::new();
    let mut checked = 0;
    for (name, bytes) in inputs() {
        for (dct, output) in [(Dct::Accurate, Output::Native), (Dct::Fast, Output::Gray)] {
            let options = Options { dct, output, ..Options::default() };
            let Ok(whole) = decode(&bytes, &options) else { continue };
            checked += compare_windows(&mut decoder, &bytes, &options, &whole, &format!("{name}, {dct:?}"));
        }
    }
    assert!(checked > 5000, "only {checked} windows");
}

#[test]
fn a_window_of_a_damaged_picture_equals_the_crop_of_the_whole() {
    let mut decoder = Decoder::new();
    let (mut checked, mut changed) = (0, 0);
    for (name, mut bytes) in inputs().into_iter().filter(|(name, _)| name.contains("photo_")) {
        let sound = decode(&bytes, &Options::default()).unwrap();
        for at in 1..6 {
            let at = bytes.len() * at / 6;
            bytes[at] ^= 0x55;
            let options = Options { damage: Damage::Lenient, ..Options::default() };
            let Ok(whole) = decode(&bytes, &options) else { continue };
            let what = format!("{name}, damaged at {at}");
            checked += compare_windows(&mut decoder, &bytes, &options, &whole, &what);
            changed += u32::from(whole.pixels != sound.pixels);
        }
    }
    assert!(checked > 500 && changed > 3, "only {checked} windows of {changed} damaged pictures");
}

/// Wants every other row; notes what it gets.
#[derive(Default)]
struct Noter {
    rows: Vec<(u32, Vec<u8>)>,
    asked: Vec<u32>,
}

impl RowSink for &mut Noter {
    fn wants(&mut self, y: u32) -> bool {
        self.asked.push(y);
        y % 2 == 1
    }

    fn row(&mut self, y: u32, pixels: &[u8]) {
        self.rows.push((y, pixels.to_vec()));
    }
}

#[test]
fn rows_come_once_in_order_and_only_where_wanted() {
    for (name, bytes) in inputs() {
        let Ok(whole) = decode(&bytes, &Options::default()) else { continue };
        let row_bytes = whole.pixels.len() / whole.height as usize;
        let mut noter = Noter::default();
        Decoder::new().decode_rows(&bytes, &Options::default(), &mut noter).unwrap();
        assert!(noter.asked.iter().copied().eq(0..whole.height), "{name}");
        assert_eq!(noter.rows.len(), whole.height as usize / 2, "{name}");
        for (y, row) in &noter.rows {
            assert!(
                y % 2 == 1 && whole.pixels[*y as usize * row_bytes..][..row_bytes] == row[..],
                "{name} row {y}"
            );
        }
    }
}

#[test]
fn windows_outside_the_picture_are_refused() {
    let (_, bytes) = inputs().into_iter().find(|(name, _)| name.ends_with("jpg_gray.jpg")).unwrap();
    let info = read_info(&bytes).unwrap();
    for (x, y, width, height) in [
        (0, 0, 0, 1),
        (0, 0, 1, 0),
        (0, 0, info.width + 1, 1),
        (info.width, 0, 1, 1),
        (0, info.height, 1, 1),
        (1, 0, u32::MAX, 1),
        (u32::MAX, u32::MAX, u32::MAX, u32::MAX),
    ] {
        let options = Options { crop: Some(Crop { x, y, width, height }), ..Options::default() };
        assert!(matches!(decode(&bytes, &options), Err(Error::Options { .. })), "{x} {y} {width} {height}");
    }
}
