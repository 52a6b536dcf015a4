//! Resizing a decoded photograph of 375 x 500 to 224 x 224, by method and type.
//!
//! `cargo bench --bench resize`. For the comparison with other libraries in one process see `tools/pixels-bench`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrmap::image::{
    AugmentKey, DecodeOptions, ImageSpec, ImageWorker, Method, PixelType, PixelsMut, decode,
};

const PHOTO: &[u8] = include_bytes!("../tests/data/golden/images/inputs/photo_astronaut_375x500_opt.jpg");
const SIDE: u32 = 224;

fn bench(c: &mut Criterion) {
    let photo = decode(PHOTO, &DecodeOptions::default()).unwrap();
    let spec = |method| ImageSpec::rgb(SIDE, SIDE).method(method);
    let bytes = |method| spec(method).dtype(PixelType::U8);
    let jobs = [
        ("bilinear/f32", spec(Method::Bilinear)),
        ("bilinear/u8", bytes(Method::Bilinear)),
        ("bilinear_antialias/f32", spec(Method::Bilinear).antialias(true)),
        ("bicubic/f32", spec(Method::Bicubic)),
        ("area/f32", spec(Method::Area)),
        ("lanczos3_antialias/f32", spec(Method::Lanczos3).antialias(true)),
        ("pillow_bilinear/u8", bytes(Method::PillowBilinear)),
        ("pillow_bicubic/u8", bytes(Method::PillowBicubic)),
        ("pillow_lanczos/u8", bytes(Method::PillowLanczos)),
    ];
    let len = (SIDE * SIDE * 3) as usize;
    let (mut worker, mut small, mut large) = (ImageWorker::new(), vec![0; len], vec![0.0; len]);
    let mut group = c.benchmark_group("resize");
    group.throughput(Throughput::Elements(u64::from(SIDE * SIDE)));
    for (name, spec) in jobs {
        let mut run = || {
            let out = match spec.pixel_type() {
                PixelType::U8 => PixelsMut::U8(&mut small),
                PixelType::F32 => PixelsMut::F32(&mut large),
            };
            worker.run_decoded(black_box(&photo), &spec, AugmentKey::default(), out).unwrap()
        };
        assert_eq!(run().source, [photo.height, photo.width], "{name}");
        group.bench_function(name, |b| b.iter(&mut run));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).without_plots();
    targets = bench
}
criterion_main!(benches);
