//! Compares the JPEG decoder with libjpeg-turbo (vendored by the `turbojpeg-sys` crate): pixels and speed.

mod generate;
mod mutate;
mod turbo;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tfrmap::image::jpeg::{Damage, Dct, Decoder, Error, Options, Output};
use turbo::Turbo;

const USAGE: &str = "usage:
  jpeg-check bench DIR [accurate|fast] [REPEATS]   speed over the JPEG files of a folder
  jpeg-check check DIR                             pixels of the files of a folder
  jpeg-check generate DIR COUNT                    pixels of COUNT new pictures made of the files of a folder
  jpeg-check mutate DIR COUNT [SEED]               pixels of COUNT damaged files
  jpeg-check fuzz DIR SECONDS [SEED]               no panic for damaged files, ours alone";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize| args.get(i).map(String::as_str);
    let number = |i: usize, default: u64| arg(i).map_or(default, |s| s.parse().expect("a number"));
    let Some(folder) = arg(1).map(Path::new) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let files = load(folder);
    let bad = match arg(0) {
        Some("bench") => {
            let dct = if arg(2) == Some("fast") { Dct::Fast } else { Dct::Accurate };
            bench(&files, dct, number(3, 5));
            0
        }
        Some("check") => files.iter().map(|(path, bytes)| compare(bytes, &path.display().to_string())).sum(),
        Some("generate") => generate::run(&files, number(2, 2000)),
        Some("mutate") => mutate::run(&files, number(2, 20_000), number(3, 1)),
        Some("fuzz") => mutate::fuzz(&files, number(2, 60), number(3, 1)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    println!("{bad} differences");
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn load(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths.retain(|p| p.extension().is_some_and(|e| e == "jpg" || e == "jpeg"));
    paths.into_iter().map(|p| (p.clone(), fs::read(&p).expect("a file"))).collect()
}

/// Decodes by both with all options; returns the number of differences.
fn compare(bytes: &[u8], name: &str) -> u64 {
    let mut bad = 0;
    for dct in [Dct::Accurate, Dct::Fast] {
        for output in [Output::Rgb, Output::Gray] {
            let options = Options { dct, output, damage: Damage::Lenient, ..Options::default() };
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            let we = Decoder::new().decode_into(bytes, &options, &mut ours);
            let they = Turbo::new().decode(bytes, dct, output == Output::Gray, &mut theirs);
            match (&we, &they) {
                // What is missing of a progressive file is smoothed as in libjpeg-turbo 2.1.4, TensorFlow's; the
                // vendored 3.x weighs other neighbours.
                (Ok(info), Ok(_)) if ours != theirs && info.progressive && is_damaged(bytes) => smoothed(name),
                (Ok(_), Ok(_)) if ours != theirs => {
                    let at = ours.iter().zip(&theirs).position(|(a, b)| a != b);
                    let count = ours.iter().zip(&theirs).filter(|(a, b)| a != b).count();
                    println!("{name}: {dct:?} {output:?}: {count} of {} bytes differ, first {at:?}", ours.len());
                    bad += 1;
                }
                (Err(Error::Unsupported { .. }), _) => {}
                // Behind the end of its data, libjpeg-turbo goes on reading end markers: as parameters too.
                (Ok(_), Err(_)) | (Err(_), Ok(_)) if ends_early(bytes) => {}
                (Ok(_), Err(error)) if error.contains("scan") || error.contains("progressive") => {}
                (Ok(_), Err(error)) => {
                    println!("{name}: {dct:?} {output:?}: only we decode it: {error}");
                    bad += 1;
                }
                (Err(error), Ok(_)) => {
                    println!("{name}: {dct:?} {output:?}: only they decode it: {error}");
                    bad += 1;
                }
                _ => {}
            }
        }
    }
    bad
}

/// True where the file has a fault, or lacks scans.
fn is_damaged(bytes: &[u8]) -> bool {
    let info = Decoder::new().decode_into(bytes, &Options::default(), &mut Vec::new());
    info.map_or(true, |info| info.warnings > 0) || bytes.windows(2).filter(|w| *w == [0xff, 0xda]).count() < 6
}

fn smoothed(name: &str) {
    println!("{name}: an incomplete progressive file, smoothed in another way");
}

fn ends_early(bytes: &[u8]) -> bool {
    matches!(Decoder::new().decode_into(bytes, &Options::default(), &mut Vec::new()), Err(Error::Truncated { .. }))
        || !bytes.windows(2).any(|w| w == [0xff, 0xd9])
}

/// CPU time of this thread in nanoseconds.
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a valid timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn bench(files: &[(PathBuf, Vec<u8>)], dct: Dct, repeats: u64) {
    let options = Options { dct, output: Output::Rgb, ..Options::default() };
    let (mut decoder, mut turbo) = (Decoder::new(), Turbo::new());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut best_ours, mut best_theirs) = (vec![u64::MAX; files.len()], vec![u64::MAX; files.len()]);
    let (mut rows_best, mut pixels) = (vec![u64::MAX; files.len()], 0u64);
    for repeat in 0..repeats {
        for (i, (path, bytes)) in files.iter().enumerate() {
            let t0 = cpu_time();
            turbo.decode(bytes, dct, false, &mut theirs).expect("decodes");
            let t1 = cpu_time();
            let info = decoder.decode_into(bytes, &options, &mut ours).expect("decodes");
            let t2 = cpu_time();
            let mut sum = 0u64;
            decoder.decode_rows(bytes, &options, |_: u32, row: &[u8]| sum += u64::from(row[0])).expect("decodes");
            let t3 = cpu_time();
            std::hint::black_box(sum);
            assert_eq!(ours, theirs, "{}", path.display());
            best_theirs[i] = best_theirs[i].min(t1 - t0);
            best_ours[i] = best_ours[i].min(t2 - t1);
            rows_best[i] = rows_best[i].min(t3 - t2);
            if repeat == 0 {
                pixels += u64::from(info.width) * u64::from(info.height);
            }
        }
    }
    let total = |times: &[u64]| times.iter().sum::<u64>() as f64 / 1e6;
    let (o, t, r) = (total(&best_ours), total(&best_theirs), total(&rows_best));
    println!(
        "{} files, {:.1} Mpixel, {dct:?}: libjpeg-turbo {t:.1} ms, tfrmap {o:.1} ms: {:.3} times its speed; by rows {r:.1} ms: {:.3} ({:.1} Mpixel/s)",
        files.len(),
        pixels as f64 / 1e6,
        t / o,
        t / r,
        pixels as f64 / 1e3 / o
    );
}
