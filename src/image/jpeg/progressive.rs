//! Progressive entropy decoding: four kinds of scans (ITU T.81, G.2).

use super::bits::BitReader;
use super::frame::COEFFICIENTS;
use super::huffman::{AcTable, DcTable, END, Entry, ZEROS};
use super::idct::Order;
use super::sequential::{look_up, symbol};

/// A band of coefficients in zigzag order, first and last, and the scan's point transform.
#[derive(Clone, Copy)]
pub(super) struct Band {
    pub first: usize,
    pub last: usize,
    pub low: u32,
}

/// First scan of a DC coefficient.
#[inline(always)]
pub(super) fn dc_first(reader: &mut BitReader<'_>, table: &DcTable, prediction: &mut i32, low: u32) -> i16 {
    let (_, difference) = symbol(reader, table);
    *prediction = prediction.wrapping_add(difference);
    prediction.wrapping_shl(low) as i16
}

/// First scan of a band of AC coefficients. Returns the number of following blocks that are known to be empty.
#[inline(always)]
pub(super) fn ac_first(
    reader: &mut BitReader<'_>,
    table: &AcTable,
    band: Band,
    order: &Order,
    block: &mut [i16; COEFFICIENTS],
) -> u32 {
    let mut k = band.first;
    while k <= band.last {
        let (entry, value) = symbol(reader, table);
        match entry.advance() {
            ZEROS => k += 16,
            END.. => return end_of_band(reader, entry) - 1,
            advance => {
                k += advance as usize;
                block[usize::from(order[k - 1])] = value.wrapping_shl(band.low) as i16;
            }
        }
    }
    0
}

/// Refinement of a band of AC coefficients by one bit. `empty` is the number of blocks, this one included, that
/// bring no new coefficients; returns that number for the blocks that follow.
#[inline(always)]
pub(super) fn ac_refine(
    reader: &mut BitReader<'_>,
    table: &AcTable,
    band: Band,
    order: &Order,
    block: &mut [i16; COEFFICIENTS],
    mut empty: u32,
) -> u32 {
    let plus = 1i16 << band.low;
    let mut k = band.first;
    if empty == 0 {
        while k <= band.last {
            let entry = look_up(reader, table);
            reader.consume(entry.length());
            let (mut run, mut new) = (15, 0);
            match entry.advance() {
                ZEROS => {}
                END.. => {
                    empty = end_of_band(reader, entry);
                    break;
                }
                advance => {
                    // The size should be 1; libjpeg reads one bit whatever it is.
                    reader.warnings += u32::from(entry.size() != 1);
                    run = advance - 1;
                    new = if reader.bit() { plus } else { plus.wrapping_neg() };
                }
            }
            // Passes over `run` coefficients that are still zero, and refines the others on the way.
            while k <= band.last {
                let coefficient = &mut block[usize::from(order[k])];
                if *coefficient != 0 {
                    refine(reader, coefficient, plus);
                } else if run == 0 {
                    break;
                } else {
                    run -= 1;
                }
                k += 1;
            }
            if new != 0 {
                block[usize::from(order[k])] = new;
            }
            k += 1;
        }
    }
    if empty == 0 {
        return 0;
    }
    while k <= band.last {
        let coefficient = &mut block[usize::from(order[k])];
        if *coefficient != 0 {
            refine(reader, coefficient, plus);
        }
        k += 1;
    }
    empty - 1
}

/// A correction bit for a coefficient that is already known to be non-zero.
#[inline(always)]
fn refine(reader: &mut BitReader<'_>, coefficient: &mut i16, plus: i16) {
    // Away from zero, unless it has the bit already; without a branch that nothing could predict.
    let grows = reader.bit() & (*coefficient & plus == 0);
    let sign = *coefficient >> 15;
    let step = (plus ^ sign).wrapping_sub(sign);
    *coefficient = coefficient.wrapping_add(step & -i16::from(grows));
}

/// The number of blocks of an end-of-band run, this one included.
#[inline(always)]
fn end_of_band(reader: &mut BitReader<'_>, entry: Entry) -> u32 {
    let run = entry.advance() & 15;
    (1 << run) + reader.bits(run)
}
