//! Sequential entropy decoding: a block's coefficients at once (ITU T.81, F.2.2).

use super::bits::BitReader;
use super::frame::COEFFICIENTS;
use super::huffman::{END, Entry, LOOKUP_BITS, SLOW, Table, ZEROS};
use super::idct::Order;

/// The number whose sign and magnitude are coded by the top bits of `bits`, as many as the entry says (ITU T.81,
/// F.2.2.1): a leading 0 means negative. 0 where the entry has no value.
#[inline(always)]
fn extend(bits: u64, entry: Entry) -> i32 {
    // 1 where the number is negative: then it is less by 2^size - 1.
    let negative = (!bits >> 63) as u32;
    let value = (bits >> 1).wrapping_shr(entry.size_from_63()) as u32;
    (value + negative).wrapping_sub(negative << entry.size()) as i32
}

#[inline(always)]
fn fast_entry(reader: &BitReader<'_>, table: &Table) -> Entry {
    table.fast[(reader.peek() >> (64 - LOOKUP_BITS)) as usize]
}

/// Consumes a code and the value behind it.
#[inline(always)]
fn take(reader: &mut BitReader<'_>, entry: Entry) -> i32 {
    let bits = reader.peek();
    reader.consume(entry.total());
    extend(bits.wrapping_shl(entry.length()), entry)
}

/// Looks up the next code, whatever its length. There are at least 56 bits from it on, and nothing is consumed yet.
#[inline(always)]
pub(super) fn look_up(reader: &mut BitReader<'_>, table: &Table) -> Entry {
    reader.refill();
    let entry = fast_entry(reader, table);
    if entry.advance() == SLOW { slow_entry(reader, table) } else { entry }
}

#[inline(always)]
fn slow_entry(reader: &mut BitReader<'_>, table: &Table) -> Entry {
    let entry = table.slow(reader.peek());
    reader.warnings += u32::from(entry == Entry::BAD);
    entry
}

/// Decodes one code and the value behind it.
#[inline(always)]
pub(super) fn symbol(reader: &mut BitReader<'_>, table: &Table) -> (Entry, i32) {
    let entry = look_up(reader, table);
    (entry, take(reader, entry))
}

/// Decodes a block into `block`, which must be zero but for what earlier scans left. Returns true where all but the
/// first coefficient stayed as they were.
#[inline(always)]
pub(super) fn block(
    reader: &mut BitReader<'_>,
    (dc, ac): (&Table, &Table),
    prediction: &mut i32,
    order: &Order,
    block: &mut [i16; COEFFICIENTS],
) -> bool {
    let (_, difference) = symbol(reader, dc);
    *prediction = prediction.wrapping_add(difference);
    block[0] = *prediction as i16;

    let mut k = 0u32;
    let mut next;
    loop {
        // After a refill there are bits for two codes of the fast table with their values.
        reader.refill();
        let entry = fast_entry(reader, ac);
        next = k + entry.advance();
        if next >= 63 {
            match special(reader, ac, order, block, k, entry) {
                Some(k_after) => {
                    k = k_after;
                    continue;
                }
                None => return k == 0 && entry.advance() >= END,
            }
        }
        block[usize::from(order[next as u8 as usize]) & 63] = take(reader, entry) as i16;
        k = next;

        let entry = fast_entry(reader, ac);
        next = k + entry.advance();
        if next >= 63 {
            match special(reader, ac, order, block, k, entry) {
                Some(k_after) => k = k_after,
                None => return false,
            }
            continue;
        }
        block[usize::from(order[next as u8 as usize]) & 63] = take(reader, entry) as i16;
        k = next;
    }
}

/// Deals with the entries that [`block`] does not: the last coefficient, the end of the block, 16 zeros, long codes.
/// `k` is the zigzag position before it. Returns the position after it, or None where the block is done.
#[inline(always)]
fn special(
    reader: &mut BitReader<'_>,
    table: &Table,
    order: &Order,
    block: &mut [i16; COEFFICIENTS],
    k: u32,
    mut entry: Entry,
) -> Option<u32> {
    if entry.advance() & !15 == END {
        reader.consume(entry.total());
        return None;
    }
    if entry.advance() == SLOW {
        reader.refill();
        entry = slow_entry(reader, table);
    }
    let value = take(reader, entry);
    match entry.advance() {
        ZEROS => (k + 16 < 63).then_some(k + 16),
        END.. => None,
        advance => {
            let k = k + advance;
            block[usize::from(order[k as u8 as usize]) & 63] = value as i16;
            (k < 63).then_some(k)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::jpeg::huffman::{Class, Spec};

    #[test]
    fn values_follow_table_f_12() {
        // A table whose one-bit code 0 stands for each size in turn.
        for size in 0..=15u32 {
            let mut counts = [0; 16];
            counts[0] = 1;
            let mut table = Table::empty();
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
