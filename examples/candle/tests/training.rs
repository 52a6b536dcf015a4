//! Fear: what reaches the network is not what is in the file, or a killed or divided run is another run.

mod pictures;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tfrmap::Remainder;
use tfrmap_candle::checkpoint::Checkpoint;
use tfrmap_candle::data;
use tfrmap_candle::net::Trainer;
use tfrmap_candle::ranks::Ranks;
use tfrmap_candle::train::{self, Options, accuracy};

/// A folder with `train.tfrecord` of 400 records and `test.tfrecord` of 100.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    pictures::write(&folder.path().join("train.tfrecord"), 40, 1);
    pictures::write(&folder.path().join("test.tfrecord"), 10, 2);
    folder
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// The example's program, on its way.
fn start(folder: &TempDir, save: &str, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_train"))
        .args([path(folder, "train.tfrecord"), path(folder, "test.tfrecord")])
        .args(["--save", &path(folder, save), "--save-every", "3"])
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The weights saved last.
fn weights(folder: &Path) -> PathBuf {
    let mut checkpoint = Checkpoint::new(folder).unwrap();
    let mut trainer = Trainer::new(0).unwrap();
    checkpoint.load(&mut trainer.weights).unwrap().expect("nothing was saved");
    checkpoint.weights().unwrap()
}

#[test]
fn two_epochs_learn_simple_pictures() {
    let folder = folder();
    let train = data::open(&path(&folder, "train.tfrecord")).unwrap();
    let test = data::open(&path(&folder, "test.tfrecord")).unwrap();
    let before = accuracy(&Trainer::new(1).unwrap(), &test).unwrap();
    let options = Options { epochs: 2, ..Options::default() };
    let trainer = train::run(train, &test, &options, &mut Ranks::alone()).unwrap();
    let after = accuracy(&trainer, &test).unwrap();
    assert!(before < 0.4 && after > 0.9, "accuracy {before} before, {after} after");
}

#[test]
fn a_run_killed_twice_ends_with_the_weights_of_one_that_was_not() {
    let folder = folder();
    let whole = start(&folder, "whole", &["--epochs", "12"]).wait_with_output().unwrap();
    assert!(whole.status.success());

    for epoch in [0, 2] {
        let mut child = start(&folder, "killed", &["--epochs", "12"]);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let sign = format!("epoch {epoch}:");
        let seen = lines.map_while(Result::ok).any(|line| line.starts_with(&sign));
        child.kill().unwrap();
        assert!(seen && !child.wait().unwrap().success(), "the run was over before it could be killed");
    }
    let rest = start(&folder, "killed", &["--epochs", "12"]).wait_with_output().unwrap();
    assert!(rest.status.success());
    let printed = String::from_utf8(rest.stdout).unwrap();
    assert!(!printed.contains("epoch 1:") && printed.contains("epoch 11:"), "{printed}");

    let whole = weights(&folder.path().join("whole"));
    let killed = weights(&folder.path().join("killed"));
    assert_eq!(whole.file_name(), killed.file_name());
    assert!(fs::read(whole).unwrap() == fs::read(killed).unwrap(), "the weights differ");
}

#[test]
fn two_ranks_see_each_record_once() {
    let folder = folder();
    let mut seen = Vec::new();
    for rank in 0..2 {
        let train = data::open(&path(&folder, "train.tfrecord")).unwrap();
        let batches = train.shuffled(1).for_rank(rank, 2).unwrap().batches(8).remainder(Remainder::Drop);
        for batch in batches {
            seen.extend_from_slice(batch.unwrap().indices());
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..400).collect::<Vec<u64>>());
}

#[test]
fn two_processes_train_the_network_of_one() {
    let folder = folder();
    let one = start(&folder, "one", &["--epochs", "1"]).wait_with_output().unwrap();
    assert!(one.status.success());

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let ranks = ["0/2", "1/2"];
    let children =
        ranks.map(|rank| start(&folder, "two", &["--epochs", "1", "--rank", rank, "--meet", &free]));
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }

    let load = |name: &str| {
        candle_core::safetensors::load(weights(&folder.path().join(name)), &candle_core::Device::Cpu)
    };
    let (one, two) = (load("one").unwrap(), load("two").unwrap());
    let new = Trainer::new(Options::default().seed).unwrap();
    let new = new.weights.data().lock().unwrap();
    for (name, weights) in &one {
        let distance = |other: &candle_core::Tensor| -> f32 {
            (weights - other).unwrap().abs().unwrap().max_all().unwrap().to_scalar().unwrap()
        };
        let (apart, moved) = (distance(&two[name]), distance(new[name].as_tensor()));
        assert!(apart < 1e-3 && apart < moved / 10.0, "{name}: {apart} apart, {moved} from where it began");
    }
}
