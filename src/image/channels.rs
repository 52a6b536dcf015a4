//! From the channels that a picture has to those that are asked for.

use crate::error::Result;
use crate::image::guard::reserve;

/// From 1 to 4 channels as decoded to 1, 3 or 4 as wanted.
pub(crate) fn convert(raw: Vec<u8>, from: usize, to: usize, out: &mut Vec<u8>) -> Result<()> {
    if from == to {
        *out = raw;
        return Ok(());
    }
    out.clear();
    reserve(out, raw.len() / from * to)?;
    for pixel in raw.chunks_exact(from) {
        let (r, g, b) =
            if from < 3 { (pixel[0], pixel[0], pixel[0]) } else { (pixel[0], pixel[1], pixel[2]) };
        match to {
            1 => out.push(gray([r.into(), g.into(), b.into()], 0) as u8),
            3 => out.extend([r, g, b]),
            _ => out.extend([r, g, b, if from == 2 { pixel[1] } else { 255 }]),
        }
    }
    Ok(())
}

/// Gray of a colour with the weights 0.299, 0.587 and 0.114 in libpng's fixed point, which TensorFlow uses. libpng rounds
/// 16-bit values (`half` is one half), but not 8-bit ones.
pub(crate) fn gray([r, g, b]: [u32; 3], half: u32) -> u32 {
    (r * 9797 + g * 19234 + b * 3737 + half) >> 15
}
