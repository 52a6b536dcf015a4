//! Huffman tables: as a DHT segment gives them, and as the entropy decoders look codes up.

use super::Error;

/// Entries of the lookup table of DC codes, and of AC codes: a power of two for as many bits as are resolved at once.
pub(super) const DC_LOOKUP: usize = 1 << 9;
pub(super) const AC_LOOKUP: usize = 1 << 10;

/// `advance` of an entry that ends the block; a progressive end of band has its run added to it.
pub(super) const END: u32 = 128;
/// `advance` of an entry of 16 zeros without a coefficient after them.
pub(super) const ZEROS: u32 = 160;
/// `advance` of an entry whose code is longer than the lookup table resolves, or none.
pub(super) const SLOW: u32 = 192;

/// A table's entry: what decoding needs to know of the next code, or of the next two with the first one's value, so
/// packed that most of it is used as it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u64);

impl Entry {
    const SLOW: Entry = Entry((SLOW as u64) << 24);
    /// What a code that is in no table counts as in libjpeg: 17 bits, no value, end of block.
    pub(super) const BAD: Entry = Entry::pack(17, 0, 0);

    const fn pack(length: u32, run: u32, size: u32) -> Entry {
        let advance = match (run, size) {
            (15, 0) => ZEROS,
            (_, 0) => END + run,
            _ => run + 1,
        };
        let first = if advance < END { advance } else { 0 };
        let low = (length + size) | (length << 8) | ((63 - size) << 16) | (advance << 24);
        Entry(low as u64 | (first as u64) << 32)
    }

    /// This entry, whose value is known, with another one after it.
    fn then(self, value: i16, next: Entry) -> Entry {
        let before = self.total() & 63;
        let skipped = if self.advance() == ZEROS { 16 } else { self.advance() };
        let first = if self.advance() == ZEROS { skipped + next.first() } else { skipped };
        let bits = (before + (next.total() & 63)) | (before + (next.length() & 63)) << 8;
        let rest = (next.0 as u32 & 0xff_0000) | (skipped + next.advance()) << 24;
        Entry(u64::from(bits | rest) | u64::from(first) << 32 | (value as u64) << 48)
    }

    /// Bits of the codes and their values together; the low six bits count.
    #[inline(always)]
    pub(super) fn total(self) -> u32 {
        self.0 as u32
    }

    /// Bits before the last value; the low six bits count.
    #[inline(always)]
    pub(super) fn length(self) -> u32 {
        (self.0 >> 8) as u32
    }

    /// 63 less the bits of the last value; the low six bits count.
    #[inline(always)]
    pub(super) fn size_from_63(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// Bits of the last value.
    #[inline(always)]
    pub(super) fn size(self) -> u32 {
        63 - (self.size_from_63() & 63)
    }

    /// By how much the coefficient index advances, or a special case from [`END`] on.
    #[inline(always)]
    pub(super) fn advance(self) -> u32 {
        u32::from((self.0 >> 24) as u8)
    }

    /// By how much the coefficient index advances up to the first of two coefficients; as [`advance`](Entry::advance)
    /// where there is but one, 0 where there is none.
    #[inline(always)]
    pub(super) fn first(self) -> u32 {
        u32::from((self.0 >> 32) as u8)
    }

    /// The value of the first of two coefficients.
    #[inline(always)]
    pub(super) fn first_value(self) -> i16 {
        (self.0 >> 48) as i16
    }
}

/// A table as transmitted: how many codes there are of each length, and their symbols.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Spec {
    /// `counts[n]` codes of `n` bits; `counts[0]` is unused.
    pub counts: [u8; 17],
    /// The symbols in order of their codes.
    pub symbols: [u8; 256],
}

impl Spec {
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Spec {
        let mut spec = Spec { counts: [0; 17], symbols: [0; 256] };
        spec.counts[1..].copy_from_slice(counts);
        spec.symbols[..symbols.len()].copy_from_slice(symbols);
        spec
    }
}

/// What a table's symbols mean, and what the entries of its lookup table stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The number of bits of a DC difference.
    Dc,
    /// A run of zeros and the number of bits of the coefficient after it.
    Ac,
    /// The same; an entry stands for two of them where their codes and the first value are short enough.
    AcPairs,
}

/// A table ready for decoding.
#[derive(Clone)]
pub(super) struct Table<const LOOKUP: usize> {
    fast: [Entry; LOOKUP],
    /// The largest code of each length, -1 where there is none.
    limits: [i32; 17],
    /// What to add to a code of each length to get its symbol's index.
    offsets: [i32; 17],
    symbols: [u8; 256],
}

pub(super) type DcTable = Table<DC_LOOKUP>;
pub(super) type AcTable = Table<AC_LOOKUP>;

impl<const LOOKUP: usize> Table<LOOKUP> {
    /// Bits that the lookup table resolves at once.
    const BITS: u32 = LOOKUP.ilog2();

    pub(super) fn empty() -> Table<LOOKUP> {
        Table { fast: [Entry::SLOW; LOOKUP], limits: [-1; 17], offsets: [0; 17], symbols: [0; 256] }
    }

    /// Assigns the codes of a table (ITU T.81, C.2). Errors where they overflow their lengths, or where a DC
    /// table holds symbols above 15.
    pub(super) fn build(&mut self, spec: &Spec, class: Class, offset: usize) -> Result<(), Error> {
        let bad = || Error::malformed("bogus Huffman table", offset);
        self.fast.fill(Entry::SLOW);
        self.symbols = spec.symbols;
        let (mut code, mut index) = (0u32, 0usize);
        for length in 1..=16u32 {
            let count = spec.counts[length as usize] as usize;
            self.offsets[length as usize] = index as i32 - code as i32;
            for _ in 0..count {
                // No code may be all ones, so the next one must always fit.
                if code + 1 >= 1 << length {
                    return Err(bad());
                }
                let symbol = *spec.symbols.get(index).ok_or_else(bad)?;
                if class == Class::Dc && symbol > 15 {
                    return Err(bad());
                }
                if length <= Self::BITS {
                    let first = (code << (Self::BITS - length)) as usize;
                    self.fast[first..first + (1 << (Self::BITS - length))].fill(entry(length, symbol));
                }
                code += 1;
                index += 1;
            }
            self.limits[length as usize] = if count == 0 { -1 } else { code as i32 - 1 };
            code <<= 1;
        }
        if class == Class::AcPairs {
            self.pair();
        }
        Ok(())
    }

    /// Lets entries whose value is among the bits that are looked up stand for the next code too, if that is.
    fn pair(&mut self) {
        let single = self.fast;
        for (bits, entry) in self.fast.iter_mut().enumerate() {
            let total = entry.total() & 63;
            if total >= Self::BITS || matches!(entry.advance(), END..ZEROS | SLOW) {
                continue;
            }
            // An end after 16 zeros is of no use.
            let most = if entry.advance() == ZEROS { END } else { ZEROS };
            let next = single[(bits << total) & (LOOKUP - 1)];
            if (next.length() & 63) + total <= Self::BITS && next.advance() < most {
                let value = extend((bits as u64) << (64 - Self::BITS) << (entry.length() & 63), *entry);
                *entry = entry.then(value as i16, next);
            }
        }
    }

    /// The entry for the bits at the top of `bits`.
    #[inline(always)]
    pub(super) fn fast(&self, bits: u64) -> Entry {
        self.fast[(bits >> (64 - Self::BITS)) as usize]
    }

    /// The entry for the code at the top of `bits`, whatever its length: for codes that `fast` has not.
    #[cold]
    #[inline(never)]
    pub(super) fn slow(&self, bits: u64) -> Entry {
        let top = (bits >> 48) as i32;
        (1..=16)
            .find(|&length| (top >> (16 - length)) <= self.limits[length])
            .map(|length| {
                let index = (top >> (16 - length)) + self.offsets[length];
                entry(length as u32, self.symbols[(index & 255) as usize])
            })
            .unwrap_or(Entry::BAD)
    }
}

/// The number whose sign and magnitude are coded by the top bits of `bits`, as many as the entry says (ITU T.81,
/// F.2.2.1): a leading 0 means negative. 0 where the entry has no value.
#[inline(always)]
pub(super) fn extend(bits: u64, entry: Entry) -> i32 {
    // 1 where the number is negative: then it is less by 2^size - 1.
    let negative = (!bits >> 63) as u32;
    let value = (bits >> 1).wrapping_shr(entry.size_from_63()) as u32;
    (value + negative).wrapping_sub(negative << entry.size()) as i32
}

fn entry(length: u32, symbol: u8) -> Entry {
    Entry::pack(length, u32::from(symbol >> 4), u32::from(symbol & 15))
}

/// The tables of ITU T.81, K.3, which Motion JPEG frames leave out: DC 0, DC 1, AC 0, AC 1.
pub(super) fn standard() -> [Spec; 4] {
    let dc = |counts| Spec::new(counts, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    [
        dc(&[0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]),
        dc(&[0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]),
        Spec::new(&[0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125], &AC_LUMINANCE),
        Spec::new(&[0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119], &AC_CHROMINANCE),
    ]
}

#[rustfmt::skip]
const AC_LUMINANCE: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71,
    0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72,
    0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59,
    0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3,
    0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3,
    0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];

#[rustfmt::skip]
const AC_CHROMINANCE: [u8; 162] = [
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22,
    0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1,
    0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36,
    0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
    0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
    0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a,
    0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba,
    0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda,
    0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_table_f_12() {
        // A table whose one-bit code 0 stands for each size in turn.
        for size in 0..=15u32 {
            let mut counts = [0; 16];
            counts[0] = 1;
            let mut table = DcTable::empty();
            table.build(&Spec::new(&counts, &[size as u8]), Class::Dc, 0).unwrap();
            let entry = table.fast[0];
            assert_eq!((entry.size(), entry.length() & 63, entry.total() & 63), (size, 1, 1 + size));
            for code in 0..1u64 << size {
                let bits = if size == 0 { u64::MAX } else { code << (64 - size) | (u64::MAX >> size) };
                let want = if size == 0 {
                    0
                } else if code >> (size - 1) == 1 {
                    code as i32
                } else {
                    code as i32 - (1 << size) + 1
                };
                assert_eq!(extend(bits, entry), want, "size {size} code {code}");
            }
        }
    }
}
