//! The buffers of a decoder, and the step from finished samples to rows of pixels.

use super::bits::Segment;
use super::coefficients::Coefficients;
use super::frame::{COEFFICIENTS, Frame, MAX_MCU_BLOCKS};
use super::output::{Plan, Rows};
use super::plane::Plane;
use super::tables::Tables;

/// Where rows are made.
pub(super) trait Target {
    /// The room for a row, or None where it is not wanted.
    fn room(&mut self, y: usize) -> Option<&mut [u8]>;
    /// The row is there.
    fn done(&mut self, y: usize);
}

/// What decoding keeps from picture to picture.
pub(super) struct Workspace {
    pub segment: Segment,
    pub tables: Box<Tables>,
    pub planes: [Plane; 4],
    pub coefficients: [Coefficients; 4],
    pub mcu: Vec<[i16; COEFFICIENTS]>,
    rows: Rows,
}

impl Workspace {
    pub(super) fn new() -> Workspace {
        Workspace {
            segment: Segment::default(),
            tables: Box::new(Tables::new()),
            planes: Default::default(),
            coefficients: Default::default(),
            mcu: vec![[0; COEFFICIENTS]; MAX_MCU_BLOCKS],
            rows: Rows::new(),
        }
    }

    /// Hands over the rows that a row of MCUs completes, from `next` on.
    pub(super) fn emit(
        &mut self,
        frame: &Frame,
        plan: &Plan,
        mcu_row: usize,
        next: &mut usize,
        target: &mut impl Target,
    ) {
        for (component, plane) in frame.components()[..plan.components].iter().zip(&mut self.planes) {
            for block_row in mcu_row * component.v..(mcu_row + 1) * component.v {
                plane.extend_edges(block_row);
            }
        }
        let end = plan.rows_after(mcu_row);
        while *next < end {
            let y = *next - plan.y0;
            if let Some(room) = target.room(y) {
                self.rows.make(plan, &self.planes, *next, room);
                target.done(y);
            }
            *next += 1;
        }
    }
}
