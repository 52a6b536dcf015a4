//! New pictures of every sampling, quality and coding, made of parts of photographs.

use std::path::PathBuf;

use tfrmap::image::jpeg::{Options, Output, decode};

use crate::compare;
use crate::mutate::Random;
use crate::turbo::{Recipe, compress};

pub fn run(files: &[(PathBuf, Vec<u8>)], count: u64) -> u64 {
    let mut random = Random::new(7);
    let (mut bad, mut made) = (0, 0);
    let options = Options { output: Output::Rgb, ..Options::default() };
    let sources: Vec<_> = files.iter().take(40).filter_map(|(_, bytes)| decode(bytes, &options).ok()).collect();
    while made < count {
        let source = &sources[random.below(sources.len())];
        let (w, h) = (source.width as usize, source.height as usize);
        let limit = if random.below(4) == 0 { 400 } else { 90 };
        let (width, height) = (1 + random.below(w.min(limit)), 1 + random.below(h.min(limit)));
        let (x, y) = (random.below(w - width + 1), random.below(h - height + 1));
        let mut pixels = Vec::new();
        for row in y..y + height {
            pixels.extend_from_slice(&source.pixels[(row * w + x) * 3..(row * w + x + width) * 3]);
        }
        if random.below(8) == 0 {
            pixels.iter_mut().for_each(|p| *p = random.next() as u8);
        }
        let space = if random.below(6) == 0 { random.below(5) as i32 } else { -1 };
        let recipe = Recipe {
            quality: 1 + random.below(100) as i32,
            sampling: random.below(7) as i32,
            progressive: random.below(3) == 0,
            optimize: random.below(3) == 0,
            restart_blocks: if random.below(4) == 0 { 1 + random.below(20) as i32 } else { 0 },
            restart_rows: if random.below(4) == 0 { 1 + random.below(3) as i32 } else { 0 },
            space,
        };
        let Some(mut file) = compress(&pixels, width, height, &recipe) else { continue };
        if random.below(3) == 0 {
            vary_sampling(&mut file, &mut random);
        }
        made += 1;
        let name = format!(
            "{made}: {width}x{height} q{} sampling {} progressive {} restart {}/{} space {space}",
            recipe.quality, recipe.sampling, recipe.progressive, recipe.restart_blocks, recipe.restart_rows
        );
        bad += compare(&file, &name);
    }
    println!("{made} pictures");
    bad
}

/// Other sampling factors for the same data: it is damaged then, but the geometry is new.
fn vary_sampling(file: &mut [u8], random: &mut Random) {
    let mut at = 2;
    while !matches!(file[at + 1], 0xc0..=0xc2) {
        at += 2 + usize::from(u16::from_be_bytes([file[at + 2], file[at + 3]]));
    }
    for component in 0..usize::from(file[at + 9]) {
        let factor = [0x11, 0x12, 0x21, 0x22, 0x41, 0x14, 0x42, 0x24, 0x31, 0x13][random.below(10)];
        file[at + 11 + component * 3] = factor;
    }
}
