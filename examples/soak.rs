//! Runs shuffled epochs over a set that is damaged anew all the time, and watches what must not grow.
//!
//! `cargo run --release --example soak -- SECONDS` writes a small set of pictures, damages some records at random, and reads epoch after
//! epoch with random batch sizes, threads, access and error policies, giving up runs half-way and resuming them. Each epoch must hold
//! each whole record exactly once, and each damaged one must be named. Every tenth of the time it prints memory, descriptors, maps and
//! processor time per record, and at the end it compares the last third with the first. Exits with an error where anything drifts.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use jpeg_encoder::{ColorType, Encoder};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};
use tfrmap::image::{ImageSpec, PixelType};
use tfrmap::{
    Access, Batch, Batches, Dataset, ExampleBuilder, Features, IndexBuilder, OnError, OpenOptions,
    RecordWriter,
};

const SHARDS: usize = 8;
const RECORDS: usize = 2000;
const EPOCHS: u64 = 3;
const WIDTH: usize = 40;
const HEIGHT: usize = 30;

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(60), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let payloads = payloads()?;
    let mut random = SmallRng::seed_from_u64(seconds);
    let mut soak = Soak::default();
    let (start, total) = (Instant::now(), Duration::from_secs(seconds));
    let mut samples = Vec::new();
    while start.elapsed() < total {
        let damaged = write_damaged(folder.path(), &payloads, &mut random)?;
        for _ in 0..4 {
            soak.run(folder.path(), &damaged, &mut random)?;
        }
        if start.elapsed() >= total * (samples.len() as u32 + 1) / 10 {
            samples.push(soak.sample(start.elapsed())?);
            println!("{}", samples.last().ok_or("no sample")?);
        }
    }
    println!(
        "{} epochs in {} runs, {} of them resumed; {} records, {} damaged ones named",
        soak.epochs, soak.runs, soak.resumed, soak.records, soak.named
    );
    drift(&samples)
}

/// Examples with a picture, its number and a label that follows from it.
fn payloads() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut payloads = Vec::new();
    for id in 0..RECORDS as u64 {
        let mut jpeg = Vec::new();
        let rgb: Vec<u8> = (0..WIDTH * HEIGHT * 3).map(|i| (i as u64 * (id + 3) / 7) as u8).collect();
        Encoder::new(&mut jpeg, 80).encode(&rgb, WIDTH as u16, HEIGHT as u16, ColorType::Rgb)?;
        payloads.push(
            ExampleBuilder::new()
                .bytes("image", jpeg)
                .int64("id", id as i64)
                .int64("label", (id % 10) as i64)
                .encode(),
        );
    }
    Ok(payloads)
}

/// Puts a new generation of the set in place, in which some payloads have a bit turned; true for those.
fn write_damaged(
    folder: &Path,
    payloads: &[Vec<u8>],
    random: &mut SmallRng,
) -> Result<Vec<bool>, Box<dyn Error>> {
    let damaged: Vec<bool> = payloads.iter().map(|_| random.random_range(0..100) == 0).collect();
    let mut paths = Vec::new();
    for (shard, payloads) in payloads.chunks(RECORDS / SHARDS).enumerate() {
        let mut bytes = Vec::new();
        for (i, payload) in payloads.iter().enumerate() {
            let at = bytes.len() + 12 + random.random_range(0..payload.len());
            let mut writer = RecordWriter::new(&mut bytes);
            writer.write(payload)?;
            if damaged[shard * (RECORDS / SHARDS) + i] {
                bytes[at] ^= 1 << random.random_range(0..8);
            }
        }
        let path = folder.join(format!("soak-{shard:05}-of-{SHARDS:05}"));
        let new = folder.join(".new");
        fs::write(&new, bytes)?;
        fs::rename(new, &path)?;
        paths.push(path);
    }
    // Where only payloads differ the frames are as they were, but not their CRCs.
    for report in IndexBuilder::new().force(true).build(&paths, |_| {}) {
        if let Some(error) = report.error {
            return Err(error.into());
        }
    }
    Ok(damaged)
}

/// What has been read so far.
#[derive(Default)]
struct Soak {
    runs: u64,
    resumed: u64,
    epochs: u64,
    records: u64,
    named: u64,
    /// Processor time and records at the last sample.
    last: (u64, u64),
}

impl Soak {
    /// Some epochs, given up and resumed at random, each of which must be exact.
    fn run(&mut self, folder: &Path, damaged: &[bool], random: &mut SmallRng) -> Result<(), Box<dyn Error>> {
        let access = if random.random() { Access::Map } else { Access::Read };
        let spec = ImageSpec::rgb(24, 24);
        let spec = if random.random() { spec.dtype(PixelType::U8) } else { spec };
        let features =
            Features::new().image("image", spec).fixed_len::<i64>("id", []).fixed_len::<i64>("label", []);
        let seed = random.next_u64();
        let dataset = Dataset::open_with(&OpenOptions::new().access(access), [folder.join("soak-*")])?;
        let dataset = dataset.with_features(features).shuffled(seed).epochs(0..EPOCHS);
        let limit = u64::MAX;
        let on_error = if random.random() { OnError::Skip { limit } } else { OnError::Mask { limit } };
        let mut batches = begin(&dataset, on_error, random);
        let mut seen = BTreeMap::<u64, Vec<u32>>::new();
        let mut named = 0;
        self.runs += 1;
        loop {
            if random.random_range(0..300) == 0 {
                let state = batches.state();
                named += batches.bad_records().len();
                batches = begin(&dataset, on_error, random).resume(&state)?;
                self.resumed += 1;
            }
            let Some(batch) = batches.next() else { break };
            let batch = batch?;
            self.records += batch.len() as u64;
            count(&batch, seen.entry(batch.epoch()).or_insert_with(|| vec![0; RECORDS]))?;
        }
        named += batches.bad_records().len();
        let exact = |counts: &Vec<u32>| {
            counts.iter().zip(damaged).all(|(count, damaged)| *count == u32::from(!damaged))
        };
        if seen.len() as u64 != EPOCHS || !seen.values().all(exact) {
            return Err(format!("an epoch of seed {seed} is not exact").into());
        }
        if named != damaged.iter().filter(|damaged| **damaged).count() * EPOCHS as usize {
            return Err(format!("{named} damaged records were named with seed {seed}").into());
        }
        self.named += named as u64;
        self.epochs += EPOCHS;
        Ok(())
    }

    fn sample(&mut self, at: Duration) -> Result<Sample, Box<dyn Error>> {
        // Threads of a run that has ended let go of its files a moment later.
        std::thread::sleep(Duration::from_millis(100));
        let status = fs::read_to_string("/proc/self/status")?;
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let stat = fs::read_to_string("/proc/self/stat")?;
        let ticks: u64 = stat
            .rsplit(')')
            .next()
            .ok_or("no stat")?
            .split_whitespace()
            .skip(11)
            .take(2)
            .flat_map(str::parse::<u64>)
            .sum();
        let (ticks_before, records_before) = std::mem::replace(&mut self.last, (ticks, self.records));
        Ok(Sample {
            at,
            rss_mb: rss.trim().trim_end_matches(" kB").parse::<u64>()? / 1024,
            descriptors: fs::read_dir("/proc/self/fd")?.count() as u64,
            maps: fs::read_to_string("/proc/self/maps")?.lines().count() as u64,
            // A tick is a hundredth of a second.
            cpu_us: (ticks - ticks_before) * 10_000 / (self.records - records_before).max(1),
            epochs: self.epochs,
        })
    }
}

fn begin(dataset: &Dataset, on_error: OnError, random: &mut SmallRng) -> Batches {
    let size = random.random_range(1..65);
    dataset.clone().batches(size).threads(random.random_range(1..4)).on_error(on_error)
}

/// Counts the valid rows, and checks that each is what its number says.
fn count(batch: &Batch, seen: &mut [u32]) -> Result<(), Box<dyn Error>> {
    let ids = batch.column("id")?.get::<i64>()?;
    let labels = batch.column("label")?.get::<i64>()?;
    for (row, (valid, index)) in batch.valid().iter().zip(batch.indices()).enumerate() {
        if *valid {
            if ids[row] as u64 != *index || labels[row] != ids[row] % 10 {
                return Err(format!("record {index} came as {} with label {}", ids[row], labels[row]).into());
            }
            seen[*index as usize] += 1;
        }
    }
    Ok(())
}

/// What the process holds, and what a record costs.
struct Sample {
    at: Duration,
    rss_mb: u64,
    descriptors: u64,
    maps: u64,
    cpu_us: u64,
    epochs: u64,
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Sample { at, rss_mb, descriptors, maps, cpu_us, epochs } = self;
        let seconds = at.as_secs();
        write!(
            f,
            "{seconds} s: {epochs} epochs, {rss_mb} MB, {descriptors} descriptors, {maps} maps, {cpu_us} us of processor a record"
        )
    }
}

/// An error where the last third needs more than the first.
fn drift(samples: &[Sample]) -> Result<(), Box<dyn Error>> {
    let third = samples.len() / 3;
    if third == 0 {
        println!("too short to compare");
        return Ok(());
    }
    let median = |samples: &[Sample], of: fn(&Sample) -> u64| {
        let mut values: Vec<u64> = samples.iter().map(of).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    type Figure = (&'static str, fn(&Sample) -> u64, u64);
    let figures: [Figure; 4] = [
        ("MB", |sample| sample.rss_mb, 8),
        ("descriptors", |sample| sample.descriptors, 4),
        ("maps", |sample| sample.maps, 40),
        ("us a record", |sample| sample.cpu_us, 10),
    ];
    for (what, of, slack) in figures {
        let (first, last) = (median(&samples[..third], of), median(&samples[samples.len() - third..], of));
        println!("{what}: {first} in the first third, {last} in the last");
        if last > first + first / 5 + slack {
            return Err(format!("{what} grew from {first} to {last}").into());
        }
    }
    Ok(())
}
