//! Small drawn pictures of ten classes, so that the examples need no download.

use jpeg_encoder::{ColorType, Encoder, EncodingError, SamplingFactor};

/// The class names; a label is a place in this list.
pub const CLASSES: [&str; 10] =
    ["disc", "ring", "square", "frame", "diamond", "triangle", "plus", "saltire", "stripes", "checks"];

/// An RGB picture, rows from the top.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

/// A fixed sequence of numbers in 0..1 for one picture (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.roll()
    }
}

/// Whether the point (x, y), in units of the shape's radius from its centre, is inside the shape.
fn inside(class: usize, x: f32, y: f32) -> bool {
    let square = x.abs().max(y.abs());
    let r = x.hypot(y);
    match class {
        0 => r < 1.0,
        1 => (0.6..1.0).contains(&r),
        2 => square < 0.85,
        3 => (0.5..0.85).contains(&square),
        4 => x.abs() + y.abs() < 1.1,
        5 => y < 0.8 && y > 2.0 * x.abs() - 1.0,
        6 => square < 1.0 && x.abs().min(y.abs()) < 0.3,
        7 => r < 1.1 && (x - y).abs().min((x + y).abs()) < 0.35,
        8 => square < 0.95 && (y * 3.0).rem_euclid(2.0) < 1.0,
        _ => square < 0.95 && ((x * 2.5).floor() + (y * 2.5).floor()).rem_euclid(2.0) == 0.0,
    }
}

/// Draws picture number `seed` of a class, at its own size, place, colours and grain.
pub fn draw(class: usize, seed: u64) -> Picture {
    let mut dice = Dice(seed);
    let width = 200 + (dice.roll() * 120.0) as usize;
    let height = 200 + (dice.roll() * 120.0) as usize;
    let radius = dice.between(50.0, 85.0);
    let centre = (dice.between(radius, width as f32 - radius), dice.between(radius, height as f32 - radius));
    let mut colour = || [(); 3].map(|()| dice.between(0.0, 255.0));
    let (mut ink, top, bottom) = (colour(), colour(), colour());
    // A shape that looks like its ground teaches nobody anything.
    for c in 0..3 {
        let ground = (top[c] + bottom[c]) / 2.0;
        ink[c] = if ground > 127.0 { ink[c] * 0.35 } else { 255.0 - (255.0 - ink[c]) * 0.35 };
    }
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            let shape = inside(class, (x as f32 - centre.0) / radius, (y as f32 - centre.1) / radius);
            let down = y as f32 / height as f32;
            let grain = dice.between(-12.0, 12.0);
            for c in 0..3 {
                let ground = top[c] + (bottom[c] - top[c]) * down;
                rgb.push((if shape { ink[c] } else { ground } + grain).clamp(0.0, 255.0) as u8);
            }
        }
    }
    Picture { width, height, rgb }
}

/// The picture as JPEG, with chroma at full size in three pictures of four as in photographs of ImageNet.
pub fn jpeg(picture: &Picture, seed: u64) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 92);
    encoder.set_sampling_factor(if seed.is_multiple_of(4) {
        SamplingFactor::F_2_2
    } else {
        SamplingFactor::F_1_1
    });
    encoder.encode(&picture.rgb, picture.width as u16, picture.height as u16, ColorType::Rgb)?;
    Ok(bytes)
}
