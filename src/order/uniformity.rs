//! Is a shuffled order a uniform permutation? Fixed seeds, so that a run always gives the same figures; every figure is
//! a z-score (0 is expected, 1 is one standard deviation). The battery must be able to fail: 4 rounds fail it.

use super::{Cipher, Order, ROUNDS, key};

/// Beyond this a figure is no chance: with some hundred figures one in 10^4 batteries would reach it.
const TOO_FAR: f64 = 5.0;

/// The z-score of a chi-square statistic (Wilson and Hilferty's cube root); a cell's weight is proportional to its chance.
fn chi_square(counts: &[u64], weight: impl Fn(usize) -> u64) -> f64 {
    let total: u64 = counts.iter().sum();
    let weights: u64 = (0..counts.len()).map(&weight).sum();
    let expected = |cell: usize| total as f64 * weight(cell) as f64 / weights as f64;
    let chi: f64 =
        counts.iter().enumerate().map(|(i, &count)| (count as f64 - expected(i)).powi(2) / expected(i)).sum();
    let freedom = (counts.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    ((chi / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// All figures for one length: `permutation(seed, epoch, position)`.
fn battery(len: u64, seeds: u64, permutation: impl Fn(u64, u64) -> Vec<u64>) -> Vec<(&'static str, f64)> {
    const CELLS: u64 = 16;
    let cell = |value: u64| (value * CELLS / len) as usize;
    let mut sizes = [0u64; CELLS as usize];
    (0..len).for_each(|value| sizes[cell(value)] += 1);
    let pair = |index: usize| (index / CELLS as usize, index % CELLS as usize);
    let independent = |index: usize| sizes[pair(index).0] * sizes[pair(index).1];
    let distinct = |index: usize| {
        independent(index) - if pair(index).0 == pair(index).1 { sizes[pair(index).0] } else { 0 }
    };
    let square = || vec![0u64; (CELLS * CELLS) as usize];
    let (mut place, mut serial, mut epochs, mut step) =
        (square(), square(), square(), vec![0u64; CELLS as usize]);
    let (mut low_bits, mut kept, mut kept_squares) = (vec![0u64; 64], 0.0, 0.0);
    for seed in 0..seeds {
        let order = permutation(seed, 0);
        let next = permutation(seed, 1);
        let mut neighbours = 0.0;
        for position in 0..len as usize {
            let value = order[position];
            place[cell(position as u64) * CELLS as usize + cell(value)] += 1;
            epochs[cell(value) * CELLS as usize + cell(next[position])] += 1;
            low_bits[position % 8 * 8 + (value % 8) as usize] += 1;
            if let Some(&after) = order.get(position + 1) {
                serial[cell(value) * CELLS as usize + cell(after)] += 1;
                step[cell((after + len - value) % len)] += 1;
                neighbours += f64::from(after == value + 1);
            }
        }
        kept += neighbours;
        kept_squares += neighbours * neighbours;
    }
    // The number of neighbours kept in order has mean and variance (n-1)/n and about 1, nearly a Poisson's.
    let (runs, mean) = (seeds as f64, kept / seeds as f64);
    let variance = kept_squares / runs - mean * mean;
    let expected = (len - 1) as f64 / len as f64;
    let eighth = |rest: usize| (len + 7 - rest as u64) / 8;
    vec![
        ("position to value", chi_square(&place, independent)),
        ("low bits", chi_square(&low_bits, |i| eighth(i / 8) * eighth(i % 8))),
        ("serial pairs", chi_square(&serial, distinct)),
        // A difference is never 0.
        ("adjacent difference", chi_square(&step, |i| sizes[i] - u64::from(i == 0))),
        ("same position, next epoch", chi_square(&epochs, independent)),
        ("neighbours kept, mean", (mean - expected) * runs.sqrt()),
        ("neighbours kept, variance", (variance - 1.0) * (runs / 3.0).sqrt()),
    ]
}

fn worst(figures: &[(&'static str, f64)]) -> (&'static str, f64) {
    *figures.iter().max_by(|x, y| x.1.total_cmp(&y.1)).expect("some figures")
}

fn cipher<const R: usize>(len: u64) -> impl Fn(u64, u64) -> Vec<u64> {
    move |seed, epoch| {
        let cipher = Cipher::<R>::new(len, key(seed, epoch));
        (0..len).map(|position| cipher.at(position)).collect()
    }
}

fn order(len: u64) -> impl Fn(u64, u64) -> Vec<u64> {
    move |seed, epoch| {
        let order = Order::shuffled(len, seed, epoch);
        (0..len).map(|position| order.at(position)).collect()
    }
}

#[test]
fn every_permutation_of_few_records_is_equally_likely() {
    for len in 2..=6u64 {
        let count: u64 = (1..=len).product();
        let mut counts = vec![0u64; count as usize];
        for seed in 0..count * 300 {
            let order = Order::shuffled(len, seed / 7, seed % 7);
            // The Lehmer code numbers the permutations.
            let values: Vec<u64> = (0..len).map(|p| order.at(p)).collect();
            let rank = (0..values.len()).fold(0, |rank, i| {
                let smaller = values[i + 1..].iter().filter(|&&later| later < values[i]).count();
                rank * (values.len() - i) + smaller
            });
            counts[rank] += 1;
        }
        let z = chi_square(&counts, |_| 1);
        assert!(z.abs() < TOO_FAR, "n = {len}: z = {z:.2}");
    }
}

#[test]
fn the_order_passes_the_battery_below_and_above_the_table() {
    for (len, seeds) in [(100, 3000), (1000, 2000), (65_535, 8), (65_537, 8), (131_071, 6), (200_000, 4)] {
        let figures = battery(len, seeds, order(len));
        println!("order n = {len}: {figures:.2?}");
        assert!(worst(&figures).1 < TOO_FAR, "n = {len}: {figures:.2?}");
    }
}

#[test]
fn the_cipher_passes_the_battery_where_it_is_weakest() {
    for (len, seeds) in [(1000, 6000), (1023, 3000), (1025, 3000), (4096, 1000)] {
        let figures = battery(len, seeds, cipher::<ROUNDS>(len));
        println!("{ROUNDS} rounds, n = {len}: {figures:.2?}");
        assert!(worst(&figures).1 < TOO_FAR, "n = {len}: {figures:.2?}");
    }
}

#[test]
fn four_rounds_fail_the_battery() {
    let figures = battery(1000, 6000, cipher::<4>(1000));
    println!("4 rounds: {figures:.2?}");
    assert!(worst(&figures).1 > 2.0 * TOO_FAR, "the battery is blind: {figures:.2?}");
}

#[test]
fn neighbouring_seeds_and_epochs_share_nothing() {
    let len = 1000;
    let pairs = [
        ((0, 1), (1, 0)),
        ((0, 0), (0, 1)),
        ((0, 0), (1, 0)),
        ((7, 7), (8, 6)),
        ((u64::MAX, 0), (0, u64::MAX)),
    ];
    for (one, two) in pairs {
        let (one, two) = (Order::shuffled(len, one.0, one.1), Order::shuffled(len, two.0, two.1));
        let fixed = (0..len).filter(|&p| one.at(p) == two.at(p)).count();
        assert!(fixed < 8, "{fixed} of {len} positions agree");
    }
}

/// The number of classes in a batch of 128 of a set that is sorted by class, and how far records move: what a
/// training run feels. Both are needed: an interleaved buffer moves records far and still mixes poorly.
#[test]
fn sorted_classes_are_mixed_in_every_batch() {
    let (len, classes, batch) = (100_000u64, 1000u64, 128);
    let order = Order::shuffled(len, 3, 5);
    let values: Vec<u64> = (0..len).map(|p| order.at(p)).collect();
    let moved: f64 =
        values.iter().enumerate().map(|(p, &v)| (v as f64 - p as f64).abs()).sum::<f64>() / len as f64;
    let distinct = |chunk: &[u64]| {
        let mut seen: Vec<u64> = chunk.iter().map(|v| v * classes / len).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    let counts: Vec<usize> = values.chunks_exact(batch).map(distinct).collect();
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    println!("moved {:.4} of the set, {mean:.2} classes in a batch of {batch}", moved / len as f64);
    // 1000 * (1 - (1 - 1/1000)^128) = 120.2; the mean displacement of a permutation is a third.
    assert!((mean - 120.2).abs() < 0.5, "{mean}");
    assert!((moved / len as f64 - 1.0 / 3.0).abs() < 0.005, "{moved}");
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}
