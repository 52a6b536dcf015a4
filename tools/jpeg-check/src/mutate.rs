//! Damaged files.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tfrmap::image::jpeg::{Crop, Damage, Dct, Decoder, Limits, Options, Output};

use crate::compare;

/// splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        if out.len() < 4 {
            break;
        }
        // Half of the faults go into the headers.
        let range = if random.below(2) == 0 { out.len().min(700) } else { out.len() };
        let at = random.below(range);
        match random.below(7) {
            0 => out[at] ^= 1 << random.below(8),
            1 => out[at] = random.next() as u8,
            2 => out[at] = [0, 1, 0xff, 0xd9, 0xd0, 0x7f][random.below(6)],
            3 => {
                let end = (at + 1 + random.below(20)).min(out.len());
                out.drain(at..end);
            }
            4 => {
                let end = (at + 1 + random.below(20)).min(out.len());
                let part = out[at..end].to_vec();
                out.splice(at..at, part);
            }
            5 => out.truncate(at.max(2)),
            _ => {
                out[at] = 0xff;
                if at + 1 < out.len() {
                    out[at + 1] = 0xc0 + random.below(64) as u8;
                }
            }
        }
    }
    out
}

/// Compares pixels of damaged files that both decode.
pub fn run(files: &[(PathBuf, Vec<u8>)], count: u64, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let mut bad = 0;
    for i in 0..count {
        let (path, bytes) = &files[random.below(files.len())];
        let damaged = mutate(bytes, &mut random);
        let found = compare(&damaged, &format!("mutation {i} of {}", path.display()));
        if found > 0 {
            let kept = std::env::temp_dir().join(format!("jpeg-mutation-{seed}-{i}.jpg"));
            std::fs::write(&kept, &damaged).expect("written");
            println!("kept as {}", kept.display());
        }
        bad += found;
    }
    bad
}

/// Decodes damaged files in every way; a panic or a decode of more than two seconds is a finding.
pub fn fuzz(files: &[(PathBuf, Vec<u8>)], seconds: u64, seed: u64) -> u64 {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random::new(seed);
    let (mut bad, mut count) = (0, 0u64);
    let mut corpus: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
    while Instant::now() < end {
        let source = &corpus[random.below(corpus.len())];
        let damaged = mutate(source, &mut random);
        let pick = random.next();
        let crop = (pick & 16 != 0).then(|| Crop {
            x: random.below(40) as u32,
            y: random.below(40) as u32,
            width: 1 + random.below(40) as u32,
            height: 1 + random.below(40) as u32,
        });
        let options = Options {
            dct: if pick & 1 != 0 { Dct::Fast } else { Dct::Accurate },
            damage: if pick & 2 != 0 { Damage::Lenient } else { Damage::Strict },
            output: if pick & 4 != 0 { Output::Gray } else { Output::Native },
            crop,
            limits: Limits { max_samples: 1 << 24, ..Limits::default() },
        };
        let start = Instant::now();
        let result = catch_unwind(|| {
            let mut out = Vec::new();
            Decoder::new().decode_into(&damaged, &options, &mut out).is_ok()
        });
        count += 1;
        let slow = start.elapsed() > Duration::from_secs(2);
        match result {
            Ok(decoded) => {
                if decoded && corpus.len() < 4000 && random.below(8) == 0 {
                    corpus.push(damaged.clone());
                }
                if !slow {
                    continue;
                }
                println!("slow: {:?}", start.elapsed());
            }
            Err(_) => println!("panic"),
        }
        bad += 1;
        let path = std::env::temp_dir().join(format!("jpeg-fuzz-{seed}-{count}.jpg"));
        std::fs::write(&path, &damaged).expect("written");
        println!("kept as {}, options {options:?}", path.display());
    }
    println!("{count} damaged files");
    bad
}
