//! Fear: what reaches the network is not what is in the file, burn's loader gets other items than asked for, or a resumed run is
//! another run.

#[path = "../../candle/tests/pictures/mod.rs"]
mod pictures;

use std::sync::{Arc, Mutex};

use burn::data::dataloader::DataLoaderBuilder;
use burn::data::dataset::Dataset;
use burn::tensor::Device;
use tempfile::TempDir;
use tfrmap_burn::adapter::{Items, Stack};
use tfrmap_burn::data;
use tfrmap_burn::net::Net;
use tfrmap_burn::train::{self, Options, accuracy};

/// Held by tests that train: a device has one generator, and weights are drawn from it at their first use.
static TRAINING: Mutex<()> = Mutex::new(());

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    pictures::write(&folder.path().join("train.tfrecord"), 40, 1);
    pictures::write(&folder.path().join("test.tfrecord"), 10, 2);
    folder
}

fn open(folder: &TempDir, name: &str) -> tfrmap::Dataset {
    data::open(folder.path().join(name).to_str().unwrap()).unwrap()
}

#[test]
fn two_epochs_learn_simple_pictures() {
    let _alone = TRAINING.lock();
    let folder = folder();
    let (train, test) = (open(&folder, "train.tfrecord"), open(&folder, "test.tfrecord"));
    let device = Device::flex().autodiff();
    let before = accuracy(&Net::new(&device), &test, &device).unwrap();
    let net = train::run(train, &test, &Options { epochs: 2, ..Options::default() }).unwrap();
    let after = accuracy(&net, &test, &device).unwrap();
    assert!(before < 0.4 && after > 0.9, "accuracy {before} before, {after} after");
}

#[test]
fn a_run_in_two_parts_ends_with_the_network_of_one() {
    let _alone = TRAINING.lock();
    let folder = folder();
    let run = |save: Option<&str>, epochs| {
        let save = save.map(|name| folder.path().join(name).to_str().unwrap().to_owned());
        let (train, test) = (open(&folder, "train.tfrecord"), open(&folder, "test.tfrecord"));
        let net = train::run(train, &test, &Options { epochs, save, ..Options::default() }).unwrap();
        let device = Device::flex().autodiff();
        let test = open(&folder, "test.tfrecord").batches(100).next().unwrap().unwrap();
        let (images, _) = data::tensors(test, &device).unwrap();
        net.forward(images).into_data().iter::<f32>().collect::<Vec<f32>>()
    };
    let whole = run(None, 3);
    let first = run(Some("parts"), 1);
    let second = run(Some("parts"), 3);
    assert!(first != second && second == whole, "the networks differ");
}

#[test]
fn the_loader_gets_the_items_that_it_asks_for() {
    let folder = folder();
    let items = Items(open(&folder, "train.tfrecord"));
    assert_eq!(items.len(), 400);
    let many = items.get_many(vec![399, 0, 85, 0]).unwrap();
    assert_eq!(many.iter().map(|item| item.label).collect::<Vec<_>>(), [9, 0, 2, 0]);
    assert_eq!(many[1], many[3]);
    assert_eq!(many[2], items.get(85).unwrap());
    assert!(items.get_many(Vec::new()).unwrap().is_empty());

    let loader =
        DataLoaderBuilder::new(Stack).batch_size(64).shuffle(1).set_device(Device::flex()).build(items);
    let mut counts = [0; 10];
    for batch in loader.iter() {
        let (images, labels) = batch.unwrap();
        let rows = labels.dims()[0];
        assert_eq!(images.dims(), [rows, 1, 8, 8]);
        for label in labels.into_data().iter::<i64>() {
            counts[label as usize] += 1;
        }
    }
    assert_eq!(counts, [40; 10]);
}

#[test]
fn a_damaged_record_is_an_error_of_the_loader_and_no_panic() {
    let folder = folder();
    let path = folder.path().join("train.tfrecord");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let items = Arc::new(Items(open(&folder, "train.tfrecord")));
    let error = items.get_many(vec![1, 0]).unwrap_err();
    assert!(error.to_string().contains("record 0"), "{error}");
    assert!(items.get(1).is_ok());
}
