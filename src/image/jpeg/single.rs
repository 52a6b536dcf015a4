//! Files of one sequential scan: blocks are transformed as they come.

use super::frame::{COEFFICIENTS, Frame, MAX_MCU_BLOCKS};
use super::idct::Multipliers;
use super::layout::{Layout, Place};
use super::markers::{Reader, ScanHeader, Stop};
use super::output::Plan;
use super::plane::Plane;
use super::row::{Kernels, Lane, Row};
use super::scan::Scan;
use super::tables::{self, Tables};
use super::workspace::{Target, Workspace};
use super::{Damage, Error, Options};

/// Decodes the scan that the reader stands at, down to the last row that is wanted.
pub(super) fn run(
    work: &mut Workspace,
    reader: &mut Reader<'_>,
    frame: &Frame,
    plan: &Plan,
    options: &Options,
    target: &mut impl Target,
) -> Result<(), Error> {
    let header = reader.scan;
    let mut quant = [None; 4];
    tables::latch_quant(reader, frame, &header, &mut quant)?;
    tables::fill_in(reader);
    work.tables.prepare(reader, frame, &header)?;
    reader.warnings += u32::from(is_odd(&header));
    let kernels = Kernels::new(options.dct);
    let multipliers =
        quant.map(|q| Multipliers::new(&q.unwrap_or([0; COEFFICIENTS]), options.dct, kernels.order));
    let layout = Layout::new(frame, &header)?;
    let needed = plan.mcu_rows();
    let leaps = work.tables.prepare_leaps(&header, plan.blocks_passed_over(frame));

    let mut segment = std::mem::take(&mut work.segment);
    let mut scan = Scan::new(reader, &mut segment, options.damage);
    let mut predictions = [0; 4];
    let mut next = plan.y0;
    let per_row = layout.rows_to_mcu_row;
    for mcu_row in 0..=*needed.end() {
        let wanted = needed.contains(&mcu_row);
        for row in mcu_row * per_row..((mcu_row + 1) * per_row).min(layout.rows) {
            let places = layout.places();
            let lanes: [Lane<'_>; MAX_MCU_BLOCKS] = std::array::from_fn(|i| {
                let place = &places[i.min(places.len() - 1)];
                let needed = wanted && place.component < plan.components;
                lane(&work.tables, &multipliers, frame, place, row, &work.planes, needed)
            });
            let mut row = Row {
                scan: &mut scan,
                lanes: &lanes[..places.len()],
                cols: 0..layout.cols,
                planes: &mut work.planes,
                predictions: &mut predictions,
                mcu: &mut work.mcu[..places.len()],
            };
            if leaps {
                let (first, end) = row.needed();
                row.cols = 0..first;
                (kernels.skip)(&mut row)?;
                row.cols = first..end;
                (kernels.decode)(&mut row)?;
                row.cols = end..layout.cols;
                (kernels.skip)(&mut row)?;
            } else {
                (kernels.decode)(&mut row)?;
            }
        }
        if wanted {
            work.emit(frame, plan, mcu_row, &mut next, target);
        }
    }
    reader.warnings += scan.warnings;
    let finish = scan.finish();
    work.segment = segment;
    if *needed.end() + 1 < frame.mcu_rows {
        return Ok(());
    }
    // What follows must be sound up to an end marker, as in TensorFlow, which only misses the end of the file where
    // it looks for a marker.
    (reader.pending, reader.position) = finish?;
    match reader.next_stop() {
        Ok(Stop::Scan) => Err(Error::malformed("a scan too many", reader.scan.offset)),
        Ok(Stop::End) => Ok(()),
        Err(Error::Truncated { .. }) if reader.in_parameters || options.damage == Damage::Lenient => Ok(()),
        Err(error) => Err(error),
    }
}

/// True where a sequential scan has parameters of a progressive one, which are ignored.
pub(super) fn is_odd(header: &ScanHeader) -> bool {
    (header.first, header.last, header.high, header.low) != (0, 63, 0, 0)
}

/// What to do with a place's blocks in a row of MCUs.
fn lane<'a>(
    tables: &'a Tables,
    multipliers: &'a [Multipliers; 4],
    frame: &Frame,
    place: &Place,
    row: usize,
    planes: &[Plane; 4],
    needed: bool,
) -> Lane<'a> {
    let mut lane = Lane {
        tables: tables.get(place.dc, place.ac),
        leaps: tables.leaps(place.ac),
        part: place.part,
        component: place.component,
        multipliers: &multipliers[place.component],
        first: 0,
        count: 0,
        start: 0,
        step: place.h * super::frame::BLOCK,
    };
    let (block_row, x) = place.position(row, 0);
    let columns = planes[place.component].columns();
    if needed && block_row < frame.components()[place.component].block_rows && *columns.end() >= x {
        lane.first = columns.start().saturating_sub(x).div_ceil(place.h);
        let end = (columns.end() - x) / place.h + 1;
        lane.count = end.saturating_sub(lane.first);
        if lane.count > 0 {
            lane.start = planes[place.component].index(block_row, lane.first * place.h + x);
        }
    }
    lane
}
