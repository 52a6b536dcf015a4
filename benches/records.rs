//! Indexes and records: building, opening, reading at random, writing. Synthetic data in a temporary folder.
//!
//! `cargo bench --bench records`. Times are of data in memory; each group's baseline is the CRC alone over the same bytes,
//! by one thread and by as many as there are cores. `few` fits into the processor's cache, `small` does not: there a
//! record costs two waits for memory, one for its index entry and one for itself, unless many are asked for at once.

use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tfrmap::{Access, FileVerifier, Index, OpenOptions, RecordReader, RecordWriter, Store};

/// A file of `n` records of about `len` bytes that no compressor could shorten.
fn make(folder: &Path, name: &str, n: u64, len: usize) -> PathBuf {
    let path = folder.join(name);
    let mut writer =
        RecordWriter::new(BufWriter::with_capacity(1 << 20, std::fs::File::create(&path).unwrap()));
    let mut random = Random(n);
    let mut payload = vec![0; len * 2];
    for _ in 0..n {
        let len = if len > 1000 { len / 2 + random.below(len as u64) as usize } else { len };
        payload[..len]
            .chunks_mut(8)
            .for_each(|chunk| chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]));
        writer.write(&payload[..len]).unwrap();
    }
    writer.into_inner().flush().unwrap();
    path
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// The CRCs of all bytes, a part by each of the cores.
fn crc_by_all(bytes: &[u8]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for part in bytes.chunks(bytes.len().div_ceil(cores)) {
            scope.spawn(|| black_box(crc32c::crc32c(part)));
        }
    });
}

fn records(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let large = make(folder.path(), "large", 1000, 110_000);
    let small = make(folder.path(), "small", 500_000, 100);
    let few = make(folder.path(), "few", 4_000, 100);
    for (name, path) in [("large", &large), ("small", &small), ("few", &few)] {
        let bytes = std::fs::read(path).unwrap();
        let store = Store::open(path).unwrap();
        let mut random = Random(7);

        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("crc_alone", |b| b.iter(|| crc32c::crc32c(black_box(&bytes))));
        group.bench_function("crc_alone_by_all", |b| b.iter(|| crc_by_all(black_box(&bytes))));
        group.bench_function("index_build", |b| b.iter(|| Index::build(path).unwrap()));
        group.bench_function("index_save", |b| {
            let index = Index::build(path).unwrap();
            b.iter(|| index.save(path).unwrap());
        });
        group.bench_function("verify", |b| b.iter(|| FileVerifier::new().verify(path, |_| {}).unwrap()));
        group.bench_function("verify_one_thread", |b| {
            b.iter(|| FileVerifier::new().jobs(1).verify(path, |_| {}).unwrap());
        });
        group.bench_function("stream", |b| {
            b.iter(|| {
                let mut reader = RecordReader::open(path).unwrap();
                let mut payload = Vec::new();
                let mut count = 0;
                while reader.read_into(&mut payload).unwrap() {
                    count += 1;
                }
                count
            });
        });
        group.finish();

        let mut group = criterion.benchmark_group(format!("{name}_record"));
        let n = store.len();
        group.bench_function("open", |b| b.iter(|| Store::open(path).unwrap()));
        let spans: Vec<_> = (0..n).map(|i| store.span(i).unwrap()).collect();
        group.bench_function("crc_alone", |b| {
            b.iter_batched(
                || spans[random.below(n) as usize],
                |span| crc32c::crc32c(&bytes[span.offset as usize + 12..][..span.payload_len as usize]),
                BatchSize::SmallInput,
            );
        });
        for (access, what) in [(Access::Map, "map"), (Access::Read, "read")] {
            let store = Store::open_with(&OpenOptions::new().access(access), path).unwrap();
            group.bench_function(format!("get_{what}"), |b| {
                b.iter_batched(|| random.below(n), |i| store.get(i).unwrap(), BatchSize::SmallInput);
            });
            group.bench_function(format!("get_{what}_of_64"), |b| {
                let mut numbers = [0; 64];
                b.iter_custom(|iterations| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..iterations.div_ceil(64) {
                        numbers.fill_with(|| random.below(n));
                        let before = Instant::now();
                        store.get_many(&numbers).for_each(|record| drop(black_box(record.unwrap())));
                        spent += before.elapsed();
                    }
                    spent
                });
            });
            group.bench_function(format!("read_into_{what}"), |b| {
                let mut payload = Vec::new();
                b.iter_batched(
                    || random.below(n),
                    |i| store.read_into(i, &mut payload).unwrap(),
                    BatchSize::SmallInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_millis(700)).without_plots();
    targets = records
}
criterion_main!(benches);
