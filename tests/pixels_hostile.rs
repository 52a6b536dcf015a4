//! Fear: bytes made or broken by chance or malice crash the loader, hang it or fill the memory.

mod pixels_support;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tfrmap::ErrorKind;
use tfrmap::image::{
    AugmentKey, DecodeOptions, ImageSpec, ImageWorker, Limits, PixelsMut, PixelsVec, decode,
};

/// Every small picture in the repository.
fn pictures() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut found = Vec::new();
    for part in ["golden/images/inputs", "cases/img"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            if bytes.len() < 6000 {
                found.push((path.display().to_string(), bytes));
            }
        }
    }
    found.sort();
    assert!(found.len() > 100);
    found
}

fn try_all(worker: &mut ImageWorker, bytes: &[u8]) {
    let mut out = vec![0.0; 9 * 7 * 3];
    for spec in [ImageSpec::rgb(9, 7), ImageSpec::rgb(9, 7).antialias(true).exif(true)] {
        let spec = spec.limits(Limits { pixels: 1 << 22, ..Limits::default() });
        let result = worker.run(bytes, &spec, AugmentKey::default(), PixelsMut::F32(&mut out));
        if let Err(error) = result {
            assert!(!matches!(error.kind(), ErrorKind::Panicked), "{error}");
            assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
        }
    }
}

#[test]
fn cut_pictures_are_errors_or_pictures() {
    let mut worker = ImageWorker::new();
    for (name, bytes) in pictures() {
        eprintln!("{name}");
        for end in (0..bytes.len().min(1000)).step_by(37).chain([bytes.len() - bytes.len().min(1)]) {
            try_all(&mut worker, &bytes[..end]);
        }
    }
}

#[test]
fn limits_hold_for_every_format() {
    for (name, bytes) in pictures() {
        let limits = Limits { pixels: 60, ..Limits::default() };
        let Ok(image) = decode(&bytes, &DecodeOptions::default()) else { continue };
        let result = decode(&bytes, &DecodeOptions { limits, ..DecodeOptions::default() });
        if u64::from(image.height) * u64::from(image.width) > 60 {
            assert_eq!(*result.unwrap_err().kind(), ErrorKind::ImageTooLarge, "{name}");
        } else {
            assert_eq!(result.unwrap(), image, "{name}");
        }
        let limits = Limits { bytes: bytes.len() as u64 - 1, ..Limits::default() };
        let result = decode(&bytes, &DecodeOptions { limits, ..DecodeOptions::default() });
        assert_eq!(*result.unwrap_err().kind(), ErrorKind::ImageTooLarge, "{name}");
    }
}

#[test]
fn outputs_of_the_wrong_kind_are_refused() {
    let (_, bytes) = pictures().into_iter().find(|(name, _)| name.ends_with("jpg_gray.jpg")).unwrap();
    let (mut worker, key) = (ImageWorker::new(), AugmentKey::default());
    let spec = ImageSpec::rgb(4, 4);
    let invalid = |result: Result<(), tfrmap::Error>| {
        assert_eq!(*result.unwrap_err().kind(), ErrorKind::InvalidArgument);
    };
    invalid(worker.run(&bytes, &spec, key, PixelsMut::F32(&mut [0.0; 47])).map(drop));
    invalid(worker.run(&bytes, &spec, key, PixelsMut::U8(&mut [0; 48])).map(drop));
    invalid(worker.run(&bytes, &ImageSpec::keep_size(), key, PixelsMut::F32(&mut [0.0; 48])).map(drop));
    invalid(worker.run_keep(&bytes, &spec, key, PixelsVec::U8(&mut Vec::new())).map(drop));
    let outside = ImageSpec::rgb(4, 4).crop(u32::MAX, 0, 2, 2);
    invalid(worker.run(&bytes, &outside, key, PixelsMut::F32(&mut [0.0; 48])).map(drop));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn mutated_pictures_are_errors_or_pictures(
        which: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        thread_local! {
            static PICTURES: Vec<(String, Vec<u8>)> = pictures();
        }
        let mut bytes = PICTURES.with(|pictures| which.get(pictures).1.clone());
        if !bytes.is_empty() {
            for (at, value) in changes {
                *at.get_mut(&mut bytes) = value;
            }
        }
        try_all(&mut ImageWorker::new(), &bytes);
    }

    #[test]
    fn made_up_bytes_are_errors(bytes in prop::collection::vec(any::<u8>(), 0..64), start in 0usize..8) {
        let starts: [&[u8]; 8] =
            [b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"RIFF\0\0\0\0WEBP", b"II*\0", b"\xff\xd8"];
        let bytes = [starts[start], bytes.as_slice()].concat();
        try_all(&mut ImageWorker::new(), &bytes);
    }
}
