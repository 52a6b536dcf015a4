//! Sequential entropy decoding: a block's coefficients at once (ITU T.81, F.2.2).

use super::bits::BitReader;
use super::frame::{COEFFICIENTS, NATURAL};
use super::huffman::{END, LOOKUP_BITS, SLOW, Table};

/// The number whose sign and magnitude are coded by the top `size` bits of `bits` (ITU T.81, F.2.2.1): a leading 0
/// means negative. 0 where `size` is 0.
#[inline(always)]
pub(super) fn extend(bits: u64, size: u32) -> i32 {
    let sign = !(bits as i64) >> 63;
    let magnitude = ((bits ^ sign as u64) >> 1).wrapping_shr(63 - size) as i32;
    (magnitude ^ sign as i32) - sign as i32
}

/// Looks up the next code. There are at least 56 bits behind it, and nothing is consumed yet. A bad code counts as a
/// zero symbol of 17 bits, as in libjpeg.
#[inline(always)]
pub(super) fn look_up(reader: &mut BitReader<'_>, table: &Table) -> u32 {
    reader.refill();
    let bits = reader.peek();
    let entry = table.fast[(bits >> (64 - LOOKUP_BITS)) as usize];
    if entry >> 24 != SLOW {
        return entry;
    }
    table.slow(bits).unwrap_or_else(|| {
        reader.warnings += 1;
        BAD_CODE
    })
}

/// Decodes one code and the value behind it: the table's entry and the value.
#[inline(always)]
pub(super) fn symbol(reader: &mut BitReader<'_>, table: &Table) -> (u32, i32) {
    let entry = look_up(reader, table);
    let bits = reader.peek();
    reader.consume(entry);
    (entry, extend(bits.wrapping_shl(entry >> 8), entry >> 16 & 15))
}

/// What a code that is in no table counts as: 17 bits, no value, end of block.
const BAD_CODE: u32 = 17 | 17 << 8 | END << 24;

/// Decodes a block into `block`, which must be zero but for what earlier scans left. Returns the zigzag position of
/// the last coefficient that was set, 0 where there is only DC.
#[inline(always)]
pub(super) fn block(
    reader: &mut BitReader<'_>,
    dc: &Table,
    ac: &Table,
    prediction: &mut i32,
    block: &mut [i16; COEFFICIENTS],
) -> usize {
    let (_, difference) = symbol(reader, dc);
    *prediction = prediction.wrapping_add(difference);
    block[0] = *prediction as i16;
    let mut k = 0;
    let mut last = 0;
    while k < COEFFICIENTS - 1 {
        let (entry, value) = symbol(reader, ac);
        k += (entry >> 24) as usize;
        if entry >> 16 & 15 != 0 {
            block[usize::from(NATURAL[k]) & 63] = value as i16;
            last = k.min(COEFFICIENTS - 1);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::extend;

    #[test]
    fn extend_follows_table_f_12() {
        for size in 0..=15u32 {
            for code in 0..1u64 << size {
                let bits = if size == 0 { u64::MAX } else { code << (64 - size) | (u64::MAX >> size) };
                let want = if size == 0 {
                    0
                } else if code >> (size - 1) == 1 {
                    code as i32
                } else {
                    code as i32 - (1 << size) + 1
                };
                assert_eq!(extend(bits, size), want, "size {size} code {code}");
            }
        }
    }
}
