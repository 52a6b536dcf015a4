//! The fear: a loader with nothing to do, or a caller that waits for it, keeps a core busy.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

use tfrmap::{Dataset, DatasetWriter, Features};

/// Threads are the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn small(folder: &Path) -> Dataset {
    let mut writer = DatasetWriter::create(folder.join("small")).unwrap();
    (0..1000_u32).for_each(|i| writer.write(&i.to_le_bytes()).unwrap());
    writer.finish().unwrap().with_features(Features::raw()).shuffled(1)
}

/// For each thread of a name: its state, and how often it has gone to sleep so far.
fn threads(name: &str) -> Vec<(String, String)> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let statuses = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("status")).ok());
    let line = |status: &str, key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.trim().to_owned()
    };
    statuses
        .filter(|status| line(status, "Name:").starts_with(name))
        .map(|status| (line(&status, "State:"), line(&status, "voluntary_ctxt_switches:")))
        .collect()
}

/// Looks until so many threads of a name have all been seen asleep many times in a row, without having woken in between.
fn come_to_rest(name: &str, count: usize) {
    const LOOKS: usize = 1000;
    let (mut before, mut still) = (Vec::new(), 0);
    for _ in 0..20 * LOOKS {
        let now = threads(name);
        let asleep = now.len() == count && now.iter().all(|(state, _)| state.starts_with('S'));
        still = if asleep && now == before { still + 1 } else { 0 };
        if still == LOOKS {
            return;
        }
        before = now;
    }
    panic!("threads that do not sleep: {before:?}");
}

#[test]
fn a_loader_that_is_ahead_sleeps() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let mut batches = small(folder.path()).epochs(0..1000).batches(10).threads(2);
    for _ in 0..3 {
        batches.next().unwrap().unwrap();
        come_to_rest("tfrmap-", 2);
    }
}

#[test]
fn a_caller_that_waits_sleeps() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let (go, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let slow = small(folder.path()).map(move |record| {
        // Gone when the test goes on.
        wait.lock().unwrap().recv().ok();
        Ok(record.len())
    });
    let caller = thread::Builder::new().name("caller".into());
    let caller =
        caller.spawn(move || slow.batches(10).threads(2).map(|batch| batch.unwrap().len()).sum::<usize>());
    come_to_rest("caller", 1);
    drop(go);
    assert_eq!(caller.unwrap().join().unwrap(), 1000);
}
