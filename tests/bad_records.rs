//! The fear: one bad record costs more than one record, or nobody is told.

mod pipeline_support;

use std::path::{Path, PathBuf};

use pipeline_support::{all_ids, ids};
use tfrmap::image::ImageSpec;
use tfrmap::{Dataset, DatasetWriter, Error, ErrorKind, ExampleBuilder, Features, OnError, Record, Result};

const GOOD: &[u8] = include_bytes!("data/cases/img/D22a_photo_baseline_420.jpg");
const RECORDS: i64 = 30;

/// Pictures with ids; record 4 lacks its id, 11 is no message, 17 holds the head of a picture, 23 has a flipped bit.
fn damaged(folder: &Path) -> PathBuf {
    let path = folder.join("pictures");
    let mut writer = DatasetWriter::create(&path).unwrap();
    for i in 0..RECORDS {
        let picture = if i == 17 { &GOOD[..60] } else { GOOD };
        let mut example = ExampleBuilder::new().bytes("image/encoded", picture);
        if i != 4 {
            example = example.int64("id", i);
        }
        let payload = if i == 11 { b"\xff\xff\xff".to_vec() } else { example.encode() };
        writer.write(&payload).unwrap();
    }
    drop(writer.finish().unwrap());
    let span = tfrmap::Store::open(&path).unwrap().span(23).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[span.offset as usize + 12 + 100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    path
}

fn features() -> Features {
    Features::new().image("image/encoded", ImageSpec::rgb(8, 8)).fixed_len::<i64>("id", [])
}

fn open(path: &Path) -> Dataset {
    Dataset::open(path).unwrap().with_features(features())
}

const BAD: [i64; 4] = [4, 11, 17, 23];

#[test]
fn a_bad_record_stops_the_run_and_names_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = damaged(folder.path());
    for (record, kind, feature) in [
        (4, ErrorKind::MissingFeature, Some("id")),
        (11, ErrorKind::MalformedProto, None),
        (17, ErrorKind::ImageDecode, Some("image/encoded")),
        (23, ErrorKind::CorruptData, None),
    ] {
        let span = tfrmap::Store::open(&path).unwrap().span(record).unwrap();
        let mut batches = open(&path).skip(record - 1).take(3).batches(3);
        let error = batches.next().unwrap().unwrap_err();
        assert_eq!(*error.kind(), kind, "{error}");
        assert_eq!((error.path(), error.record()), (Some(path.as_path()), Some(record)), "{error}");
        assert_eq!((error.offset(), error.feature()), (Some(span.offset), feature), "{error}");
        assert!(batches.next().is_none());
    }
}

#[test]
fn skipped_rows_leave_all_other_batches_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = damaged(folder.path());
    for threads in [1, 2, 7] {
        let mut batches = open(&path).batches(10).threads(threads).on_error(OnError::Skip { limit: 4 });
        let mut rows = Vec::new();
        for first in [0, 10, 20] {
            let batch = batches.next().unwrap().unwrap();
            let wanted: Vec<i64> = (first..first + 10).filter(|id| !BAD.contains(id)).collect();
            assert_eq!(ids(&batch), wanted);
            assert_eq!(batch.indices().iter().map(|&index| index as i64).collect::<Vec<_>>(), wanted);
            let images = batch.images().unwrap();
            assert_eq!(images.shape(), [wanted.len(), 8, 8, 3]);
            rows.extend(images.as_f32().unwrap().chunks(8 * 8 * 3).map(<[f32]>::to_vec));
        }
        assert!(batches.next().is_none());
        assert!(rows.iter().all(|row| row == &rows[0]), "a row holds another picture's pixels");
        let told: Vec<_> = batches.bad_records().iter().map(|error| error.record().unwrap() as i64).collect();
        assert_eq!(told, BAD);
    }
}

#[test]
fn masked_rows_keep_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = damaged(folder.path());
    let mut batches = open(&path).batches(10).on_error(OnError::Mask { limit: 4 });
    for first in [0, 10, 20] {
        let batch = batches.next().unwrap().unwrap();
        assert_eq!(batch.len(), 10);
        let pixels = batch.images().unwrap().as_f32().unwrap().chunks(8 * 8 * 3);
        for (((id, row), valid), index) in (first..).zip(pixels).zip(batch.valid()).zip(batch.indices()) {
            assert_eq!(*index as i64, id);
            assert_eq!(*valid, !BAD.contains(&id));
            assert_eq!(row.iter().all(|value| *value == 0.0), !valid, "row of record {id}");
        }
        let masked = ids(&batch).into_iter().zip(batch.valid());
        assert!(masked.zip(first..).all(|((id, valid), wanted)| id == if *valid { wanted } else { 0 }));
    }
    assert_eq!(batches.bad_records().len(), 4);
}

#[test]
fn the_limit_ends_the_run_with_all_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let path = damaged(folder.path());
    let mut batches = open(&path).batches(10).on_error(OnError::Skip { limit: 2 });
    assert_eq!(batches.next().unwrap().unwrap().len(), 9);
    let error = batches.next().unwrap().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TooManyErrors);
    let text = error.to_string();
    for record in [4, 11, 17] {
        assert!(text.contains(&format!("record {record} at byte")), "{text}");
    }
    assert!(batches.next().is_none());
}

#[test]
fn a_bad_record_among_those_looked_at_does_not_hinder_inference() {
    let folder = tempfile::tempdir().unwrap();
    let path = damaged(folder.path());
    let dataset = Dataset::open(&path).unwrap();
    assert!(dataset.features().unwrap().get("image/encoded").is_some());
    let batches = dataset.take(3).batches(3);
    assert_eq!(batches.map(|batch| batch.unwrap().len()).sum::<usize>(), 3);
}

#[test]
fn closures_refuse_panic_and_keep_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = pipeline_support::write_ids(folder.path(), 100, 3).shuffled(6);
    let whole: Vec<i64> = all_ids(dataset.clone().batches(9)).concat();
    let id = |record: &Record| -> Result<i64> {
        let example = tfrmap::Example::parse(record)?;
        Ok(example.get("id").and_then(|id| id.int64s().next()).unwrap_or(-1))
    };
    for threads in [1, 2, 7] {
        let mapped = dataset.clone().map(move |record| id(&record)).batches(9).threads(threads);
        assert_eq!(mapped.collect::<Result<Vec<_>>>().unwrap().concat(), whole);
    }
    let picky = dataset.clone().map(move |record| match id(&record)? {
        33 => Err(Error::other("no thirty-three")),
        66 => panic!("no sixty-six"),
        id => Ok(id),
    });
    let mut skipped = picky.clone().batches(9).on_error(OnError::Skip { limit: 2 });
    let kept: Vec<i64> = skipped.by_ref().collect::<Result<Vec<_>>>().unwrap().concat();
    assert_eq!(kept, whole.iter().copied().filter(|id| ![33, 66].contains(id)).collect::<Vec<_>>());
    let mut told: Vec<String> = skipped.bad_records().iter().map(Error::to_string).collect();
    told.sort();
    assert!(told.iter().all(|text| text.contains("ids-0000") && text.contains("record ")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("no thirty-three")));
    assert!(told.iter().any(|text| text.contains("no sixty-six")));
    let mut masked = picky.batches(9).on_error(OnError::Mask { limit: 2 });
    assert_eq!(*masked.next().unwrap().unwrap_err().kind(), ErrorKind::InvalidArgument);
}
