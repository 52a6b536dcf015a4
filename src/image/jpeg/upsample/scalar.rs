//! The upsampling kernels in plain Rust.

/// Twice as wide.
pub(super) fn h2(input: &[u8], out: &mut [u8]) {
    for (three, out) in input.windows(3).zip(out.chunks_exact_mut(2)) {
        let [left, middle, right] = [three[0], three[1], three[2]].map(u32::from);
        out[0] = ((3 * middle + left + 1) >> 2) as u8;
        out[1] = ((3 * middle + right + 2) >> 2) as u8;
    }
}

/// Twice as high.
pub(super) fn v2(near: &[u8], far: &[u8], bias: u8, out: &mut [u8]) {
    for ((&near, &far), out) in near.iter().zip(far).zip(out) {
        *out = ((3 * u32::from(near) + u32::from(far) + u32::from(bias)) >> 2) as u8;
    }
}

/// Twice as wide and high.
pub(super) fn h2v2(near: &[u8], far: &[u8], out: &mut [u8]) {
    for ((near, far), out) in near.windows(3).zip(far.windows(3)).zip(out.chunks_exact_mut(2)) {
        let sum = |i: usize| 3 * u32::from(near[i]) + u32::from(far[i]);
        let (left, middle, right) = (sum(0), sum(1), sum(2));
        out[0] = ((3 * middle + left + 8) >> 4) as u8;
        out[1] = ((3 * middle + right + 7) >> 4) as u8;
    }
}

/// Each sample `h` times.
pub(super) fn repeat(input: &[u8], h: usize, out: &mut [u8]) {
    for (&sample, out) in input.iter().zip(out.chunks_exact_mut(h)) {
        out.fill(sample);
    }
}
