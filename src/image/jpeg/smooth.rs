//! Block smoothing: estimates of low AC coefficients that a progressive file has not (fully) given, from the DC
//! coefficients around (in the spirit of ITU T.81, K.8, with libjpeg-turbo's 5 x 5 windows and weights).

use super::coefficients::Coefficients;
use super::frame::{COEFFICIENTS, Component, Frame, NATURAL};
use super::idct::Order;
use super::markers::ScanHeader;

/// Coefficients that are estimated: DC and nine AC, by their zigzag positions 0 to 9.
const SAVED: usize = 10;

/// How precisely the coefficients of a component are known: -1 not at all, else the bits still missing.
#[derive(Clone, Copy)]
struct Known {
    now: [i8; COEFFICIENTS],
    /// Before the scan that was the component's last.
    before: [i8; COEFFICIENTS],
}

/// Keeps book of the scans of a progressive file.
pub(super) struct Progress {
    known: [Known; 4],
    scans: u32,
    /// The last row of MCUs for which there was data in the last scan.
    last_good: usize,
}

impl Progress {
    pub(super) fn new() -> Progress {
        let known = Known { now: [-1; COEFFICIENTS], before: [0; COEFFICIENTS] };
        Progress { known: [known; 4], scans: 0, last_good: 0 }
    }

    /// Notes a scan that begins. Returns the number of things that are odd about it.
    pub(super) fn begin(&mut self, scan: &ScanHeader) -> u32 {
        let mut odd = 0;
        self.scans += 1;
        let (first, last) = (usize::from(scan.first), usize::from(scan.last));
        for part in scan.parts() {
            let known = &mut self.known[part.index];
            odd += u32::from(first > 0 && known.now[0] < 0);
            for k in first.min(1)..=last.max(SAVED - 1) {
                known.before[k] = if self.scans > 1 { known.now[k] } else { 0 };
            }
            for bits in &mut known.now[first..=last] {
                odd += u32::from(scan.high as i8 != (*bits).max(0));
                *bits = scan.low as i8;
            }
        }
        odd
    }

    /// Notes a row of MCUs for which there was data.
    pub(super) fn good_row(&mut self, row: usize) {
        self.last_good = row;
    }

    /// The smoothing that the picture needs, if any.
    pub(super) fn smoothing(
        &self,
        frame: &Frame,
        quant: &[Option<[u16; COEFFICIENTS]>; 4],
    ) -> Option<Smoothing> {
        let mut useful = false;
        let mut tables = [[0; SAVED]; 4];
        for (index, table) in tables.iter_mut().enumerate().take(frame.components().len()) {
            *table =
                std::array::from_fn(|k| quant[index].map_or(0, |q| i64::from(q[usize::from(NATURAL[k])])));
            if table.contains(&0) || self.known[index].now[0] < 0 {
                return None;
            }
            useful |= self.known[index].now[1..SAVED].iter().any(|&bits| bits != 0);
        }
        let latch = |known: &Known, before: bool| {
            std::array::from_fn(|k| match (before, self.scans > 1) {
                (false, _) => i32::from(known.now[k]),
                (true, true) => i32::from(known.before[k]),
                (true, false) => -1,
            })
        };
        useful.then(|| Smoothing {
            tables,
            now: self.known.each_ref().map(|known| latch(known, false)),
            before: self.known.each_ref().map(|known| latch(known, true)),
            last_good: self.last_good,
            mcu_rows: frame.mcu_rows,
        })
    }
}

/// What is known of a picture's low coefficients, and their quantisation.
pub(super) struct Smoothing {
    tables: [[i64; SAVED]; 4],
    now: [[i32; SAVED]; 4],
    before: [[i32; SAVED]; 4],
    last_good: usize,
    mcu_rows: usize,
}

/// Weights of the 5 x 5 DC values around a block, row by row, for an estimate.
type Weights = [i32; 25];

impl Smoothing {
    /// The coefficients of a block with the missing ones estimated.
    pub(super) fn block(
        &self,
        index: usize,
        component: &Component,
        coefficients: &Coefficients,
        order: &Order,
        (row, col): (usize, usize),
    ) -> [i16; COEFFICIENTS] {
        let mcu_row = row / component.v;
        let known = if mcu_row > self.last_good { &self.before[index] } else { &self.now[index] };
        let dc = self.neighbours(component, coefficients, (row, col));
        let dc_only = known[1..].iter().all(|&bits| bits == -1);
        let table = &self.tables[index];
        let mut block = *coefficients.block(row, col);
        let sum = |weights: &Weights| -> i64 {
            let sum: i64 = weights.iter().zip(&dc).map(|(&w, &dc)| i64::from(w) * i64::from(dc)).sum();
            sum * table[0]
        };
        let (weights, count) = if dc_only { (&FROM_DC_ONLY[..], SAVED) } else { (&FROM_SOME_AC[..], 6) };
        let dc_sum = sum(&DC);
        for k in 1..count {
            let position = usize::from(order[k]);
            if known[k] != 0 && block[position] == 0 {
                block[position] = estimate(sum(&weights[k - 1]), table[k], known[k]);
            }
        }
        if dc_only {
            block[0] = estimate(dc_sum, table[0], -1);
        }
        block
    }

    /// The DC values around a block; those outside the picture are the nearest inside. This is as in libjpeg-turbo
    /// 2.1.4, the one in TensorFlow; 3.x looks further in the first and last rows of MCUs, and right in pictures of two columns.
    fn neighbours(
        &self,
        component: &Component,
        coefficients: &Coefficients,
        (row, col): (usize, usize),
    ) -> [i16; 25] {
        let (mcu_row, within) = (row / component.v, row % component.v);
        let up = match mcu_row {
            0 => within.min(1),
            1 => 1,
            _ => 2,
        };
        let down = match self.mcu_rows - 1 - mcu_row {
            0 => (component.block_rows - 1 - row).min(1),
            1 => 1,
            _ => 2,
        };
        let last = component.block_cols - 1;
        std::array::from_fn(|i| {
            let (dy, dx) = (i / 5, i % 5);
            let y = if dy <= 2 { row - (2 - dy).min(up) } else { row + (dy - 2).min(down) };
            let x = match (last, col + dx) {
                (1, 4..) => 0,
                (_, shifted) => shifted.saturating_sub(2).min(last),
            };
            coefficients.block(y, x)[0]
        })
    }
}

/// A sum in 256ths of a step, divided by the step; at most what the missing bits can hold.
fn estimate(sum: i64, step: i64, missing: i32) -> i16 {
    let mut value = ((step << 7) + sum.abs()) / (step << 8);
    if missing > 0 {
        value = value.min((1 << missing) - 1);
    }
    (if sum < 0 { -value } else { value }) as i32 as i16
}

/// Where AC coefficients are not known at all: from zigzag position 1 on.
#[rustfmt::skip]
const FROM_DC_ONLY: [Weights; 9] = [
    [
         -1,  -1,   0,   1,   1,
         -3,  13,   0, -13,   3,
         -3,  38,   0, -38,   3,
         -3,  13,   0, -13,   3,
         -1,  -1,   0,   1,   1,
    ],
    [
         -1,  -3,  -3,  -3,  -1,
         -1,  13,  38,  13,  -1,
          0,   0,   0,   0,   0,
          1, -13, -38, -13,   1,
          1,   3,   3,   3,   1,
    ],
    [
          0,   0,   1,   0,   0,
          0,   2,   7,   2,   0,
          0,  -5, -14,  -5,   0,
          0,   2,   7,   2,   0,
          0,   0,   1,   0,   0,
    ],
    [
         -1,   0,   0,   0,   1,
          0,   9,   0,  -9,   0,
          0,   0,   0,   0,   0,
          0,  -9,   0,   9,   0,
          1,   0,   0,   0,  -1,
    ],
    [
          0,   0,   0,   0,   0,
          0,   2,  -5,   2,   0,
          1,   7, -14,   7,   1,
          0,   2,  -5,   2,   0,
          0,   0,   0,   0,   0,
    ],
    [
          0,   0,   0,   0,   0,
          0,   1,   0,  -1,   0,
          0,   2,   0,  -2,   0,
          0,   1,   0,  -1,   0,
          0,   0,   0,   0,   0,
    ],
    [
          0,   0,   0,   0,   0,
          0,   1,  -3,   1,   0,
          0,   0,   0,   0,   0,
          0,  -1,   3,  -1,   0,
          0,   0,   0,   0,   0,
    ],
    [
          0,   0,   0,   0,   0,
          0,   1,   0,  -1,   0,
          0,  -3,   0,   3,   0,
          0,   1,   0,  -1,   0,
          0,   0,   0,   0,   0,
    ],
    [
          0,   0,   0,   0,   0,
          0,   1,   2,   1,   0,
          0,   0,   0,   0,   0,
          0,  -1,  -2,  -1,   0,
          0,   0,   0,   0,   0,
    ],
];

/// Where some are known: from zigzag position 1 on.
#[rustfmt::skip]
const FROM_SOME_AC: [Weights; 5] = [
    [
          0,   0,   0,   0,   0,
          0,   0,   0,   0,   0,
         -7,  50,   0, -50,   7,
          0,   0,   0,   0,   0,
          0,   0,   0,   0,   0,
    ],
    [
          0,   0,  -7,   0,   0,
          0,   0,  50,   0,   0,
          0,   0,   0,   0,   0,
          0,   0, -50,   0,   0,
          0,   0,   7,   0,   0,
    ],
    [
          0,   0,  -1,   0,   0,
          0,   0,  13,   0,   0,
          0,   0, -24,   0,   0,
          0,   0,  13,   0,   0,
          0,   0,  -1,   0,   0,
    ],
    [
          0,  -1,   0,   1,   0,
         -1,  10,   0, -10,   1,
          0,   0,   0,   0,   0,
          1, -10,   0,  10,  -1,
          0,   1,   0,  -1,   0,
    ],
    [
          0,   0,   0,   0,   0,
          0,   0,   0,   0,   0,
         -1,  13, -24,  13,  -1,
          0,   0,   0,   0,   0,
          0,   0,   0,   0,   0,
    ],
];

/// DC itself, smoothed, where AC coefficients are not known at all.
#[rustfmt::skip]
const DC: Weights =
    [
         -2,  -6,  -8,  -6,  -2,
         -6,   6,  42,   6,  -6,
         -8,  42, 152,  42,  -8,
         -6,   6,  42,   6,  -6,
         -2,  -6,  -8,  -6,  -2,
    ];
