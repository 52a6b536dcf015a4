//! The conversions in plain Rust.

/// Red, green and blue of YCbCr: fractions of 16 bits, green's two terms rounded together.
#[inline(always)]
fn ycc(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let clamp = |v: i32| v.clamp(0, 255) as u8;
    [
        clamp(y + ((91_881 * cr + 32_768) >> 16)),
        clamp(y + ((-22_554 * cb - 46_802 * cr + 32_768) >> 16)),
        clamp(y + ((116_130 * cb + 32_768) >> 16)),
    ]
}

pub(super) fn ycc_to_rgb(y: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    for (((&y, &cb), &cr), out) in y.iter().zip(cb).zip(cr).zip(out.chunks_exact_mut(3)) {
        out.copy_from_slice(&ycc(y, cb, cr));
    }
}

pub(super) fn interleave(r: &[u8], g: &[u8], b: &[u8], out: &mut [u8]) {
    for (((&r, &g), &b), out) in r.iter().zip(g).zip(b).zip(out.chunks_exact_mut(3)) {
        out.copy_from_slice(&[r, g, b]);
    }
}

pub(super) fn gray_to_rgb(gray: &[u8], out: &mut [u8]) {
    for (&gray, out) in gray.iter().zip(out.chunks_exact_mut(3)) {
        out.fill(gray);
    }
}

/// Luma of RGB (ITU-R BT.601), as libjpeg gives gray for files that store RGB.
pub(in super::super) fn rgb_to_gray(r: &[u8], g: &[u8], b: &[u8], out: &mut [u8]) {
    for (((&r, &g), &b), out) in r.iter().zip(g).zip(b).zip(out) {
        let sum = 19_595 * u32::from(r) + 38_470 * u32::from(g) + 7_471 * u32::from(b) + 32_768;
        *out = (sum >> 16) as u8;
    }
}

/// TensorFlow's RGB of CMYK: files with an Adobe marker hold inverted inks.
pub(in super::super) fn cmyk_to_rgb(cmyk: [&[u8]; 4], adobe: bool, out: &mut [u8]) {
    let [c, m, y, k] = cmyk;
    for ((((&c, &m), &y), &k), out) in c.iter().zip(m).zip(y).zip(k).zip(out.chunks_exact_mut(3)) {
        out.copy_from_slice(&inks(c, m, y, k, adobe));
    }
}

/// The same of YCCK: its first three components are YCbCr of inverted inks.
pub(in super::super) fn ycck_to_rgb(ycck: [&[u8]; 4], adobe: bool, out: &mut [u8]) {
    let [y, cb, cr, k] = ycck;
    for ((((&y, &cb), &cr), &k), out) in y.iter().zip(cb).zip(cr).zip(k).zip(out.chunks_exact_mut(3)) {
        let [c, m, y] = ycc(y, cb, cr).map(|v| 255 - v);
        out.copy_from_slice(&inks(c, m, y, k, adobe));
    }
}

#[inline(always)]
fn inks(c: u8, m: u8, y: u8, k: u8, adobe: bool) -> [u8; 3] {
    [c, m, y].map(|ink| {
        let (ink, k) = if adobe { (ink, k) } else { (255 - ink, 255 - k) };
        (u32::from(k) * u32::from(ink) / 255) as u8
    })
}
