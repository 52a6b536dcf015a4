//! The fear: a batch's memory is changed while somebody holds it, or belongs to another row.

use std::path::Path;

use tfrmap::image::{Augment, ImageSpec, RandomResizedCrop};
use tfrmap::{Batch, Dataset, DatasetWriter, ErrorKind, ExampleBuilder, Features};

const RECORDS: u64 = 60;

/// A BMP of `side` x `side` pixels of one gray value.
fn bmp(side: u32, value: u8) -> Vec<u8> {
    let row = (side * 3).next_multiple_of(4);
    let mut bytes = b"BM".to_vec();
    for word in [54 + row * side, 0, 54, 40, side, side, 24 << 16 | 1, 0, row * side, 2835, 2835, 0, 0] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.resize(54 + (row * side) as usize, value);
    bytes
}

/// Record `i` is a picture of the gray value `i`.
fn grays(folder: &Path, spec: ImageSpec) -> Dataset {
    let mut writer = DatasetWriter::create(folder.join("grays")).unwrap();
    for i in 0..RECORDS {
        let example = ExampleBuilder::new().bytes("image/encoded", bmp(20, i as u8)).label(i as i64);
        writer.write(&example.encode()).unwrap();
    }
    let features = Features::new().image("image/encoded", spec).fixed_len::<i64>("image/class/label", []);
    writer.finish().unwrap().with_features(features).shuffled(3)
}

/// Every pixel of every row is its record's gray value.
fn check(batch: &Batch) {
    let pixels = batch.images().unwrap().as_f32().unwrap();
    let len = pixels.len() / batch.len();
    for (row, &index) in pixels.chunks(len).zip(batch.indices()) {
        let wanted = index as f32 * (1.0 / 255.0);
        assert!(row.iter().all(|value| (value - wanted).abs() < 1e-6), "row of record {index}");
    }
    let labels: Vec<u64> = batch.labels().unwrap().iter().map(|&label| label as u64).collect();
    assert_eq!(labels, batch.indices());
}

#[test]
fn held_batches_stay_as_they_are_while_others_are_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = grays(folder.path(), ImageSpec::rgb(16, 16)).epochs(0..10);
    for threads in [1, 2, 7] {
        let mut held = Vec::new();
        for (i, batch) in dataset.clone().batches(7).threads(threads).enumerate() {
            let batch = batch.unwrap();
            check(&batch);
            if i % 3 == 0 {
                held.push(batch);
            }
        }
        held.iter().for_each(check);
    }
}

#[test]
fn pixels_are_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let augment = Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 };
    let dataset = grays(folder.path(), ImageSpec::rgb(9, 11).augment(augment)).epochs(0..2);
    let all = |threads| -> Vec<(Vec<f32>, Vec<i64>, Vec<i64>)> {
        let batches = dataset.clone().batches(8).threads(threads);
        batches
            .map(|batch| {
                let batch = batch.unwrap();
                let numbers = |key: &str| batch.column(key).unwrap().get::<i64>().unwrap().to_vec();
                let pixels = batch.images().unwrap().as_f32().unwrap().to_vec();
                (pixels, numbers("image/encoded/crop"), numbers("image/encoded/flipped"))
            })
            .collect()
    };
    let wanted = all(1);
    assert!([2, 7, 64].into_iter().all(|threads| all(threads) == wanted));
    let flips: i64 = wanted.iter().flat_map(|batch| &batch.2).sum();
    assert!((30..90).contains(&flips), "{flips} of 120 are mirrored");
    assert!(wanted[0].1.chunks(4).any(|crop| crop != [0, 0, 20, 20]));
}

#[test]
fn a_batch_gives_its_buffer_away_without_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = grays(folder.path(), ImageSpec::rgb(16, 16));
    let mut batches = dataset.clone().batches(7);
    let mut batch = batches.next().unwrap().unwrap();
    let place = batch.images().unwrap().as_f32().unwrap().as_ptr();
    let tensor = batch.take::<f32>("image/encoded").unwrap();
    assert_eq!(tensor.shape, [7, 16, 16, 3]);
    let values: Vec<f32> = tensor.values.into_vec();
    assert_eq!((values.as_ptr(), values.len()), (place, 7 * 16 * 16 * 3));
    let before = values.clone();
    drop(batch);
    batches.for_each(|batch| check(&batch.unwrap()));
    assert_eq!(values, before, "memory that was given away was written to");

    let mut batch = dataset.batches(7).next().unwrap().unwrap();
    assert_eq!(*batch.take::<u8>("image/encoded").unwrap_err().kind(), wrong(&batch));
    assert!(batch.take::<f32>("image/encoded").is_ok());
    let error = batch.images().unwrap_err();
    assert!(error.to_string().contains("image/class/label"), "{error}");
}

fn wrong(batch: &Batch) -> ErrorKind {
    assert!(batch.images().is_ok(), "a refused column is gone");
    ErrorKind::WrongKind { expected: "uint8", found: "float32" }
}

#[test]
fn pixels_can_begin_at_a_cache_line() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = grays(folder.path(), ImageSpec::rgb(15, 13)).epochs(0..6);
    for align in [64, 4096] {
        for batch in dataset.clone().batches(7).aligned(align) {
            let mut batch = batch.unwrap();
            check(&batch);
            assert_eq!(batch.images().unwrap().as_f32().unwrap().as_ptr().addr() % align, 0);
            let copy = batch.images().unwrap().as_f32().unwrap().to_vec();
            if batch.indices()[0] % 4 == 0 {
                assert_eq!(batch.take::<f32>("image/encoded").unwrap().values.into_vec(), copy);
            }
        }
    }
    for align in [0, 3, 8192] {
        assert!(dataset.clone().batches(7).aligned(align).next().unwrap().is_err());
    }
}

#[test]
fn pictures_that_keep_their_size_must_agree() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = grays(folder.path(), ImageSpec::keep_size());
    for batch in dataset.clone().batches(7) {
        let batch = batch.unwrap();
        assert_eq!(batch.images().unwrap().shape(), [batch.len(), 20, 20, 3]);
        check(&batch);
    }
    let mut writer = DatasetWriter::create(folder.path().join("sizes")).unwrap();
    for side in [20, 20, 21] {
        writer.write(&ExampleBuilder::new().bytes("image/encoded", bmp(side, 1)).encode()).unwrap();
    }
    let features = Features::new().image("image/encoded", ImageSpec::keep_size());
    let error = writer.finish().unwrap().with_features(features).batches(3).next().unwrap().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WrongShape { .. }));
    assert_eq!(error.record(), Some(2));
    assert!(error.to_string().contains("record 0 of") && error.to_string().contains("21"), "{error}");
}
