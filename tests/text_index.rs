//! The fear: an index of another tool is misread, or ours is written so that other tools misread it.

mod store_support;

use std::fs;

use store_support::*;
use tfrmap::{Error, Index};

/// The bytes of ten records as DALI's and vahidk's tools describe them.
const TEN: &str = "0 31\n31 31\n62 31\n93 31\n124 31\n155 31\n186 31\n217 31\n248 31\n279 31\n";

fn import(text: &[u8], data: &str) -> Result<Index, Error> {
    Index::from_text(text, case(data))
}

fn export(index: &Index, records: impl IntoIterator<Item = u64>) -> String {
    let mut text = Vec::new();
    index.write_text(&mut text, records).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn what_is_written_is_what_the_tools_write() {
    let index = Index::build(case("dirs/S02_ten/ten.tfrecord")).unwrap();
    assert_eq!(export(&index, 0..10), TEN);
    assert_eq!(export(&index, [7, 7, 0]), "217 31\n217 31\n0 31\n");
    assert_eq!(export(&index, []), "");
    assert_eq!(class(&index.write_text(Vec::new(), [10]).unwrap_err()), "InvalidArgument");
    let index = Index::build(case("idx/X01_before.tfrecord")).unwrap();
    assert_eq!(export(&index, 0..3).as_bytes(), case_bytes("idx/X05_dali.idx"));
}

#[test]
fn what_the_tools_write_is_read() {
    let data = "dirs/S02_ten/ten.tfrecord";
    let built = Index::build(case(data)).unwrap();
    for text in
        [TEN.to_string(), TEN.replace('\n', "\r\n"), TEN.replace(' ', "\t"), TEN.trim_end().to_string()]
    {
        let index = import(text.as_bytes(), data).unwrap();
        assert_eq!(index.checksum().unwrap(), built.checksum().unwrap());
        assert_eq!((index.len(), index.get(9)), (10, built.get(9)));
    }
    let index = import(&case_bytes("idx/X05_dali.idx"), "idx/X01_before.tfrecord").unwrap();
    assert_eq!(index.len(), 3);
    // One record; none.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, framed(&["alone"])).unwrap();
    assert_eq!(Index::from_text(b"0 21\n", &path).unwrap().len(), 1);
    fs::write(&path, b"").unwrap();
    assert_eq!(Index::from_text(b"", &path).unwrap().len(), 0);
}

#[test]
fn what_does_not_fit_is_named() {
    let three = "idx/X01_before.tfrecord";
    let cases: [(&[u8], &str, &[&str]); 14] = [
        (b"", three, &["IndexCorrupt"]),
        (&case_bytes("idx/X05d_dali_partial.idx"), three, &["IndexCorrupt"]),
        (b"0 21\n21 27\n48 3", three, &["IndexCorrupt"]),
        (b"0 21\n21 27\n48", three, &["IndexCorrupt"]),
        (b"0 21\n21 27\n4", three, &["IndexCorrupt"]),
        (b"0 21\n21 27\n48 ", three, &["IndexCorrupt"]),
        (b"0 21\n21 27\n", three, &["StaleIndex"]),
        (b"21 27\n0 21\n48 37\n", three, &["IndexMismatch"]),
        (b"0 21\n21 37\n58 27\n", three, &["IndexMismatch"]),
        (b"0 21\n21 27\n48 37\n85 21\n", three, &["IndexMismatch"]),
        (b"0 85\n", three, &["IndexMismatch"]),
        (b"# header\n0 21\n", three, &["IndexFormat"]),
        (b"0 21 x\n", three, &["IndexFormat"]),
        (b"0 18446744073709551615\n18446744073709551615 9\n", three, &["IndexMismatch", "IndexCorrupt"]),
    ];
    for (text, data, expected) in cases {
        let error = import(text, data).unwrap_err();
        assert!(expected.contains(&class(&error)), "{}: {error}", String::from_utf8_lossy(text));
        assert!(error.path().is_some());
    }
    assert_eq!(class(&import(&[0xff, 0xfe, b'0'], three).unwrap_err()), "IndexFormat");
}

#[test]
fn every_cut_of_a_text_is_noticed() {
    let data = "dirs/S02_ten/ten.tfrecord";
    for len in 0..TEN.len() - 1 {
        let error = import(&TEN.as_bytes()[..len], data).unwrap_err();
        assert!(["IndexCorrupt", "StaleIndex"].contains(&class(&error)), "{len}: {error}");
    }
}
