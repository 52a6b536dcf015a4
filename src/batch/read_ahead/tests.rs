//! Fears: what is coming is not asked for, or too much is, or over and over; a warm file costs calls; a read of one record
//! drags its neighbours in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{AHEAD, AHEAD_PER_THREAD, BATCHES, MOST, ReadAhead, batches};
use crate::batch::course::{Course, Cursor};
use crate::batch::pages::{PAGE, merged};
use crate::batch::steps::Remainder;
use crate::dataset::{Dataset, DatasetWriter};
use crate::example::Features;
use crate::file::{Access, DataFile, PIECE};
use crate::record::OpenOptions;

#[test]
fn neighbours_become_one_range() {
    let ranges = [0..2 * PAGE, PAGE..2 * PAGE, 2 * PAGE..3 * PAGE, 9 * PAGE..10 * PAGE];
    assert_eq!(merged(ranges.into_iter()), [0..3 * PAGE, 9 * PAGE..10 * PAGE]);
    assert_eq!(merged(std::iter::empty()), []);
}

#[test]
fn what_is_asked_for_ahead_has_a_budget() {
    for threads in [1, 2, 8, 64] {
        let budget = AHEAD.max(AHEAD_PER_THREAD * threads as u64);
        for batch_bytes in [1, 5000, 1 << 20, 7 << 20, AHEAD, 3 * AHEAD, MOST, MOST + 1, 1 << 40] {
            // The batch that is begun is one of them.
            let ahead = batches(batch_bytes, threads) - 1;
            assert!(ahead * batch_bytes <= budget || (ahead == 1 && batch_bytes <= MOST), "{batch_bytes}");
            assert!(ahead > 0 || batch_bytes > MOST, "{batch_bytes}");
            // Tiny records: each batch asked for is a look, whatever its size.
            assert!(ahead <= BATCHES, "{batch_bytes}");
        }
    }
}

const FEW: u64 = 64;

/// A file of so many records of a length.
fn write(folder: &Path, records: u64, len: usize) -> PathBuf {
    let path = folder.join("x.tfrecord");
    let mut writer = DatasetWriter::create(&path).unwrap();
    (0..records).for_each(|i| writer.write(&vec![i as u8; len]).unwrap());
    writer.finish().unwrap();
    path
}

fn open(path: &Path, access: Access) -> Dataset {
    Dataset::open_with(&OpenOptions::new().access(access), [path]).unwrap().with_features(Features::raw())
}

/// The read-ahead of a data set in batches of a size, and where it begins.
fn start(dataset: &Dataset, batch: u64) -> (ReadAhead, Cursor) {
    let course = Course {
        view: dataset.view.clone(),
        epochs: dataset.epochs.clone(),
        ranks: dataset.ranks,
        batch,
        remainder: Remainder::Keep,
        start: (0, 0),
    };
    (ReadAhead::new(dataset.shards.clone(), &course), Cursor::new(Arc::new(course)))
}

/// Which pages are in memory.
fn pages(path: &Path) -> Vec<bool> {
    let file = DataFile::open(path, Access::Map).unwrap();
    let there = |page| file.is_resident(page * PAGE..page * PAGE + 1) == Some(true);
    (0..file.len().div_ceil(PAGE)).map(there).collect()
}

/// Before anything is mapped: pages in use stay in memory.
fn evict(path: &Path) -> bool {
    let evicted = DataFile::evict(path);
    if !evicted {
        eprintln!("SKIPPED: the file system of {} keeps its pages in memory", path.display());
    }
    evicted
}

/// What was asked for comes without being read.
fn wait_for_page(path: &Path, page: usize) {
    let file = DataFile::open(path, Access::Map).unwrap();
    let at = page as u64 * PAGE;
    for _ in 0..1_000_000 {
        if file.is_resident(at..at + 1) == Some(true) {
            return;
        }
        std::thread::yield_now();
    }
    panic!("page {page} was never read");
}

#[test]
fn coming_records_are_read_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), FEW, 100_000);
    for access in [Access::Map, Access::Read] {
        let dataset = open(&path, access).shuffled(3);
        let (ahead, mut cursor) = start(&dataset, 8);
        if !evict(&path) {
            return;
        }
        let ticket = cursor.next().unwrap();
        ahead.ask(&ticket);
        assert_eq!(ahead.asked.load(super::Ordering::Relaxed), 8, "{access:?}");
        // The first look at a file proves its first and its last frame.
        let mut of_batch = vec![false; pages(&path).len()];
        for record in [0, FEW - 1] {
            let (_, range) = ahead.frame(record).unwrap();
            of_batch[(range.start / PAGE) as usize] = true;
            of_batch[((range.end - 1) / PAGE) as usize] = true;
        }
        for row in 0..8 {
            let (_, range) = ahead.frame(ticket.row(row).record).unwrap();
            let (first, last) = ((range.start / PAGE) as usize, ((range.end - 1) / PAGE) as usize);
            of_batch[first..=last].fill(true);
            (first..=last).for_each(|page| wait_for_page(&path, page));
        }
        assert_eq!(pages(&path), of_batch, "{access:?}: other pages were read");
        let bytes = of_batch.iter().filter(|wanted| **wanted).count() as u64 * PAGE;
        assert!(bytes * 100 <= 8 * 100_016 * 115, "more than 1.15 times what was needed");
    }
}

#[test]
fn what_is_in_memory_is_not_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), FEW, 5000);
    std::fs::read(&path).unwrap();
    for access in [Access::Map, Access::Read] {
        let dataset = open(&path, access).shuffled(3).epochs(0..100);
        let (ahead, mut cursor) = start(&dataset, 8);
        let (mut tickets, mut looked) = (0, 0);
        while let Some(ticket) = cursor.next() {
            ahead.ask(&ticket);
            tickets += 1;
            looked = ahead.looked.load(super::Ordering::Relaxed);
        }
        if access == Access::Read && looked == 0 {
            eprintln!("SKIPPED: this file system cannot tell what is in memory");
            continue;
        }
        assert_eq!(ahead.asked.load(super::Ordering::Relaxed), 0, "{access:?}");
        assert!(looked >= tickets && looked < 2 * tickets, "{access:?}: {looked} of {tickets}");
        assert_eq!(ahead.hits.load(super::Ordering::Relaxed), looked);
    }
}

#[test]
fn one_read_does_not_drag_its_neighbours_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), 4000, 500);
    for access in [Access::Map, Access::Read] {
        let dataset = open(&path, access);
        if !evict(&path) {
            return;
        }
        dataset.get(2000).unwrap();
        let read = pages(&path).iter().filter(|there| **there).count();
        // And the file's ends, which are proven first.
        assert!((3..=6).contains(&read), "{access:?}: {read} pages for one record");
    }
}

#[test]
fn sequential_order_is_read_in_whole_pieces_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), 4000, 500);
    for (access, batch) in [(Access::Map, 8), (Access::Read, 8), (Access::Map, 4000)] {
        let dataset = open(&path, access);
        let (ahead, mut cursor) = start(&dataset, batch);
        if !evict(&path) {
            return;
        }
        let mut asking = 0;
        let mut before = 0;
        while let Some(ticket) = cursor.next() {
            ahead.ask(&ticket);
            let asked = ahead.asked.load(super::Ordering::Relaxed);
            asking += u64::from(asked > before);
            before = asked;
        }
        // Not with each batch.
        let file = std::fs::metadata(&path).unwrap().len();
        assert!(asking <= 2 * file.div_ceil(PIECE), "{access:?}: asked {asking} times");
        (0..pages(&path).len()).for_each(|page| wait_for_page(&path, page));
    }
}

#[test]
fn small_records_that_are_all_needed_are_read_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), 40_000, 100);
    let all = open(&path, Access::Auto).shuffled(3);
    if !evict(&path) {
        return;
    }
    let (ahead, mut cursor) = start(&all, 10);
    assert!(ahead.sweep.is_some());
    (0..200).filter_map(|_| cursor.next()).for_each(|ticket| ahead.ask(&ticket));
    (0..pages(&path).len()).for_each(|page| wait_for_page(&path, page));

    assert!(start(&all.clone().epochs(0..2).take(40_000), 10).0.sweep.is_some());
    for part in [all.clone().take(1000), all.clone().for_rank(0, 16).unwrap(), open(&path, Access::Auto)] {
        assert!(start(&part, 10).0.sweep.is_none(), "{part:?} does not need every page, or not at random");
    }
}

#[test]
fn stats_tell_a_cold_run_from_a_warm_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), FEW, 50_000);
    for access in [Access::Map, Access::Read] {
        let dataset = open(&path, access).shuffled(5);
        if !evict(&path) {
            return;
        }
        let mut batches = dataset.clone().batches(8);
        batches.by_ref().for_each(|batch| drop(batch.unwrap()));
        let cold = batches.stats();
        assert!(cold.ahead_asked > FEW / 2, "{access:?}: {cold:?}");
        assert_eq!((cold.records, cold.payload_bytes), (FEW, FEW * 50_000));
        assert_eq!(cold.mapped, Some(access == Access::Map));
        let mut batches = dataset.batches(8);
        assert_eq!(batches.stats().mapped, None);
        batches.by_ref().for_each(|batch| drop(batch.unwrap()));
        let warm = batches.stats();
        if warm.ahead_looked > 0 {
            assert_eq!((warm.ahead_asked, warm.ahead_hits), (0, warm.ahead_looked), "{access:?}");
        }
        // It does not go on counting.
        assert_eq!(batches.stats().elapsed, warm.elapsed);
    }
}
