//! Pillow's weights as the vector kernels take them: in pairs of two taps, split into high and low parts.

/// Bits of a weight's low part.
pub(super) const LOW_BITS: u32 = 12;

/// The weights of two neighbouring taps, as the kernels want them: two 16-bit numbers in each.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub low: u32,
    pub high: u32,
}

impl Pair {
    pub(super) fn new(first: i32, second: i32) -> Pair {
        let low = |w: i32| (w & ((1 << LOW_BITS) - 1)) as u32;
        let high = |w: i32| (w >> LOW_BITS) as u16;
        Pair {
            low: low(first) | low(second) << 16,
            high: u32::from(high(first)) | u32::from(high(second)) << 16,
        }
    }
}

/// For each output of a row the first source position and the weights in pairs. There are as many for each, so that
/// loops over them are predicted; the weights that are too many are 0.
#[derive(Default)]
pub(crate) struct Pairs {
    pub first: Vec<u32>,
    pub pairs: Vec<Pair>,
    /// Pairs of an output.
    pub count: usize,
    padded: Vec<i32>,
}

impl Pairs {
    /// Fills the table from the first source position and the weights of each output; there is room for so many weights from
    /// the beginning.
    pub fn fill<'a>(
        &mut self,
        input: usize,
        room: usize,
        outputs: impl Iterator<Item = (usize, &'a [i32])> + Clone,
    ) {
        self.first.clear();
        self.pairs.clear();
        self.pairs.reserve(room / 2);
        self.count = outputs.clone().map(|(_, weights)| weights.len().div_ceil(2)).max().unwrap_or(0);
        for (first, weights) in outputs {
            // At the right edge one begins earlier.
            let start = first.min(input.saturating_sub(2 * self.count));
            self.padded.clear();
            self.padded.resize(first - start, 0);
            self.padded.extend(weights);
            self.padded.resize(2 * self.count, 0);
            self.first.push(start as u32);
            self.pairs.extend(self.padded.as_chunks().0.iter().map(|[a, b]| Pair::new(*a, *b)));
        }
    }
}
