//! The MCUs of a scan of several: entropy decoding into the coefficients of a whole picture.

use super::Error;
use super::bits::BitReader;
use super::coefficients::Coefficients;
use super::frame::COEFFICIENTS;
use super::huffman::{AcTable, DcTable};
use super::idct::Order;
use super::layout::Layout;
use super::markers::ScanHeader;
use super::progressive::{self, Band};
use super::scan::Scan;
use super::sequential;
use super::smooth::Progress;
use super::tables::Tables;

/// The data of a scan, and where it goes.
pub(super) struct Work<'w, 'a, 's> {
    pub scan: &'w mut Scan<'a, 's>,
    pub layout: Layout,
    pub header: ScanHeader,
    pub progressive: bool,
    pub tables: &'w Tables,
    pub coefficients: &'w mut [Coefficients; 4],
    pub progress: &'w mut Progress,
}

/// Decodes the MCUs of a scan.
#[inline(always)]
pub(super) fn read_mcus(work: &mut Work<'_, '_, '_>, order: &Order) -> Result<(), Error> {
    let Work { scan, layout, header, progressive, tables, coefficients, progress } = work;
    let mut predictions = [0; 4];
    let mut empty = 0;
    for row in 0..layout.rows {
        for col in 0..layout.cols {
            if scan.begin_mcu()? {
                predictions = [0; 4];
                empty = 0;
            }
            let decoded = scan.mcu(|bits| {
                for place in layout.places() {
                    let (row, col) = place.position(row, col);
                    let block = coefficients[place.component & 3].block_mut(row, col);
                    let tables = tables.get(place.dc, place.ac);
                    let prediction = &mut predictions[place.part & 3];
                    read_block(bits, *progressive, header, tables, prediction, &mut empty, order, block);
                }
            })?;
            if decoded {
                progress.good_row(row / layout.rows_to_mcu_row);
            } else if scan.is_over() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Decodes what a scan says of a block.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn read_block(
    bits: &mut BitReader<'_>,
    progressive: bool,
    header: &ScanHeader,
    tables: (&DcTable, &AcTable),
    prediction: &mut i32,
    empty: &mut u32,
    order: &Order,
    block: &mut [i16; COEFFICIENTS],
) {
    let band =
        Band { first: usize::from(header.first), last: usize::from(header.last), low: u32::from(header.low) };
    match (progressive, header.first, header.high) {
        (false, ..) => {
            sequential::block(bits, tables, prediction, order, block);
        }
        (true, 0, 0) => block[0] = progressive::dc_first(bits, tables.0, prediction, band.low),
        (true, 0, _) => {
            if bits.bit() {
                block[0] |= 1 << band.low;
            }
        }
        (true, _, 0) => {
            if *empty > 0 {
                *empty -= 1;
            } else {
                *empty = progressive::ac_first(bits, tables.1, band, order, block);
            }
        }
        (true, ..) => *empty = progressive::ac_refine(bits, tables.1, band, order, block, *empty),
    }
}
