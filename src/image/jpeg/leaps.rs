//! Tables to pass over the coefficients of blocks that are not wanted: several codes with their values at once.

use super::huffman::{END, SLOW, Spec};

/// Bits that are looked up at once.
const BITS: u32 = 12;

/// How far the codes go that begin in the next bits, up to the end of a block at most.
#[derive(Clone, Copy)]
pub(super) struct Leap(u16);

impl Leap {
    /// The codes' bits with their values; the low six bits count.
    #[inline(always)]
    pub(super) fn total(self) -> u32 {
        u32::from(self.0 & 255)
    }

    /// By how much the coefficient index advances; [`END`] is added where the block ends, and where no code is
    /// known it is [`SLOW`].
    #[inline(always)]
    pub(super) fn advance(self) -> u32 {
        u32::from(self.0 >> 8)
    }

    /// Whether a block whose coefficient index is `k` ends just after these codes.
    #[inline(always)]
    pub(super) fn ends(self, k: u32) -> bool {
        let next = k + self.advance();
        if self.advance() < END { next == 63 } else { next < END + 63 }
    }
}

/// The leaps of an AC table.
pub(super) struct Leaps {
    made_from: Option<Spec>,
    /// For each number of bits that may be left to look at, the leaps by those bits: `1 << n` of them from there on.
    table: [Leap; 2 << BITS],
}

impl Leaps {
    const NONE: Leap = Leap((SLOW as u16) << 8);

    pub(super) fn new() -> Leaps {
        Leaps { made_from: None, table: [Leaps::NONE; 2 << BITS] }
    }

    /// True where these are the leaps of a table.
    pub(super) fn are_of(&self, spec: &Spec) -> bool {
        self.made_from.as_ref() == Some(spec)
    }

    /// Makes the leaps of a table, whose codes are known to be sound.
    pub(super) fn make(&mut self, spec: &Spec) {
        // The length of the code that each twelve bits begin with, and the leap over it.
        let mut single = [(BITS + 1, Leap(0)); 1 << BITS];
        let (mut code, mut index) = (0, 0);
        for length in 1..=BITS {
            for _ in 0..spec.counts[length as usize] {
                let (run, size) = (u32::from(spec.symbols[index] >> 4), u32::from(spec.symbols[index] & 15));
                let advance = match (run, size) {
                    (15, 0) => 16,
                    (_, 0) => END,
                    _ => run + 1,
                };
                let leap = Leap((advance << 8 | (length + size)) as u16);
                let first: usize = code << (BITS - length);
                single[first..first + (1 << (BITS - length))].fill((length, leap));
                code += 1;
                index += 1;
            }
            code <<= 1;
        }
        for left in 0..=BITS {
            let count = 1usize << left;
            for bits in 0..count {
                let (length, leap) = single[bits << (BITS - left)];
                let mut sum = leap;
                if length > left {
                    sum = if left == BITS { Leaps::NONE } else { Leap(0) };
                } else if leap.total() & 63 < left && leap.advance() < END {
                    let after = 1usize << (left - (leap.total() & 63));
                    let both = Leap(leap.0 + self.table[after + (bits & (after - 1))].0);
                    // No block is longer.
                    if both.advance() % END < 63 {
                        sum = both;
                    }
                }
                self.table[count + bits] = sum;
            }
        }
        self.made_from = Some(spec.clone());
    }

    /// The leap over the codes at the top of `bits`.
    #[inline(always)]
    pub(super) fn get(&self, bits: u64) -> Leap {
        self.table[(1 << BITS) + (bits >> (64 - BITS)) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::jpeg::huffman::{AcTable, Class, ZEROS, standard};

    /// Fear: a leap that is not what the codes add up to, or one beyond the bits that were looked at.
    #[test]
    fn leaps_are_the_sums_of_codes() {
        let [.., luma, chroma] = standard();
        for spec in [luma, chroma] {
            let (mut leaps, mut table) = (Leaps::new(), AcTable::empty());
            table.build(&spec, Class::Ac, 0).unwrap();
            leaps.make(&spec);
            let mut codes = 0;
            for start in 0..1u64 << BITS {
                let bits = start << (64 - BITS);
                let leap = leaps.get(bits);
                let (mut total, mut advance) = (0, 0);
                while leap.advance() != SLOW && total < leap.total() {
                    let entry = table.slow(bits << total);
                    assert!(advance < END && total + (entry.length() & 63) <= BITS, "{start:012b}");
                    advance += if entry.advance() == ZEROS { 16 } else { entry.advance() };
                    total += entry.total() & 63;
                    codes += 1;
                }
                if leap.advance() == SLOW {
                    assert!(table.slow(bits).length() & 63 > BITS, "{start:012b}");
                } else {
                    assert_eq!((total, advance), (leap.total(), leap.advance()), "{start:012b}");
                }
            }
            assert!(codes > 1 << BITS, "only {codes} codes");
        }
    }
}
