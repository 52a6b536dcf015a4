//! Any bytes as a JPEG: the same pixels by rows and at once, and a crop that equals the crop of the whole.

use std::path::Path;

use tfrmap::image::jpeg::{Crop, Damage, Dct, Decoder, Limits, Options, Output};

use super::input;

pub fn run(data: &[u8]) {
    let Some((&[ways, at, size], bytes)) = data.split_first_chunk() else { return };
    let options = Options {
        dct: if ways & 1 == 0 { Dct::Accurate } else { Dct::Fast },
        damage: if ways & 2 == 0 { Damage::Strict } else { Damage::Lenient },
        output: if ways & 4 == 0 { Output::Native } else { Output::Gray },
        limits: Limits { max_samples: 1 << 20, max_scans: 50 },
        crop: None,
    };
    let mut decoder = Decoder::new();
    let mut whole = Vec::new();
    let result = decoder.decode_into(bytes, &options, &mut whole);
    let mut rows = Vec::new();
    let by_rows = decoder.decode_rows(bytes, &options, |_: u32, row: &[u8]| rows.extend_from_slice(row));
    assert_eq!(result, by_rows);
    let Ok(info) = result else { return };
    assert_eq!(rows, whole);
    let channels = whole.len() / (info.width as usize * info.height as usize);
    let crop = Crop {
        x: u32::from(at) % info.width,
        y: u32::from(at) % info.height,
        width: (1 + u32::from(size)).min(info.width - u32::from(at) % info.width),
        height: (1 + u32::from(size)).min(info.height - u32::from(at) % info.height),
    };
    let mut part = Vec::new();
    decoder.decode_into(bytes, &Options { crop: Some(crop), ..options }, &mut part).unwrap();
    let columns = crop.x as usize * channels..(crop.x + crop.width) as usize * channels;
    let cut =
        whole.chunks_exact(info.width as usize * channels).skip(crop.y as usize).take(crop.height as usize);
    assert!(cut.flat_map(|row| &row[columns.clone()]).eq(&part));
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/img"), data.join("golden/images")];
    let files = folders.iter().flat_map(|folder| input::contents(folder, 3000));
    let jpegs = files.filter(|file| file.starts_with(b"\xff\xd8"));
    jpegs.enumerate().map(|(i, file)| [&[i as u8, (i * 3) as u8, 9][..], &file].concat()).collect()
}
