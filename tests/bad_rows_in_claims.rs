//! The fear: small records are read many at a time, and a bad one among them gives its place, or half of its values, to another.

use std::path::Path;

use tfrmap::{Batch, Column, Dataset, DatasetWriter, ExampleBuilder, Features, OnError};

const RECORDS: i64 = 700;

fn is_bad(i: i64) -> bool {
    i % 50 == 49 || (300..320).contains(&i) || i == RECORDS - 1
}

/// Record `i` holds `i`, and `i % 4` times each of a float, a string and an integer. A bad one lacks its name only, so that the
/// columns before were read when it is known to be bad, and the ones behind were not.
fn write(folder: &Path) -> Dataset {
    let mut writer = DatasetWriter::create(folder.join("small")).unwrap();
    for i in 0..RECORDS {
        let many = (i % 4) as usize;
        let mut example = ExampleBuilder::new()
            .int64("id", i)
            .floats("pair", [i as f32, 0.5])
            .floats("floats", vec![i as f32; many])
            .bytes_list("strings", vec![i.to_string(); many])
            .int64s("ints", vec![i; many])
            .int64("last", -i);
        if !is_bad(i) {
            example = example.bytes("name", format!("record {i}"));
        }
        writer.write(&example.encode()).unwrap();
    }
    let features = Features::new()
        .fixed_len::<i64>("id", [])
        .fixed_len::<f32>("pair", [2])
        .var_len::<f32>("floats")
        .var_len::<Vec<u8>>("strings")
        .fixed_len::<Vec<u8>>("name", [])
        .padded::<i64>("ints", [])
        .fixed_len::<i64>("last", []);
    writer.finish().unwrap().with_features(features)
}

/// The part of each row in the values of a column of varying length.
fn parts(column: &Column) -> Vec<std::ops::Range<usize>> {
    let mut end = 0;
    let lengths = column.row_lengths().unwrap().iter();
    lengths
        .map(|length| {
            end += length;
            end - length..end
        })
        .collect()
}

/// Every row holds what its record holds, or nothing where it is masked.
fn check(batch: &Batch) {
    let int64s = |key: &str| batch.column(key).unwrap().get::<i64>().unwrap();
    let strings = |key: &str| batch.column(key).unwrap().get::<Vec<u8>>().unwrap();
    let pairs = batch.column("pair").unwrap().get::<f32>().unwrap();
    let (floats, texts) = (batch.column("floats").unwrap(), batch.column("strings").unwrap());
    let (float_parts, text_parts) = (parts(floats), parts(texts));
    let ints = batch.column("ints").unwrap();
    let longest = ints.shape().unwrap()[1];
    for (row, (&index, &valid)) in batch.indices().iter().zip(batch.valid()).enumerate() {
        let i = index as i64;
        assert_eq!(valid, !is_bad(i), "record {i}");
        let (id, many) = if valid { (i, (i % 4) as usize) } else { (0, 0) };
        assert_eq!((int64s("id")[row], int64s("last")[row]), (id, -id));
        assert_eq!(pairs[2 * row..][..2], if valid { [i as f32, 0.5] } else { [0.0; 2] });
        let name = if valid { format!("record {i}") } else { String::new() };
        assert_eq!(strings("name").get(row), Some(name.as_bytes()));
        assert_eq!(floats.get::<f32>().unwrap()[float_parts[row].clone()], vec![i as f32; many]);
        let texts: Vec<&[u8]> = strings("strings").iter().collect();
        assert_eq!(texts[text_parts[row].clone()], vec![i.to_string().as_bytes(); many]);
        assert_eq!(ints.row_lengths().unwrap()[row], many);
        let filled = &int64s("ints")[row * longest..][..longest];
        assert!(
            filled[..many].iter().all(|&value| value == i) && filled[many..].iter().all(|&value| value == 0)
        );
    }
}

#[test]
fn a_bad_row_leaves_nothing_to_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = write(folder.path());
    let bad = (0..RECORDS).filter(|&i| is_bad(i)).count();
    for threads in [1, 2, 7] {
        for size in [64, 300, 1000] {
            let batches = || dataset.clone().shuffled(4).batches(size).threads(threads);
            let (mut masked, mut skipped) = (0, 0);
            for batch in batches().on_error(OnError::Mask { limit: 100 }) {
                let batch = batch.unwrap();
                check(&batch);
                masked += batch.valid().iter().filter(|valid| !**valid).count();
            }
            for batch in batches().on_error(OnError::Skip { limit: 100 }) {
                let batch = batch.unwrap();
                check(&batch);
                skipped += batch.len();
            }
            assert_eq!((masked, skipped), (bad, RECORDS as usize - bad));
        }
    }
}

/// A flipped bit in the payload of a raw record costs that record alone.
#[test]
fn a_damaged_raw_record_leaves_nothing_to_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw");
    let mut writer = DatasetWriter::create(&path).unwrap();
    (0..RECORDS).for_each(|i| writer.write(format!("record {i}").as_bytes()).unwrap());
    drop(writer.finish().unwrap());
    let store = tfrmap::Store::open(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    for i in (0..RECORDS).filter(|&i| is_bad(i)) {
        bytes[store.span(i as u64).unwrap().offset as usize + 13] ^= 4;
    }
    // Replaced by rename, as the contract of a map asks for.
    std::fs::write(folder.path().join("new"), bytes).unwrap();
    std::fs::rename(folder.path().join("new"), &path).unwrap();
    let dataset = Dataset::open(&path).unwrap().with_features(Features::raw()).shuffled(4);
    let mut rows = 0;
    for batch in dataset.batches(300).threads(2).on_error(OnError::Skip { limit: 100 }) {
        let batch = batch.unwrap();
        let records = batch.column("record").unwrap().get::<Vec<u8>>().unwrap();
        for (record, index) in records.iter().zip(batch.indices()) {
            assert_eq!(record, format!("record {index}").as_bytes());
        }
        assert_eq!(records.len(), batch.len());
        rows += batch.len();
    }
    assert_eq!(rows, (0..RECORDS).filter(|&i| !is_bad(i)).count());
}
