//! Reading a record as an Example: the borrowed view against prost's owned message, in one run.
//!
//! `cargo bench --bench example`. Each reader gives the same sum, so a reader that reads nothing would not pass.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use prost::Message;
use std::hint::black_box;
use std::time::Duration;
use tfrmap::{Example, ExampleBuilder, Features, Kind, proto};

/// A picture of 100 KB with height, width and label.
fn picture() -> Vec<u8> {
    let example = ExampleBuilder::new().bytes("image/encoded", vec![0xff; 100_000]);
    example.int64("image/height", 480).int64("image/width", 640).label(7).encode()
}

fn view_picture(payload: &[u8]) -> i64 {
    let example = Example::parse(payload).unwrap();
    let number = |key: &str| example.get(key).and_then(|feature| feature.int64s().next()).unwrap();
    let picture = example.get("image/encoded").and_then(|feature| feature.bytes().next()).unwrap();
    picture.len() as i64 + number("image/height") + number("image/width") + number("image/class/label")
}

fn prost_picture(payload: &[u8]) -> i64 {
    let features = proto::Example::decode(payload).unwrap().features.unwrap();
    let number = |key: &str| match &features.get(key).unwrap().kind {
        Some(proto::Kind::Int64List(list)) => list.value[0],
        _ => panic!("no integer"),
    };
    let Some(proto::Kind::BytesList(picture)) = &features.get("image/encoded").unwrap().kind else {
        panic!("no bytes");
    };
    let length = picture.value[0].len() as i64;
    length + number("image/height") + number("image/width") + number("image/class/label")
}

/// 200 features: integers, floats and short byte strings by turns.
fn many() -> Vec<u8> {
    let add = |builder: ExampleBuilder, i: i64| match i % 3 {
        0 => builder.int64(format!("group/feature_{i}"), i),
        1 => builder.float(format!("group/feature_{i}"), i as f32),
        _ => builder.bytes(format!("group/feature_{i}"), vec![b'x'; i as usize]),
    };
    (0..200).fold(ExampleBuilder::new(), add).encode()
}

fn view_many(payload: &[u8]) -> i64 {
    let example = Example::parse(payload).unwrap();
    let one = |feature: tfrmap::Feature<'_>| match feature.kind() {
        Kind::Int64 => feature.int64s().sum(),
        Kind::Float => feature.floats().sum::<f32>() as i64,
        _ => feature.bytes().map(|value| value.len() as i64).sum(),
    };
    example.iter().map(|(_, feature)| one(feature)).sum()
}

fn prost_many(payload: &[u8]) -> i64 {
    let features = proto::Example::decode(payload).unwrap().features.unwrap();
    let one = |feature: &proto::Feature| match &feature.kind {
        Some(proto::Kind::Int64List(list)) => list.value.iter().sum(),
        Some(proto::Kind::FloatList(list)) => list.value.iter().sum::<f32>() as i64,
        Some(proto::Kind::BytesList(list)) => list.value.iter().map(|value| value.len() as i64).sum(),
        None => 0,
    };
    features.feature.iter().map(|entry| one(&entry.value)).sum()
}

fn readers(c: &mut Criterion) {
    type Reader = fn(&[u8]) -> i64;
    let cases: [(&str, Vec<u8>, Reader, Reader); 2] = [
        ("picture_100kb_and_3_integers", picture(), view_picture, prost_picture),
        ("200_features", many(), view_many, prost_many),
    ];
    for (name, payload, view, prost) in cases {
        assert_eq!(view(&payload), prost(&payload));
        let mut group = c.benchmark_group(name);
        group.bench_with_input(BenchmarkId::from_parameter("view"), &payload, |b, payload| {
            b.iter(|| view(black_box(payload)));
        });
        group.bench_with_input(BenchmarkId::from_parameter("check_only"), &payload, |b, payload| {
            b.iter(|| Example::parse(black_box(payload)).is_ok());
        });
        group.bench_with_input(BenchmarkId::from_parameter("prost"), &payload, |b, payload| {
            b.iter(|| prost(black_box(payload)));
        });
        group.finish();
    }
}

/// Whole batches of 64 records as columns.
fn columns(c: &mut Criterion) {
    let payloads: Vec<Vec<u8>> = vec![many(); 64];
    let features = Features::infer(&payloads);
    c.bench_function("200_columns_of_64_records", |b| {
        b.iter(|| features.parse(black_box(&payloads)).unwrap().len());
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).without_plots();
    targets = readers, columns
}
criterion_main!(benches);
