//! Random crop and flip as a pure function of seed, epoch and record number.

/// Which random changes are made to a picture.
///
/// They are a pure function of (seed, epoch, record number, picture size): the same on any machine, any number of
/// threads, in any batch and after a resume. The default is none.
///
/// Boxes that a record holds beside its picture do not move by themselves: what was cut and mirrored is told by
/// [`Applied`](crate::image::Applied), whose [`map_box`](crate::image::Applied::map_box) moves them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Augment {
    /// A random part of the picture is resized to the size asked for.
    pub crop: Option<RandomResizedCrop>,
    /// The probability that the result is mirrored left to right.
    pub flip: f64,
}

/// A random part of a picture: torchvision's `RandomResizedCrop`, and slim's `distorted_bounding_box_crop` with a box
/// that is the whole picture.
///
/// Up to ten times an area is drawn uniformly, and an aspect ratio uniformly in its logarithm; the first pair that fits
/// into the picture is placed uniformly. Where none fits, the largest centred part within the aspect range is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomResizedCrop {
    /// Least and largest share of the picture's area. Default 0.08 to 1.
    pub area: (f64, f64),
    /// Least and largest width / height. Default 3/4 to 4/3.
    pub aspect: (f64, f64),
}

impl Default for RandomResizedCrop {
    fn default() -> RandomResizedCrop {
        RandomResizedCrop { area: (0.08, 1.0), aspect: (3.0 / 4.0, 4.0 / 3.0) }
    }
}

/// What the random changes of one picture depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AugmentKey {
    /// The seed of the run.
    pub seed: u64,
    /// The epoch.
    pub epoch: u64,
    /// The record's number in the data set.
    pub record: u64,
}

/// A part of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    pub y: u32,
    pub x: u32,
    pub height: u32,
    pub width: u32,
}

impl Window {
    pub fn whole(height: u32, width: u32) -> Window {
        Window { y: 0, x: 0, height, width }
    }
}

impl Augment {
    /// The part to use of a picture of this size, and whether to mirror it.
    ///
    /// The flip is drawn first, so that it does not depend on the picture's size.
    pub(crate) fn draw(&self, key: AugmentKey, height: u32, width: u32) -> (Window, bool) {
        let mut random = Random::new(key);
        let flip = random.unit() < self.flip;
        let window = match &self.crop {
            Some(crop) => crop.draw(&mut random, height, width),
            None => Window::whole(height, width),
        };
        (window, flip)
    }
}

impl RandomResizedCrop {
    fn draw(&self, random: &mut Random, height: u32, width: u32) -> Window {
        let area = f64::from(height) * f64::from(width);
        let (log_low, log_high) = (ln(self.aspect.0), ln(self.aspect.1));
        for _ in 0..10 {
            let target = area * random.between(self.area.0, self.area.1);
            let aspect = exp(random.between(log_low, log_high));
            let w = round_half_even((target * aspect).sqrt());
            let h = round_half_even((target / aspect).sqrt());
            if (1.0..=f64::from(width)).contains(&w) && (1.0..=f64::from(height)).contains(&h) {
                let (w, h) = (w as u32, h as u32);
                let y = random.below(height - h + 1);
                let x = random.below(width - w + 1);
                return Window { y, x, height: h, width: w };
            }
        }
        let (mut h, mut w) = (height, width);
        let aspect = f64::from(width) / f64::from(height);
        if aspect < self.aspect.0 {
            h = (round_half_even(f64::from(width) / self.aspect.0) as u32).clamp(1, height);
        } else if aspect > self.aspect.1 {
            w = (round_half_even(f64::from(height) * self.aspect.1) as u32).clamp(1, width);
        }
        Window { y: (height - h) / 2, x: (width - w) / 2, height: h, width: w }
    }
}

/// Rounds to the nearest whole number, halves to the even one, as Python's `round`.
pub(crate) fn round_half_even(v: f64) -> f64 {
    v.round_ties_even()
}

/// A splitmix64 stream that starts at a hash of the key.
struct Random(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    fn new(key: AugmentKey) -> Random {
        // Each part is mixed in turn, so that no two of the three can be exchanged.
        let parts = [key.seed, key.epoch, key.record];
        Random(parts.iter().fold(0x7066_722d_6175_676d, |h, part| mix((h ^ part).wrapping_add(GOLDEN))))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..n.
    fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u32
    }
}

/// The natural logarithm from plain arithmetic, so that it has the same bits on every machine.
fn ln(v: f64) -> f64 {
    let (mut m, mut k) = (v, 0.0);
    while m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        k += 1.0;
    }
    while m < std::f64::consts::FRAC_1_SQRT_2 {
        m *= 2.0;
        k -= 1.0;
    }
    let s = (m - 1.0) / (m + 1.0);
    let series = (0..12).rev().fold(0.0, |sum, i| sum * s * s + 1.0 / f64::from(2 * i + 1));
    2.0 * s * series + k * std::f64::consts::LN_2
}

/// The exponential from plain arithmetic; for the few units that aspect ratios need.
fn exp(v: f64) -> f64 {
    let r = v / 16.0;
    let mut power = (1..=14).rev().fold(1.0, |sum, i| 1.0 + sum * r / f64::from(i));
    for _ in 0..4 {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_logarithm_and_exponential_are_close() {
        for i in 1..2000 {
            let v = f64::from(i) * 0.005;
            assert!((ln(v) - v.ln()).abs() < 1e-13, "ln {v}");
            assert!((exp(v.ln()) / v - 1.0).abs() < 1e-12, "exp {v}");
        }
        assert_eq!(exp(ln(1.0)), 1.0);
    }

    #[test]
    fn key_parts_cannot_be_exchanged() {
        let first = |seed, epoch, record| Random::new(AugmentKey { seed, epoch, record }).next();
        let all = [first(1, 2, 3), first(2, 1, 3), first(3, 2, 1), first(1, 3, 2), first(0, 0, 0)];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }
}
