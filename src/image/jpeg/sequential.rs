//! Sequential entropy decoding: a block's coefficients at once (ITU T.81, F.2.2).

use super::bits::BitReader;
use super::frame::COEFFICIENTS;
use super::huffman::{AcTable, DcTable, END, Entry, SLOW, Table, ZEROS, extend};
use super::idct::Order;
use super::leaps::Leaps;

/// Consumes a code and the value behind it.
#[inline(always)]
fn take(reader: &mut BitReader<'_>, entry: Entry) -> i32 {
    let bits = reader.peek();
    reader.consume(entry.total());
    extend(bits.wrapping_shl(entry.length()), entry)
}

/// Looks up the next code, whatever its length. There are at least 56 bits from it on, and nothing is consumed yet.
#[inline(always)]
pub(super) fn look_up<const N: usize>(reader: &mut BitReader<'_>, table: &Table<N>) -> Entry {
    reader.refill();
    let entry = table.fast(reader.peek());
    if entry.advance() == SLOW { slow_entry(reader, table) } else { entry }
}

#[inline(always)]
fn slow_entry<const N: usize>(reader: &mut BitReader<'_>, table: &Table<N>) -> Entry {
    let entry = table.slow(reader.peek());
    reader.warnings += u32::from(entry == Entry::BAD);
    entry
}

/// Decodes one code and the value behind it.
#[inline(always)]
pub(super) fn symbol<const N: usize>(reader: &mut BitReader<'_>, table: &Table<N>) -> (Entry, i32) {
    let entry = look_up(reader, table);
    (entry, take(reader, entry))
}

/// Passes over a block; of its coefficients only the first is made, for the prediction.
#[inline(always)]
pub(super) fn skip(
    reader: &mut BitReader<'_>,
    (dc, ac): (&DcTable, &AcTable),
    leaps: &Leaps,
    prediction: &mut i32,
) {
    let (_, difference) = symbol(reader, dc);
    *prediction = prediction.wrapping_add(difference);
    let mut k = 0u32;
    loop {
        reader.refill();
        for _ in 0..2 {
            let leap = leaps.get(reader.peek());
            let next = k + leap.advance();
            if next < 63 {
                reader.consume(leap.total());
                k = next;
            } else if leap.ends(k) {
                reader.consume(leap.total());
                return;
            } else {
                // One code that is too long for the table, or codes of which some belong to the next block.
                reader.refill();
                let entry = slow_entry(reader, ac);
                reader.consume(entry.total());
                k += if entry.advance() == ZEROS { 16 } else { entry.advance() };
                if k >= 63 {
                    return;
                }
                break;
            }
        }
    }
}

/// Decodes a block into `block`, which must be zero but for what earlier scans left. Returns true where all but the
/// first coefficient stayed as they were.
#[inline(always)]
pub(super) fn block(
    reader: &mut BitReader<'_>,
    (dc, ac): (&DcTable, &AcTable),
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
        // After a refill there are bits for two entries of the lookup table with their values.
        reader.refill();
        let entry = ac.fast(reader.peek());
        next = k + entry.advance();
        if next >= 63 {
            match special(reader, ac, order, block, k, entry) {
                Some(k_after) => {
                    k = k_after;
                    continue;
                }
                None => return k == 0 && entry.advance() >= END && entry.first() == 0,
            }
        }
        store(block, order, k + entry.first(), entry.first_value());
        store(block, order, next, take(reader, entry) as i16);
        k = next;

        let entry = ac.fast(reader.peek());
        next = k + entry.advance();
        if next >= 63 {
            match special(reader, ac, order, block, k, entry) {
                Some(k_after) => k = k_after,
                None => return false,
            }
            continue;
        }
        store(block, order, k + entry.first(), entry.first_value());
        store(block, order, next, take(reader, entry) as i16);
        k = next;
    }
}

#[inline(always)]
fn store(block: &mut [i16; COEFFICIENTS], order: &Order, k: u32, value: i16) {
    block[usize::from(order[usize::from(k as u8)]) & 63] = value;
}

/// Deals with the entries that [`block`] does not: the last coefficient, the end of the block, 16 zeros, long codes.
/// `k` is the zigzag position before it. Returns the position after it, or None where the block is done.
#[inline(always)]
fn special(
    reader: &mut BitReader<'_>,
    table: &AcTable,
    order: &Order,
    block: &mut [i16; COEFFICIENTS],
    k: u32,
    mut entry: Entry,
) -> Option<u32> {
    if (END..ZEROS).contains(&entry.advance()) && k + entry.first() < 63 {
        if entry.first() != 0 {
            store(block, order, k + entry.first(), entry.first_value());
        }
        reader.consume(entry.total());
        return None;
    }
    // Where two are too many, the first of them alone.
    if entry.advance() != ZEROS && k + entry.advance() != 63 {
        reader.refill();
        entry = slow_entry(reader, table);
    }
    let value = take(reader, entry);
    match entry.advance() {
        ZEROS => (k + 16 < 63).then_some(k + 16),
        END.. => None,
        advance => {
            store(block, order, k + entry.first(), entry.first_value());
            store(block, order, k + advance, value as i16);
            (k + advance < 63).then_some(k + advance)
        }
    }
}
