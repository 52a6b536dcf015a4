//! The order: a position, and the begin of an epoch.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use tfrmap::Order;

fn at(c: &mut Criterion) {
    let mut group = c.benchmark_group("at");
    for len in [60_000, 65_537, 1 << 20, (1 << 30) + 1, 1 << 40] {
        let order = Order::shuffled(len, 7, 3);
        let mut position = 0;
        group.bench_function(len.to_string(), |b| {
            b.iter(|| {
                position = (position + 1) % len;
                black_box(order.at(position))
            });
        });
    }
}

fn begin(c: &mut Criterion) {
    let mut group = c.benchmark_group("begin");
    for len in [1000, 65_535, 1 << 30] {
        group.bench_function(len.to_string(), |b| b.iter(|| Order::shuffled(black_box(len), 7, 3)));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).without_plots();
    targets = at, begin
}
criterion_main!(benches);
