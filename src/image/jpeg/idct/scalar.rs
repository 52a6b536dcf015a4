//! The transforms in plain Rust.

use super::Multipliers;
use crate::image::jpeg::frame::COEFFICIENTS;

/// Fixed-point constants of the accurate transform (Loeffler, Ligtenberg and Moschytz, 1989), 13 fractional bits,
/// combined so that each pair of products has one sum.
pub(super) const EVEN: [i32; 3] = [4433 + 6270, 4433, 4433 - 15137];
pub(super) const ROTATE: [i32; 3] = [9633 - 16069, 9633, 9633 - 3196];
pub(super) const ODD: [i32; 6] = [2446 - 7373, -7373, 12299 - 7373, 16819 - 20995, -20995, 25172 - 20995];

/// The transform that libjpeg calls "islow".
pub(in super::super) fn accurate(
    block: &[i16; COEFFICIENTS],
    multipliers: &Multipliers,
    out: &mut [u8],
    stride: usize,
) {
    let input = dequantise(block, multipliers);
    let mut middle = [0i16; COEFFICIENTS];
    if block[8..].iter().all(|&c| c == 0) {
        for (column, &dc) in input[..8].iter().enumerate() {
            middle[column * 8..column * 8 + 8].fill(dc.wrapping_shl(2));
        }
    } else {
        for column in 0..8 {
            let line = std::array::from_fn(|i| input[i * 8 + column]);
            for (to, sum) in middle[column * 8..column * 8 + 8].iter_mut().zip(accurate_line(line)) {
                *to = (sum.wrapping_add(1 << 10) >> 11).clamp(-32768, 32767) as i16;
            }
        }
    }
    for (row, out) in out.chunks_mut(stride).take(8).enumerate() {
        let line = std::array::from_fn(|i| middle[i * 8 + row]);
        for (to, sum) in out.iter_mut().zip(accurate_line(line)) {
            *to = ((sum.wrapping_add(1 << 17) >> 18).clamp(-128, 127) + 128) as u8;
        }
    }
}

/// One dimension of the accurate transform: sums with 13 fractional bits more than the input.
#[inline(always)]
fn accurate_line(x: [i16; 8]) -> [i32; 8] {
    let wide = |v: i16| i32::from(v);
    let pair = |a: i16, ca: i32, b: i16, cb: i32| wide(a) * ca + wide(b) * cb;

    let sum = wide(x[0].wrapping_add(x[4])) << 13;
    let difference = wide(x[0].wrapping_sub(x[4])) << 13;
    let a = pair(x[2], EVEN[0], x[6], EVEN[1]);
    let b = pair(x[2], EVEN[1], x[6], EVEN[2]);
    let even = [sum + a, difference + b, difference - b, sum - a];

    let z3 = x[7].wrapping_add(x[3]);
    let z4 = x[5].wrapping_add(x[1]);
    let c = pair(z3, ROTATE[0], z4, ROTATE[1]);
    let d = pair(z3, ROTATE[1], z4, ROTATE[2]);
    let odd = [
        pair(x[7], ODD[1], x[1], ODD[2]).wrapping_add(d),
        pair(x[5], ODD[4], x[3], ODD[5]).wrapping_add(c),
        pair(x[5], ODD[3], x[3], ODD[4]).wrapping_add(d),
        pair(x[7], ODD[0], x[1], ODD[1]).wrapping_add(c),
    ];
    [
        even[0].wrapping_add(odd[0]),
        even[1].wrapping_add(odd[1]),
        even[2].wrapping_add(odd[2]),
        even[3].wrapping_add(odd[3]),
        even[3].wrapping_sub(odd[3]),
        even[2].wrapping_sub(odd[2]),
        even[1].wrapping_sub(odd[1]),
        even[0].wrapping_sub(odd[0]),
    ]
}

/// Constants of the fast transform, 14 fractional bits.
pub(super) const F1414: i16 = 362 << 6;
pub(super) const F1847: i16 = 473 << 6;
pub(super) const F1082: i16 = 277 << 6;
pub(super) const MF1613: i16 = -((669 - 256) << 6);

/// The transform that libjpeg calls "ifast".
pub(in super::super) fn fast(
    block: &[i16; COEFFICIENTS],
    multipliers: &Multipliers,
    out: &mut [u8],
    stride: usize,
) {
    let input = dequantise(block, multipliers);
    let mut middle = [0i16; COEFFICIENTS];
    for column in 0..8 {
        let line = fast_line(std::array::from_fn(|i| input[i * 8 + column]));
        middle[column * 8..column * 8 + 8].copy_from_slice(&line);
    }
    for (row, out) in out.chunks_mut(stride).take(8).enumerate() {
        let line = fast_line(std::array::from_fn(|i| middle[i * 8 + row]));
        for (to, value) in out.iter_mut().zip(line) {
            *to = ((value >> 5).clamp(-128, 127) + 128) as u8;
        }
    }
}

/// One dimension of the fast transform.
#[inline(always)]
fn fast_line(x: [i16; 8]) -> [i16; 8] {
    let add = |a: i16, b: i16| a.wrapping_add(b);
    let sub = |a: i16, b: i16| a.wrapping_sub(b);
    let multiply = |a: i16, c: i16| ((i32::from(a << 2) * i32::from(c)) >> 16) as i16;

    let (sum04, difference04, sum26) = (add(x[0], x[4]), sub(x[0], x[4]), add(x[2], x[6]));
    let turned = sub(multiply(sub(x[2], x[6]), F1414), sum26);
    let even = [add(sum04, sum26), add(difference04, turned), sub(difference04, turned), sub(sum04, sum26)];

    let (z10, z11) = (sub(x[5], x[3]), add(x[1], x[7]));
    let (z12, z13) = (sub(x[1], x[7]), add(x[5], x[3]));
    // Each factor is shifted before the sum: that is where the reference wraps.
    let z5 = ((i32::from(add(z10 << 2, z12 << 2)) * i32::from(F1847)) >> 16) as i16;
    let odd0 = add(z11, z13);
    let odd1 = sub(add(sub(multiply(z10, MF1613), z10), z5), odd0);
    let odd2 = sub(multiply(sub(z11, z13), F1414), odd1);
    let odd3 = add(sub(multiply(z12, F1082), z5), odd2);
    [
        add(even[0], odd0),
        add(even[1], odd1),
        add(even[2], odd2),
        sub(even[3], odd3),
        add(even[3], odd3),
        sub(even[2], odd2),
        sub(even[1], odd1),
        sub(even[0], odd0),
    ]
}

#[inline(always)]
fn dequantise(block: &[i16; COEFFICIENTS], multipliers: &Multipliers) -> [i16; COEFFICIENTS] {
    std::array::from_fn(|i| block[i].wrapping_mul(multipliers.0[i]))
}
