//! What the pipeline itself costs: small records, where nothing else takes time, and many threads.

use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tfrmap::{Dataset, DatasetWriter, ExampleBuilder, Features};

/// Payloads of 100 bytes.
fn raw(folder: &Path) -> Dataset {
    let mut writer = DatasetWriter::create(folder.join("raw")).expect("a writable folder");
    for i in 0..500_000u64 {
        let mut payload = [7; 100];
        payload[..8].copy_from_slice(&i.to_le_bytes());
        writer.write(&payload).expect("room for the records");
    }
    writer.finish().expect("room for the index").with_features(Features::raw())
}

/// Examples of 512 floats and a label: 2 KB.
fn floats(folder: &Path) -> Dataset {
    let mut writer = DatasetWriter::create(folder.join("floats")).expect("a writable folder");
    for i in 0..50_000 {
        let values = (0..512).map(|j| (i * 512 + j) as f32);
        writer
            .write(&ExampleBuilder::new().floats("x", values).label(i).encode())
            .expect("room for the records");
    }
    let features = Features::new().fixed_len::<f32>("x", [512]).fixed_len::<i64>("image/class/label", []);
    writer.finish().expect("room for the index").with_features(features)
}

fn epoch(c: &mut Criterion, name: &str, dataset: &Dataset, sizes: &[usize]) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).throughput(Throughput::Elements(dataset.len()));
    for &size in sizes {
        for threads in [1, 2] {
            let id = BenchmarkId::new(format!("{threads} threads"), format!("batches of {size}"));
            let mut epoch = 0;
            group.bench_function(id, |b| {
                b.iter(|| {
                    epoch += 1;
                    let batches = dataset.clone().shuffled(7).epoch(epoch).batches(size).threads(threads);
                    batches.map(|batch| batch.expect("whole records").len()).sum::<usize>()
                });
            });
        }
    }
}

fn small_records(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let raw = raw(folder.path());
    epoch(c, "raw records of 100 B", &raw, &[64, 1000]);
    epoch(c, "floats of 2 KB", &floats(folder.path()), &[32, 256]);

    let mut group = c.benchmark_group("closure on 100 B");
    group.sample_size(10).throughput(Throughput::Elements(raw.len()));
    group.bench_function("batches of 1000", |b| {
        b.iter(|| {
            let mapped = raw.clone().shuffled(7).map(|record| Ok(record.as_bytes()[0]));
            mapped
                .batches(1000)
                .threads(1)
                .map(|batch| black_box(batch.expect("whole records")).len())
                .sum::<usize>()
        });
    });
}

/// How the pipeline goes on more threads than there are cores: records of 100 KB that take a millisecond each, as pictures do,
/// but asleep. What is lost from one number of threads to twice as many is lost by the pipeline itself.
fn many_threads(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut writer = DatasetWriter::create(folder.path().join("photos")).expect("a writable folder");
    for _ in 0..320 {
        writer.write(&vec![7; 100_000]).expect("room for the records");
    }
    let dataset = writer.finish().expect("room for the index").shuffled(7);

    let mut group = c.benchmark_group("records that sleep for 1 ms, batches of 10");
    group.sample_size(10);
    for threads in [1, 2, 4, 8, 16, 32] {
        let epochs = 4 * threads.min(4);
        group.throughput(Throughput::Elements(epochs * dataset.len()));
        group.bench_function(BenchmarkId::from_parameter(format!("{threads} threads")), |b| {
            b.iter(|| {
                let slept = dataset.clone().epochs(0..epochs).map(|record| {
                    thread::sleep(Duration::from_millis(1));
                    Ok(record.as_bytes()[0])
                });
                let batches = slept.batches(10).threads(threads as usize);
                batches.map(|batch| batch.expect("whole records").len()).sum::<usize>()
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).without_plots();
    targets = small_records, many_threads
}
criterion_main!(benches);
