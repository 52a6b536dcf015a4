//! How fast batches come: `throughput PATH [--batch N] [--threads N] [--epochs N] [--seed S | --sequential] [--spec F.json]
//! [--raw] [--read] [--sleep-ms N] [--memory]`. Prints one line of JSON.
//!
//! `--memory` adds, for each epoch, the most anonymous memory that was resident after a batch, in KB.
//!
//! `per_s` counts everything from the first line of `main` on, `steady_per_s` what comes after the first batch, and
//! `first_batch_s` is the time from the start of the process to the first batch.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::json;
use tfrmap::{Access, Dataset, Features, OpenOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).cloned();
    let number = |name: &str, default: u64| value(name).map_or(Ok(default), |text| text.parse());
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let path = arguments.first().ok_or("usage: throughput PATH [OPTIONS]")?;

    let access = if flag("--read") { Access::Read } else { Access::Auto };
    let mut dataset = Dataset::open_with(&OpenOptions::new().access(access), [path])?;
    if flag("--raw") {
        dataset = dataset.with_features(Features::raw());
    } else if let Some(file) = value("--spec") {
        dataset = dataset
            .with_features(Features::from_json(&serde_json::from_str(&std::fs::read_to_string(file)?)?)?);
    }
    if !flag("--sequential") {
        dataset = dataset.shuffled(number("--seed", 7)?);
    }
    let pause = Duration::from_millis(number("--sleep-ms", 0)?);
    let dataset = dataset.epochs(0..number("--epochs", 1)?);
    let mut batches =
        dataset.batches(number("--batch", 10)? as usize).threads(number("--threads", 0)? as usize);

    let memory = flag("--memory");
    let mut by_epoch: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut records, mut first) = (0, None);
    for batch in batches.by_ref() {
        let batch = batch?;
        records += batch.len();
        first.get_or_insert_with(|| (Instant::now(), batch.len(), since_process_start()));
        if memory {
            let most = by_epoch.entry(batch.epoch()).or_default();
            *most = status("RssAnon").unwrap_or(0).max(*most);
        }
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
    }
    let (first_at, first_len, first_batch_s) = first.ok_or("no batch")?;
    let seconds = started.elapsed().as_secs_f64();
    let steady = (records - first_len) as f64 / first_at.elapsed().as_secs_f64();
    let stats = batches.stats();
    println!(
        "{}",
        json!({
            "peer": "tfrmap", "task": "main", "n": records, "seconds": seconds,
            "per_s": records as f64 / seconds, "steady_per_s": steady, "first_batch_s": first_batch_s,
            "rss_mb": status("VmHWM").map(|kb| kb / 1024), "anon_mb": status("RssAnon").map(|kb| kb / 1024),
            "anon_kb_by_epoch": by_epoch.values().collect::<Vec<_>>(), "cpu_s": cpu_seconds(), "read_mb": disk_megabytes(),
            "waited_for_data_s": stats.waited_for_data.as_secs_f64(),
            "waited_for_consumer_s": stats.waited_for_consumer.as_secs_f64(),
            "mb_per_s": stats.bytes_per_second() / 1e6,
            "ahead": [stats.ahead_looked, stats.ahead_hits, stats.ahead_asked],
            "notes": "",
        })
    );
    Ok(())
}

/// Seconds, from the kernel's clock ticks; `None` where there is no /proc.
fn since_process_start() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let ticks: f64 = stat.rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()?;
    let uptime: f64 = std::fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
    Some(uptime - ticks / 100.0)
}

/// User and system time of the process.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some((fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?) / 100.0)
}

/// A line of /proc/self/status, in kilobytes.
fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// What the process had read from disk.
fn disk_megabytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?;
    Some(line.parse::<f64>().ok()? / 1e6)
}
