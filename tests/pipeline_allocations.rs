//! The fear: memory is allocated for every record, and grows from epoch to epoch.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrmap::image::ImageSpec;
use tfrmap::{Dataset, DatasetWriter, ExampleBuilder, Features};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator, and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The counters are the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const PICTURE: &[u8] = include_bytes!("data/cases/img/D22a_photo_baseline_420.jpg");

fn set(folder: &std::path::Path) -> Dataset {
    let mut writer = DatasetWriter::create(folder.join("pictures")).unwrap();
    for i in 0..512 {
        let example =
            ExampleBuilder::new().bytes("image/encoded", PICTURE).int64("id", i).floats("x", [0.5; 20]);
        writer.write(&example.encode()).unwrap();
    }
    let features = Features::new()
        .image("image/encoded", ImageSpec::rgb(32, 32))
        .fixed_len::<i64>("id", [])
        .fixed_len::<f32>("x", [20]);
    writer.finish().unwrap().with_features(features).shuffled(2)
}

/// Allocations per batch once everything is warm.
fn per_batch(dataset: &Dataset, size: usize) -> f64 {
    let mut batches = dataset.clone().epochs(0..).batches(size).threads(2);
    for _ in 0..64 {
        batches.next().unwrap().unwrap();
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let count = 64;
    for _ in 0..count {
        batches.next().unwrap().unwrap();
    }
    (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / count as f64
}

#[test]
fn no_memory_is_allocated_for_a_record() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let pictures = set(folder.path());
    let numbers = Features::new().fixed_len::<i64>("id", []).fixed_len::<f32>("x", [20]);
    for dataset in [pictures.clone().with_features(numbers), pictures] {
        let (small, large) = (per_batch(&dataset, 32), per_batch(&dataset, 256));
        let per_record = (large - small) / 224.0;
        println!(
            "{small:.1} allocations for a batch of 32, {large:.1} for one of 256: {per_record:.2} a record"
        );
        assert!(per_record < 0.1, "{per_record:.2} allocations a record");
        assert!(small < 100.0, "{small:.1} allocations for a batch of 32");
    }
}

#[test]
fn memory_does_not_grow_from_epoch_to_epoch() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let mut batches = set(folder.path()).epochs(0..20).batches(32).threads(2);
    let mut most = [0; 20];
    for step in 0..20 * 16 {
        batches.next().unwrap().unwrap();
        let epoch = step / 16;
        most[epoch] = LIVE.load(Ordering::Relaxed).max(most[epoch]);
    }
    let (early, late) = (most[2..6].iter().max().unwrap(), most[16..].iter().max().unwrap());
    println!("live bytes: {early} in early epochs, {late} in late ones");
    assert!(*late as f64 <= *early as f64 * 1.02, "{most:?}");
}
