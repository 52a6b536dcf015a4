//! Fear: each picture allocates its rows and tables anew, and many threads wait for the allocator and for fresh pages.
//!
//! Lists of a few bytes that a header is read into do not count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;

use tfrmap::image::{Augment, AugmentKey, ImageSpec, ImageWorker, PixelType, PixelsMut, RandomResizedCrop};

/// Counts the allocations of this thread that are not tiny.
struct Counting;

const TINY: usize = 512;

fn count(size: usize) {
    COUNT.with(|count| count.set(count.get() + u64::from(size > TINY)));
    LAST.with(|last| last.set(if size > TINY { size } else { last.get() }));
}

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// The size of the last one.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn jpegs_cost_no_allocation_once_warm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/images/inputs");
    let photos = ["photo_chelsea_451x300_444.jpg", "photo_astronaut_375x500_opt.jpg", "jpg_gray.jpg"];
    let photos: Vec<Vec<u8>> = photos.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect();
    let augment = Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 };
    let specs = [
        ImageSpec::rgb(224, 224),
        ImageSpec::rgb(224, 224).dtype(PixelType::U8),
        ImageSpec::rgb(224, 224).augment(augment),
        ImageSpec::imagenet_train(224),
        ImageSpec::imagenet_eval(256, 224),
        ImageSpec::rgb(224, 224).antialias(true),
    ];
    let mut worker = ImageWorker::new();
    let mut bytes = vec![0; 224 * 224 * 3];
    let mut floats = vec![0.0; 224 * 224 * 3];
    let mut round = |spec: &ImageSpec, record| {
        for photo in &photos {
            let out = match spec.pixel_type() {
                PixelType::U8 => PixelsMut::U8(&mut bytes),
                PixelType::F32 => PixelsMut::F32(&mut floats),
            };
            worker.run(photo, spec, AugmentKey { seed: 1, epoch: 2, record }, out).unwrap();
        }
    };
    for spec in &specs {
        // With random crops, memory settles at the largest of what is drawn.
        (0..40).for_each(|record| round(spec, record));
        let before = COUNT.with(Cell::get);
        (0..40).for_each(|record| round(spec, record));
        let made = COUNT.with(Cell::get) - before;
        let last = LAST.with(Cell::get);
        let spec = spec.to_json();
        assert_eq!(made, 0, "{made} allocations for 120 pictures, the last of {last} bytes, of {spec}");
    }
}
