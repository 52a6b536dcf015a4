//! How the MCUs of a scan cover the picture (ITU T.81, A.2).

use super::Error;
use super::frame::{Frame, MAX_MCU_BLOCKS};
use super::markers::ScanHeader;

/// A block's place in an MCU.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Index of the component in the frame, and in the scan.
    pub component: usize,
    pub part: usize,
    /// Numbers of its Huffman tables.
    pub dc: usize,
    pub ac: usize,
    /// Columns and rows of blocks from one MCU to the next.
    pub h: usize,
    pub v: usize,
    /// Position within the MCU.
    x: usize,
    y: usize,
}

impl Place {
    /// The row and column of the block in its component.
    #[inline(always)]
    pub(super) fn position(&self, mcu_row: usize, mcu_col: usize) -> (usize, usize) {
        (mcu_row * self.v + self.y, mcu_col * self.h + self.x)
    }
}

/// The MCUs of a scan. Their rows are counted as the scan has them: a scan of one component has as many as the
/// component has rows of blocks.
pub(super) struct Layout {
    places: [Place; MAX_MCU_BLOCKS],
    count: usize,
    /// MCUs in a row, and rows.
    pub cols: usize,
    pub rows: usize,
    /// Rows of this scan to a row of MCUs of the frame.
    pub rows_to_mcu_row: usize,
}

impl Layout {
    pub(super) fn new(frame: &Frame, header: &ScanHeader) -> Result<Layout, Error> {
        let parts = header.parts();
        let interleaved = parts.len() > 1;
        let mut layout = Layout {
            places: [Place::default(); MAX_MCU_BLOCKS],
            count: 0,
            cols: frame.mcu_cols,
            rows: frame.mcu_rows,
            rows_to_mcu_row: 1,
        };
        for (part, selected) in parts.iter().enumerate() {
            let component = &frame.components()[selected.index];
            let (h, v) = if interleaved { (component.h, component.v) } else { (1, 1) };
            if !interleaved {
                (layout.cols, layout.rows) = (component.block_cols, component.block_rows);
                layout.rows_to_mcu_row = component.v;
            }
            for (y, x) in (0..v).flat_map(|y| (0..h).map(move |x| (y, x))) {
                let place = layout
                    .places
                    .get_mut(layout.count)
                    .ok_or_else(|| Error::malformed("an MCU of more than 10 blocks", header.offset))?;
                let (dc, ac) = (usize::from(selected.dc_table & 3), usize::from(selected.ac_table & 3));
                *place = Place { component: selected.index, part, dc, ac, h, v, x, y };
                layout.count += 1;
            }
        }
        Ok(layout)
    }

    /// The blocks of an MCU in the order of the data.
    pub(super) fn places(&self) -> &[Place] {
        &self.places[..self.count]
    }
}
