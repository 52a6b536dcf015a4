//! Decoding photographs of 4:4:4 and 4:2:0, whole, by rows, and a crop of half the area.
//!
//! `cargo bench --bench jpeg`. Each way is first checked to give the same pixels. For the comparison with
//! libjpeg-turbo in one process see `tools/jpeg-check`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrmap::image::jpeg::{Crop, Dct, Decoder, Options, decode};

const PHOTOS: [(&str, &[u8]); 2] = [
    ("444", include_bytes!("../tests/data/golden/images/inputs/photo_chelsea_451x300_444.jpg")),
    ("420", include_bytes!("../tests/data/golden/images/inputs/photo_astronaut_375x500_opt.jpg")),
];

fn bench(c: &mut Criterion) {
    for (name, bytes) in PHOTOS {
        let mut group = c.benchmark_group(format!("jpeg/{name}"));
        let mut decoder = Decoder::new();
        let mut out = Vec::new();
        for dct in [Dct::Accurate, Dct::Fast] {
            let options = Options { dct, ..Options::default() };
            let whole = decode(bytes, &options).unwrap();
            let mut rows = Vec::new();
            decoder.decode_rows(bytes, &options, |_: u32, row: &[u8]| rows.extend_from_slice(row)).unwrap();
            assert!(rows == whole.pixels);
            group.throughput(Throughput::Elements(u64::from(whole.width) * u64::from(whole.height)));
            group.bench_function(format!("{dct:?}/whole"), |b| {
                b.iter(|| decoder.decode_into(black_box(bytes), &options, &mut out).unwrap());
            });
            group.bench_function(format!("{dct:?}/rows"), |b| {
                let mut sum = 0u64;
                b.iter(|| {
                    let add = |_: u32, row: &[u8]| sum += u64::from(row[0]);
                    decoder.decode_rows(black_box(bytes), &options, add).unwrap()
                });
                black_box(sum);
            });
            let crop = Crop { x: 50, y: 30, width: whole.width * 7 / 10, height: whole.height * 7 / 10 };
            let options = Options { crop: Some(crop), ..options };
            group.bench_function(format!("{dct:?}/crop"), |b| {
                b.iter(|| decoder.decode_into(black_box(bytes), &options, &mut out).unwrap());
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).without_plots();
    targets = bench
}
criterion_main!(benches);
