//! From bytes to batches: one picture decoded and resized, and whole epochs of pictures through the pipeline.
//!
//! `cargo bench --bench pictures`. `benches/harness` compares with other loaders; this is for seeing a change of our own.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tempfile::TempDir;
use tfrmap::image::{AugmentKey, Dct, ImageSpec, ImageWorker, PixelsMut};
use tfrmap::{Dataset, DatasetWriter, ExampleBuilder};

const WIDTH: u16 = 500;
const HEIGHT: u16 = 375;

/// A picture with texture at every scale: about 4 bits a pixel.
fn jpeg(seed: u32, sampling: SamplingFactor) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state % 41) as i32 - 20
    };
    let mut pixels = Vec::new();
    for y in 0..i32::from(HEIGHT) {
        for x in 0..i32::from(WIDTH) {
            let wave = ((x * x / 97 + y * (3 + seed as i32 % 5)) % 160) + (x / 60 + y / 45) % 2 * 40;
            let grain = noise();
            pixels.extend(
                [wave + grain, wave / 2 + 60 + grain, 200 - wave + grain].map(|v| v.clamp(0, 255) as u8),
            );
        }
    }
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, 92);
    encoder.set_sampling_factor(sampling);
    encoder.encode(&pixels, WIDTH, HEIGHT, ColorType::Rgb).unwrap();
    out
}

fn one_picture(c: &mut Criterion) {
    let mut group = c.benchmark_group("500x375 JPEG to 224x224 f32");
    group.throughput(Throughput::Elements(1));
    let specs = [
        ("default", ImageSpec::rgb(224, 224)),
        ("fast DCT", ImageSpec::rgb(224, 224).dct(Dct::Fast)),
        ("antialias", ImageSpec::rgb(224, 224).antialias(true)),
    ];
    for (name, sampling) in [("4:4:4", SamplingFactor::F_1_1), ("4:2:0", SamplingFactor::F_2_2)] {
        let bytes = jpeg(1, sampling);
        for (kind, spec) in &specs {
            let mut worker = ImageWorker::new();
            let mut out = vec![0.0; 224 * 224 * 3];
            group.bench_function(BenchmarkId::new(*kind, name), |b| {
                b.iter(|| {
                    worker.run(&bytes, spec, AugmentKey::default(), PixelsMut::F32(&mut out)).unwrap();
                    black_box(out[777])
                });
            });
        }
    }
    group.finish();
}

fn epochs(c: &mut Criterion) {
    let folder = TempDir::new().unwrap();
    let mut group = c.benchmark_group("epoch");
    group.sample_size(10);

    const PICTURES: usize = 64;
    let pictures = folder.path().join("pictures");
    let mut writer = DatasetWriter::create(&pictures).unwrap();
    for i in 0..PICTURES {
        let example = ExampleBuilder::new().bytes("image/encoded", jpeg(i as u32, SamplingFactor::F_1_1));
        writer.write(&example.label(i as i64).encode()).unwrap();
    }
    writer.finish().unwrap();
    let dataset = Dataset::open(&pictures).unwrap().shuffled(1);
    group.throughput(Throughput::Elements(PICTURES as u64));
    for size in [10, 64] {
        group.bench_function(BenchmarkId::new("pictures, batches of", size), |b| {
            b.iter(|| count(dataset.clone(), size, PICTURES));
        });
    }
    group.finish();
}

fn count(dataset: Dataset, size: usize, records: usize) {
    let counted: usize = dataset.batches(size).map(|batch| batch.unwrap().len()).sum();
    assert_eq!(counted, records);
}

criterion_group!(benches, one_picture, epochs);
criterion_main!(benches);
