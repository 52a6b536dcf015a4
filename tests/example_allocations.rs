//! Fear: reading a record costs allocations, and so time and memory that grow with the pictures.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tfrmap::{Example, ExampleBuilder, SequenceExample, SequenceExampleBuilder, proto};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of the thread that makes them.
struct Counting;

// SAFETY: every call is handed to the system's allocator as it is; the count is a thread's own cell, which needs no
// allocation and has no destructor.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.get();
    let result = run();
    (result, ALLOCATIONS.get() - before)
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| vec![1, 2, 3]).1, 1);
}

#[test]
fn a_picture_and_three_integers_cost_none() {
    let payload = ExampleBuilder::new().image(vec![7; 100_000], "JPEG", 480, 640).label(3).encode();
    let (sum, count) = allocations(|| {
        let example = Example::parse(&payload).unwrap();
        let number = |key: &str| example.get(key).and_then(|feature| feature.int64s().next()).unwrap();
        let picture = example.get("image/encoded").and_then(|feature| feature.bytes().next()).unwrap();
        picture.len() as i64 + number("image/height") + number("image/width") + number("image/class/label")
    });
    assert_eq!((sum, count), (100_000 + 480 + 640 + 3, 0));
}

#[test]
fn two_hundred_features_cost_none_one_by_one_and_in_a_row() {
    let payload =
        (0..200).fold(ExampleBuilder::new(), |builder, i| builder.int64(format!("key/{i}"), i)).encode();
    let (sum, count) = allocations(|| {
        let example = Example::parse(&payload).unwrap();
        let last = example.get("key/199").and_then(|feature| feature.int64s().next()).unwrap();
        last + example.iter().flat_map(|(_, feature)| feature.int64s()).sum::<i64>()
    });
    assert_eq!((sum, count), (199 + 199 * 200 / 2, 0));
}

#[test]
fn a_sequence_costs_none() {
    let steps = (0..50).map(|i| proto::Feature::int64_list([i, i]));
    let payload = SequenceExampleBuilder::new().list("steps", steps).encode();
    let (sum, count) = allocations(|| {
        let list = SequenceExample::parse(&payload).unwrap().list("steps").unwrap();
        list.iter().flat_map(|step| step.int64s()).sum::<i64>()
    });
    assert_eq!((sum, count), (49 * 50, 0));
}
