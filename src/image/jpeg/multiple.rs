//! Files of several scans, progressive or not: all coefficients first, then the samples.

use super::frame::{COEFFICIENTS, Frame};
use super::idct::Multipliers;
use super::layout::Layout;
use super::markers::{Reader, ScanHeader, Stop};
use super::mcus::Work;
use super::output::Plan;
use super::row::Kernels;
use super::scan::Scan;
use super::smooth::{Progress, Smoothing};
use super::tables::{self, Quant};
use super::workspace::{Target, Workspace};
use super::{Damage, Error, Limits, Options, single};

/// Decodes the scans from the one on that the reader stands at.
pub(super) fn run(
    work: &mut Workspace,
    reader: &mut Reader<'_>,
    frame: &Frame,
    plan: &Plan,
    options: &Options,
    target: &mut impl Target,
) -> Result<(), Error> {
    let kernels = Kernels::new(options.dct);
    let (quant, smoothing) = read_scans(work, reader, frame, kernels, options)?;
    let multipliers =
        quant.map(|q| Multipliers::new(&q.unwrap_or([0; COEFFICIENTS]), options.dct, kernels.order));
    let mut next = plan.y0;
    for mcu_row in plan.mcu_rows() {
        for (index, component) in frame.components()[..plan.components].iter().enumerate() {
            let (plane, coefficients) = (&mut work.planes[index], &work.coefficients[index]);
            let end = ((mcu_row + 1) * component.v).min(component.block_rows);
            for row in mcu_row * component.v..end {
                for col in plane.columns() {
                    let (out, stride) = plane.samples_from(plane.index(row, col));
                    match &smoothing {
                        None => (kernels.transform)(
                            coefficients.block(row, col),
                            &multipliers[index],
                            out,
                            stride,
                        ),
                        Some(smoothing) => {
                            let block =
                                smoothing.block(index, component, coefficients, kernels.order, (row, col));
                            (kernels.transform)(&block, &multipliers[index], out, stride);
                        }
                    }
                }
            }
        }
        work.emit(frame, plan, mcu_row, &mut next, target);
    }
    Ok(())
}

/// Reads all scans of a file into `coefficients`. Returns the quantisation tables, and the smoothing that the picture
/// needs.
fn read_scans(
    work: &mut Workspace,
    reader: &mut Reader<'_>,
    frame: &Frame,
    kernels: Kernels,
    options: &Options,
) -> Result<(Quant, Option<Smoothing>), Error> {
    for (component, coefficients) in frame.components().iter().zip(&mut work.coefficients) {
        coefficients.lay_out(component)?;
    }
    if !frame.progressive {
        tables::fill_in(reader);
    }
    let mut quant = [None; 4];
    let mut progress = Progress::new();
    let mut budget = Budget::new(frame, &options.limits);
    loop {
        let header = reader.scan;
        budget.spend(frame, &header)?;
        tables::latch_quant(reader, frame, &header, &mut quant)?;
        if frame.progressive {
            check_progression(&header)?;
            reader.warnings += progress.begin(&header);
        } else {
            reader.warnings += u32::from(single::is_odd(&header));
        }
        work.tables.prepare(reader, frame, &header)?;
        read_scan(work, reader, frame, kernels, options.damage, &mut progress)?;
        match reader.next_stop() {
            Ok(Stop::Scan) => {}
            Ok(Stop::End) => break,
            Err(Error::Truncated { .. }) if options.damage == Damage::Lenient => break,
            Err(error) => return Err(error),
        }
    }
    let smoothing = if frame.progressive { progress.smoothing(frame, &quant) } else { None };
    Ok((quant, smoothing))
}

/// Reads the data of one scan.
fn read_scan(
    work: &mut Workspace,
    reader: &mut Reader<'_>,
    frame: &Frame,
    kernels: Kernels,
    damage: Damage,
    progress: &mut Progress,
) -> Result<(), Error> {
    let header = reader.scan;
    let layout = Layout::new(frame, &header)?;
    let Workspace { segment, tables, coefficients, .. } = work;
    let mut scan = Scan::new(reader, segment, damage);
    let progressive = frame.progressive;
    (kernels.read)(&mut Work {
        scan: &mut scan,
        layout,
        header,
        progressive,
        tables,
        coefficients,
        progress,
    })?;
    (reader.pending, reader.position) = scan.finish()?;
    reader.warnings += scan.warnings;
    Ok(())
}

/// Refuses progressive scans with parameters that make no sense.
fn check_progression(header: &ScanHeader) -> Result<(), Error> {
    let band_ok = match header.first {
        0 => header.last == 0,
        first => first <= header.last && header.last < 64 && header.parts().len() == 1,
    };
    let bits_ok = (header.high == 0 || header.low + 1 == header.high) && header.low <= 13;
    if band_ok && bits_ok { Ok(()) } else { Err(Error::malformed("bogus progressive scan", header.offset)) }
}

/// Bounds the work that a file can make by many scans.
struct Budget {
    scans: u32,
    blocks: u64,
}

impl Budget {
    fn new(frame: &Frame, limits: &Limits) -> Budget {
        let blocks: usize = frame.components().iter().map(|c| c.padded_cols * c.padded_rows).sum();
        Budget { scans: limits.max_scans, blocks: (blocks as u64 * 64).max(1 << 24) }
    }

    fn spend(&mut self, frame: &Frame, header: &ScanHeader) -> Result<(), Error> {
        let blocks: usize = header
            .parts()
            .iter()
            .map(|p| &frame.components()[p.index])
            .map(|c| c.padded_cols * c.padded_rows)
            .sum();
        let too_many = Error::TooManyScans { offset: header.offset };
        self.scans = self.scans.checked_sub(1).ok_or(too_many.clone())?;
        self.blocks = self.blocks.checked_sub(blocks as u64).ok_or(too_many)?;
        Ok(())
    }
}
