//! Photo-like pictures: 1/f noise for textures, shapes for edges, grain for the sensor.
//!
//! Photographs have a power spectrum that falls with about the square of the frequency, edges where one thing hides another,
//! smooth and busy places side by side, and noise. JPEG decoders spend their time by the number of coefficients, so size and
//! bits a pixel are set to ImageNet's: 500 x 375 for the most part, 4 to 4.5 bits.

use jpeg_encoder::{ColorType, Encoder, EncodingError, SamplingFactor};

use crate::data::random::Random;

/// A plane of values, row by row.
struct Plane {
    width: usize,
    values: Vec<f32>,
}

/// The JPEG of picture `id`, the same for the same number.
pub fn jpeg(id: u64, all_420: bool) -> Result<Vec<u8>, EncodingError> {
    let mut random = Random::new(id);
    let sizes =
        [(500, 375), (500, 375), (500, 375), (500, 375), (375, 500), (500, 333), (333, 500), (640, 480)];
    let (width, height) = random.pick(&sizes);
    let rgb = pixels(&mut random, width, height);
    let subsampled = all_420 || random.unit() < 0.22;
    let quality = random.pick(&[90, 93, 95, 96, 96]);
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, quality);
    encoder.set_sampling_factor(if subsampled { SamplingFactor::F_2_2 } else { SamplingFactor::F_1_1 });
    encoder.encode(&rgb, width as u16, height as u16, ColorType::Rgb)?;
    Ok(out)
}

/// Width and height from the frame header.
pub fn size(jpeg: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xFF, marker, high, low] = *jpeg.get(at..at + 4)?.first_chunk()? else { return None };
        // Start of frame, of any coding but not the tables that share its range.
        if (0xC0..=0xCF).contains(&marker) && ![0xC4, 0xC8, 0xCC].contains(&marker) {
            let word = |i: usize| Some((u32::from(*jpeg.get(i)?) << 8) | u32::from(*jpeg.get(i + 1)?));
            return Some((word(at + 7)?, word(at + 5)?));
        }
        at += 2 + ((usize::from(high) << 8) | usize::from(low));
    }
}

fn pixels(random: &mut Random, width: usize, height: usize) -> Vec<u8> {
    // Brightness is rich in detail, colour changes slowly: as the eye sees, and as photographs are.
    let mut luma = pink_noise(random, width, height, 1);
    let mut warm = pink_noise(random, width, height, 4);
    let mut green = pink_noise(random, width, height, 4);
    let detail = pink_noise(random, width, height, 1);
    let mut busy = vec![0.35f32; width * height];
    for _ in 0..8 + (random.bits() % 10) as usize {
        shape(random, width, height, &mut luma, &mut warm, &mut green, &mut busy);
    }
    let contrast = random.within(34.0, 58.0) as f32;
    let chroma = random.within(8.0, 26.0) as f32;
    let grain = random.within(4.0, 10.5) as f32;
    let base = random.within(95.0, 150.0) as f32;
    let mut rgb = Vec::with_capacity(width * height * 3);
    for (i, busy) in busy.into_iter().enumerate() {
        let noise = (random.unit() + random.unit() + random.unit()) as f32 - 1.5;
        let y = base + contrast * (luma.values[i] + busy * detail.values[i]) + 2.0 * grain * noise;
        let (w, g) = (chroma * warm.values[i], chroma * green.values[i]);
        let tint = random.unit() as f32 * grain * 0.5;
        rgb.extend([y + w + tint, y + g * 0.5, y - w + g - tint].map(|v| v.round().clamp(0.0, 255.0) as u8));
    }
    rgb
}

/// Value noise summed over octaves, each twice as coarse and twice as strong: amplitude falls as 1/f. `finest` is the smallest
/// cell in pixels. Variance about 1.
fn pink_noise(random: &mut Random, width: usize, height: usize, finest: usize) -> Plane {
    let mut plane = Plane { width, values: vec![0.0; width * height] };
    let mut cell = finest;
    let mut power = 0.0f32;
    while cell <= 256 {
        let amplitude = (cell as f32).powf(0.75);
        power += amplitude * amplitude * 0.2;
        let columns = width / cell + 2;
        let grid: Vec<f32> = (0..columns * (height / cell + 2))
            .map(|_| (random.unit() as f32 - 0.5) * 2.0 * amplitude)
            .collect();
        let across: Vec<(usize, f32)> =
            (0..width).map(|x| (x / cell, smooth((x % cell) as f32 / cell as f32))).collect();
        let mut blended = vec![0.0; columns];
        for (y, row) in plane.values.chunks_exact_mut(width).enumerate() {
            let (gy, fy) = (y / cell, smooth((y % cell) as f32 / cell as f32));
            let (above, below) = (&grid[gy * columns..], &grid[(gy + 1) * columns..]);
            for ((blend, above), below) in blended.iter_mut().zip(above).zip(below) {
                *blend = above + (below - above) * fy;
            }
            for (value, (gx, fx)) in row.iter_mut().zip(&across) {
                *value += blended[*gx] + (blended[gx + 1] - blended[*gx]) * fx;
            }
        }
        cell *= 2;
    }
    let scale = power.sqrt().recip();
    plane.values.iter_mut().for_each(|v| *v *= scale);
    plane
}

fn smooth(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

/// One thing in front of the rest: an ellipse or a box with its own brightness, colour and texture.
fn shape(
    random: &mut Random,
    width: usize,
    height: usize,
    luma: &mut Plane,
    warm: &mut Plane,
    green: &mut Plane,
    busy: &mut [f32],
) {
    let (cx, cy) = (random.unit() * width as f64, random.unit() * height as f64);
    let (rx, ry) = (random.within(0.04, 0.35) * width as f64, random.within(0.04, 0.35) * height as f64);
    let turn = random.within(0.0, std::f64::consts::PI);
    let (sin, cos) = turn.sin_cos();
    let round = random.unit() < 0.6;
    let [light, red, leaf] = [1.4, 1.2, 1.2].map(|reach| random.within(-reach, reach) as f32);
    let texture = random.within(0.0, 1.0).powi(2) as f32;
    let reach = rx.hypot(ry);
    let rows = (cy - reach).max(0.0) as usize..((cy + reach).max(0.0) as usize).min(height);
    for y in rows {
        let columns = (cx - reach).max(0.0) as usize..((cx + reach).max(0.0) as usize).min(width);
        for x in columns {
            let (dx, dy) = (x as f64 - cx, y as f64 - cy);
            let (u, v) = ((dx * cos + dy * sin) / rx, (dy * cos - dx * sin) / ry);
            let inside = if round { u * u + v * v < 1.0 } else { u.abs() < 1.0 && v.abs() < 1.0 };
            if inside {
                let i = y * luma.width + x;
                luma.values[i] = luma.values[i] * 0.3 + light;
                warm.values[i] = warm.values[i] * 0.5 + red;
                green.values[i] = green.values[i] * 0.5 + leaf;
                busy[i] = texture;
            }
        }
    }
}
