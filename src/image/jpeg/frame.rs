//! The geometry of a picture: components, blocks and MCUs (ITU T.81, A.1 and A.2).

use super::Error;

/// Side of a block in samples.
pub(super) const BLOCK: usize = 8;
/// Coefficients of a block.
pub(super) const COEFFICIENTS: usize = BLOCK * BLOCK;
/// The most blocks that an MCU may hold.
pub(super) const MAX_MCU_BLOCKS: usize = 10;
/// The largest width or height, as in libjpeg.
pub(super) const MAX_DIMENSION: u32 = 65_500;

/// Natural (row by row) position of each zigzag position. Indices past the end, which damaged data reaches, lead to
/// the last coefficient as they do in libjpeg.
pub(super) const NATURAL: [u8; 256] = natural();

const fn natural() -> [u8; 256] {
    let mut table = [63; 256];
    let (mut x, mut y, mut k) = (0i32, 0i32, 0);
    while k < COEFFICIENTS {
        table[k] = (y * 8 + x) as u8;
        let up = (x + y) % 2 == 0;
        if up && x == 7 || !up && y == 7 {
            if up { y += 1 } else { x += 1 }
        } else if up && y == 0 {
            x += 1;
        } else if !up && x == 0 {
            y += 1;
        } else if up {
            x += 1;
            y -= 1;
        } else {
            x -= 1;
            y += 1;
        }
        k += 1;
    }
    table
}

/// One component of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Component {
    /// The identifier by which scans name it.
    pub id: u8,
    /// Horizontal and vertical sampling factors, 1 to 4.
    pub h: usize,
    pub v: usize,
    /// Index of its quantisation table as announced; it is looked up at its first scan.
    pub quant_index: u8,
    /// Size in samples.
    pub width: usize,
    pub height: usize,
    /// Size in blocks, without those that only fill up an MCU.
    pub block_cols: usize,
    pub block_rows: usize,
    /// Size in blocks with them.
    pub padded_cols: usize,
    pub padded_rows: usize,
}

/// What a SOF segment says.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    parts: [Component; 4],
    count: usize,
    pub width: usize,
    pub height: usize,
    pub precision: u8,
    pub progressive: bool,
    /// The largest sampling factors.
    pub max_h: usize,
    pub max_v: usize,
    /// MCUs in a row of an interleaved scan, and rows of them.
    pub mcu_cols: usize,
    pub mcu_rows: usize,
    /// Offset of the segment in the file.
    pub offset: usize,
}

impl Frame {
    /// A frame before [`lay_out`](Frame::lay_out).
    pub(super) fn new(width: usize, height: usize, components: impl Iterator<Item = Component>) -> Frame {
        let mut parts = [Component::default(); 4];
        let mut count = 0;
        for (to, component) in parts.iter_mut().zip(components) {
            *to = component;
            count += 1;
        }
        Frame {
            parts,
            count,
            width,
            height,
            precision: 8,
            progressive: false,
            max_h: 1,
            max_v: 1,
            mcu_cols: 0,
            mcu_rows: 0,
            offset: 0,
        }
    }

    pub(super) fn components(&self) -> &[Component] {
        &self.parts[..self.count]
    }

    /// Checks the sampling factors and derives all sizes.
    pub(super) fn lay_out(&mut self) -> Result<(), Error> {
        let factor_ok = |f: usize| (1..=4).contains(&f);
        if self.components().iter().any(|c| !factor_ok(c.h) || !factor_ok(c.v)) {
            return Err(Error::malformed("bogus sampling factors", self.offset));
        }
        self.max_h = self.components().iter().map(|c| c.h).max().unwrap_or(1);
        self.max_v = self.components().iter().map(|c| c.v).max().unwrap_or(1);
        self.mcu_cols = self.width.div_ceil(self.max_h * BLOCK);
        self.mcu_rows = self.height.div_ceil(self.max_v * BLOCK);
        for c in &mut self.parts[..self.count] {
            c.width = (self.width * c.h).div_ceil(self.max_h);
            c.height = (self.height * c.v).div_ceil(self.max_v);
            c.block_cols = (self.width * c.h).div_ceil(self.max_h * BLOCK);
            c.block_rows = (self.height * c.v).div_ceil(self.max_v * BLOCK);
            c.padded_cols = self.mcu_cols * c.h;
            c.padded_rows = self.mcu_rows * c.v;
        }
        Ok(())
    }
}
