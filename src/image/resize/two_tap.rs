//! Bilinear interpolation without antialias, row by row: TensorFlow's `ResizeBilinear`.
//!
//! Each source row that is needed is interpolated horizontally once, into one of two f32 rows; an output row is the
//! vertical interpolation between them. So a picture can be resized while it is being decoded.

use crate::image::resize::axis::Axis;
use crate::image::resize::view::Sample;

/// Two source positions and the way from the first to the second, for each output position.
#[derive(Default)]
pub(crate) struct TwoTap {
    pub lower: Vec<u32>,
    pub upper: Vec<u32>,
    /// In [0, 1); 0 where both positions are the same.
    pub lerp: Vec<f32>,
}

impl TwoTap {
    /// Fills the table. Positions outside the input are its edge pixels.
    pub fn fill(&mut self, axis: Axis) {
        self.lower.clear();
        self.upper.clear();
        self.lerp.clear();
        for position in axis.positions() {
            let source = axis.source(position);
            let floor = source.floor();
            let upper = (source.ceil() as u32).min(axis.input - 1);
            let lower = (floor.max(0.0) as u32).min(upper);
            self.lower.push(lower);
            self.upper.push(upper);
            // With both taps equal any factor gives the tap itself.
            self.lerp.push(if lower == upper { 0.0 } else { source - floor });
        }
    }
}

/// The horizontal table of pictures with a number of channels.
#[derive(Default)]
pub(crate) struct Columns {
    taps: TwoTap,
    pub channels: usize,
    /// Element offsets of the two taps.
    pub lower: Vec<u32>,
    pub upper: Vec<u32>,
    /// The factor, four times each, as the kernel loads it.
    pub lerp4: Vec<f32>,
}

impl Columns {
    /// Fills the table.
    pub fn fill(&mut self, (axis, channels): (Axis, usize)) {
        let taps = &mut self.taps;
        taps.fill(axis);
        self.channels = channels;
        let offset = |position: &u32| position * channels as u32;
        self.lower.clear();
        self.lower.extend(taps.lower.iter().map(offset));
        self.upper.clear();
        self.upper.extend(taps.upper.iter().map(offset));
        self.lerp4.clear();
        self.lerp4.extend(taps.lerp.iter().flat_map(|t| [*t; 4]));
    }

    /// Interpolates one source row into `out`, which has [`PADDING`] elements more than are made.
    pub fn apply<S: Sample>(&self, row: &[S], scale: f32, out: &mut [f32]) {
        for x in 0..self.lower.len() {
            self.pixel(x, row, scale, out);
        }
    }

    #[inline(always)]
    pub fn pixel<S: Sample>(&self, x: usize, row: &[S], scale: f32, out: &mut [f32]) {
        let (lower, upper, lerp) = (self.lower[x] as usize, self.upper[x] as usize, self.lerp4[4 * x]);
        for c in 0..self.channels {
            let left = row[lower + c].value(scale);
            let right = row[upper + c].value(scale);
            out[x * self.channels + c] = left + (right - left) * lerp;
        }
    }
}

/// Elements that a horizontal kernel may write past a row's end.
pub(crate) const PADDING: usize = 8;

/// The state of one picture on its way through: which source rows are at hand, which output row is next.
#[derive(Default)]
pub(crate) struct Rows {
    buffers: [Vec<f32>; 2],
    /// The source row in each buffer.
    held: [Option<u32>; 2],
    next: usize,
}

impl Rows {
    /// Begins a picture whose output rows have `len` elements.
    pub fn start(&mut self, len: usize) {
        for buffer in &mut self.buffers {
            buffer.resize(len + PADDING, 0.0);
        }
        self.held = [None; 2];
        self.next = 0;
    }

    /// Whether source row `y` is needed, where all needed ones above it were taken. `vertical` is not mirrored.
    #[inline]
    pub fn wants(&self, y: u32, vertical: &TwoTap) -> bool {
        let next = |taps: &[u32]| taps.get(self.next) == Some(&y);
        next(&vertical.lower) || next(&vertical.upper)
    }

    /// Takes source row `y`, which [is wanted](Rows::wants); rows come in ascending order, none left out.
    /// `columns` interpolates it horizontally, `emit` is given each output row's number, two rows and the factor.
    pub fn push(
        &mut self,
        y: u32,
        vertical: &TwoTap,
        columns: impl FnOnce(&mut [f32]),
        mut emit: impl FnMut(usize, &[f32], &[f32], f32),
    ) {
        let Some(lower) = vertical.lower.get(self.next) else { return };
        // The other buffer holds the row above, if it is needed still.
        let slot = usize::from(self.held[0] == Some(*lower));
        columns(&mut self.buffers[slot]);
        self.held[slot] = Some(y);
        while self.next < vertical.lower.len() {
            let (lower, upper) = (vertical.lower[self.next], vertical.upper[self.next]);
            let find = |row| self.held.iter().position(|held| *held == Some(row));
            let (Some(top), Some(bottom)) = (find(lower), find(upper)) else { return };
            emit(self.next, &self.buffers[top], &self.buffers[bottom], vertical.lerp[self.next]);
            self.next += 1;
        }
    }
}
