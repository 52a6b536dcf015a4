//! Fear: the one line that people come for does not work on their files, or gives wrong batches.

#[path = "../examples/shapes/mod.rs"]
mod shapes;

use std::path::{Path, PathBuf};

use tfrmap::{Dataset, DatasetWriter, ErrorKind, Example, ExampleBuilder, Result};

const RECORDS: u64 = 43;

/// Pictures whose label is their record number, under slim's keys.
fn slim_set(folder: &Path) -> PathBuf {
    let path = folder.join("train.tfrecord");
    let mut writer = DatasetWriter::create(&path).unwrap();
    for i in 0..RECORDS {
        let picture = shapes::draw(i as usize % shapes::CLASSES.len(), i);
        let example = ExampleBuilder::new()
            .bytes("image/encoded", shapes::jpeg(&picture, i).unwrap())
            .int64("image/class/label", i as i64);
        writer.write(&example.encode()).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// The keys of the old TensorFlow 1 tutorial, holding encoded pictures.
fn tutorial_set(folder: &Path) -> PathBuf {
    let mut writer = DatasetWriter::create_sharded(folder.join("tutorial"), 3).unwrap();
    for i in 0..RECORDS {
        let picture = shapes::draw(i as usize % shapes::CLASSES.len(), i);
        let example = ExampleBuilder::new()
            .int64("train/height", picture.height as i64)
            .int64("train/width", picture.width as i64)
            .int64("train/label", i as i64)
            .bytes("train/image", shapes::jpeg(&picture, i).unwrap());
        writer.write(&example.encode()).unwrap();
    }
    writer.finish().unwrap();
    folder.join("tutorial-*")
}

/// The main job as users write it. Gives the labels of the epoch.
fn main_job(path: &Path, seed: u64) -> Result<Vec<i64>> {
    let mut labels = Vec::new();
    let in_file_order = Dataset::open(path)?;
    for batch in Dataset::open(path)?.shuffled(seed).batches(10) {
        let batch = batch?;
        let images = batch.images()?;
        assert_eq!(images.shape(), [batch.len(), 224, 224, 3]);
        let pixels = images.as_f32().expect("f32 pixels");
        assert_eq!(pixels.len(), batch.len() * 224 * 224 * 3);
        assert!(pixels.iter().all(|p| (0.0..=1.0).contains(p)));
        assert!(pixels.iter().any(|p| *p > 0.5) && pixels.iter().any(|p| *p < 0.5));
        for row in 0..batch.len() {
            let record = in_file_order.get(batch.indices()[row])?;
            let example = Example::parse(&record)?;
            let label = ["image/class/label", "train/label"].iter().find_map(|key| example.get(key));
            assert_eq!(
                label.unwrap().int64s().next(),
                Some(batch.labels()?[row]),
                "a row holds another record"
            );
        }
        labels.extend_from_slice(batch.labels()?);
    }
    Ok(labels)
}

#[test]
fn the_owners_line_works_with_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    for path in [slim_set(folder.path()), tutorial_set(folder.path())] {
        let first = main_job(&path, 7).unwrap();
        assert_eq!(main_job(&path, 7).unwrap(), first, "the same seed gives another order");
        assert_ne!(main_job(&path, 8).unwrap(), first, "another seed gives the same order");
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..RECORDS as i64).collect::<Vec<_>>(), "not each record exactly once");
        assert_ne!(first, sorted, "nothing was shuffled");
    }
}

#[test]
fn each_epoch_has_its_own_order_and_every_record_once() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(slim_set(folder.path())).unwrap().shuffled(7);
    let mut epochs = vec![Vec::new(), Vec::new()];
    for batch in dataset.epochs(0..2).batches(10) {
        let batch = batch.unwrap();
        epochs[batch.epoch() as usize].extend_from_slice(batch.indices());
    }
    assert_ne!(epochs[0], epochs[1]);
    for mut epoch in epochs {
        epoch.sort_unstable();
        assert_eq!(epoch, (0..RECORDS).collect::<Vec<_>>());
    }
}

#[test]
fn damage_is_an_error_with_a_place_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = slim_set(folder.path());
    let whole = std::fs::read(&path).unwrap();
    let second = 16 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;

    let damaged = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = main_job(&path, 7).unwrap_err();
        assert_eq!(error.path(), Some(path.as_path()), "{error}");
        assert!(error.record().is_some() && error.offset().is_some(), "{error}");
        error
    };

    let cut = damaged("cut", &|b| b.truncate(b.len() - 100));
    assert!(matches!(cut.kind(), ErrorKind::Truncated { .. }), "{cut}");
    assert_eq!(cut.record(), Some(RECORDS - 1));

    let length = damaged("length", &|b| b[second + 1] ^= 4);
    assert_eq!(*length.kind(), ErrorKind::CorruptLength);
    assert_eq!((length.record(), length.offset()), (Some(1), Some(second as u64)));

    let data = damaged("data", &|b| b[second + 500] ^= 4);
    assert_eq!(*data.kind(), ErrorKind::CorruptData);
    assert_eq!((data.record(), data.offset()), (Some(1), Some(second as u64)));

    let crc = damaged("crc", &|b| b[second - 1] ^= 4);
    assert_eq!(*crc.kind(), ErrorKind::CorruptData);
    assert_eq!((crc.record(), crc.offset()), (Some(0), Some(0)));

    let empty = folder.path().join("empty");
    std::fs::write(&empty, b"").unwrap();
    assert_eq!(main_job(&empty, 7).unwrap(), Vec::<i64>::new());
}
