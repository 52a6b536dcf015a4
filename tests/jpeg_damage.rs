//! Fear: a cut file taken for a whole one, damage that passes uncounted, or a recovery that loses good rows.

use std::fs;
use std::path::Path;

use tfrmap::image::jpeg::{Damage, Error, Options, Output, decode};

fn input(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/images/inputs").join(name))
        .unwrap()
}

fn lenient() -> Options {
    Options { damage: Damage::Lenient, ..Options::default() }
}

#[test]
fn every_prefix_is_an_error_unless_lenient() {
    for name in ["jpg_q100.jpg", "jpg_gray.jpg", "jpg_rst_3b.jpg", "jpg_prog_422.jpg", "jpg_cmyk_adobe.jpg"] {
        let bytes = input(name);
        assert!(bytes.ends_with(&[0xff, 0xd9]));
        for length in 0..bytes.len() {
            let result = decode(&bytes[..length], &Options::default());
            assert!(matches!(result, Err(Error::Truncated { .. })), "{name}, {length} bytes: {result:?}");
        }
    }
}

#[test]
fn a_lenient_decode_keeps_the_rows_before_the_cut() {
    let bytes = input("photo_chelsea_451x300_444.jpg");
    let whole = decode(&bytes, &Options::default()).unwrap();
    assert_eq!(whole.info.warnings, 0);
    for percent in [30, 60, 90, 99] {
        let cut = decode(&bytes[..bytes.len() * percent / 100], &lenient()).unwrap();
        assert!(cut.info.warnings > 0, "{percent} %");
        assert_eq!((cut.width, cut.height), (whole.width, whole.height));
        let same = cut.pixels.iter().zip(&whole.pixels).take_while(|(a, b)| a == b).count();
        let rows = same / (whole.width as usize * 3);
        assert!(rows >= whole.height as usize * (percent - 20) / 100, "{percent} %: {rows} rows");
        assert!(cut.pixels[cut.pixels.len() - 300..].iter().all(|&v| v == 128) || percent == 99);
    }
}

#[test]
fn a_sound_file_is_the_same_either_way() {
    for name in ["jpg_q100.jpg", "jpg_rst_1b_444.jpg", "jpg_prog_rst.jpg", "jpg_ycck_adobe_420.jpg"] {
        let bytes = input(name);
        let strict = decode(&bytes, &Options::default()).unwrap();
        assert_eq!(strict.info.warnings, 0, "{name}");
        assert_eq!(decode(&bytes, &lenient()).unwrap(), strict, "{name}");
    }
}

#[test]
fn damage_within_the_data_is_filled_and_counted() {
    for name in
        ["jpg_rst_wrong_index.jpg", "jpg_rst_missing.jpg", "jpg_early_eoi.jpg", "jpg_taller_than_data.jpg"]
    {
        let image = decode(&input(name), &Options::default()).unwrap();
        assert!(image.info.warnings > 0, "{name}");
    }
}

#[test]
fn kinds_that_are_not_decoded_are_named() {
    let what = |name: &str| match decode(&input(name), &Options::default()) {
        Err(Error::Unsupported { what, .. }) => what,
        other => panic!("{name}: {other:?}"),
    };
    assert!(what("jpg_12bit.jpg").contains("12-bit"));
    assert!(what("jpg_arith.jpg").contains("arithmetic"));
    assert!(what("jpg_arith_prog.jpg").contains("arithmetic"));
    assert!(what("jpg_ls.jpg").contains("JPEG-LS"));
    assert!(what("jpg_height0.jpg").contains("DNL"));
    let mut lossless = input("jpg_q100.jpg");
    let sof = lossless.windows(2).position(|p| p == [0xff, 0xc0]).unwrap();
    lossless[sof + 1] = 0xc3;
    assert!(
        matches!(decode(&lossless, &Options::default()), Err(Error::Unsupported { what, .. }) if what.contains("lossless"))
    );
    let gray_of_inks = Options { output: Output::Gray, ..Options::default() };
    assert!(matches!(decode(&input("jpg_cmyk_adobe.jpg"), &gray_of_inks), Err(Error::Unsupported { .. })));
}

#[test]
fn errors_say_what_and_where() {
    let error = decode(b"GIF89a", &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "bad JPEG: no SOI marker at the start: not a JPEG file at byte 0");
    let error = decode(&input("jpg_trunc_base_75.jpg"), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "JPEG ends early, at byte 1137");
    assert_eq!(error.offset(), Some(1137));
}
