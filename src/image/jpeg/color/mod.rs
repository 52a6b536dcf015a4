//! Colour conversion of a row of samples.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

/// From three rows of samples to a row of pixels.
type FromThree = fn(&[u8], &[u8], &[u8], &mut [u8]);

/// The kernels for this machine. Rows of a call have the same number of pixels; RGB is interleaved.
pub(super) struct Kernels {
    /// YCbCr to RGB (JFIF, full range), rounded as libjpeg rounds.
    pub ycc_to_rgb: FromThree,
    /// Planes to interleaved RGB.
    pub interleave: FromThree,
    /// Gray to RGB with equal channels.
    pub gray_to_rgb: fn(gray: &[u8], out: &mut [u8]),
}

impl Kernels {
    pub(super) fn new() -> Kernels {
        #[cfg(target_arch = "x86_64")]
        if super::vectors::avx2() {
            return Kernels {
                ycc_to_rgb: avx2::ycc_to_rgb,
                interleave: avx2::interleave,
                gray_to_rgb: scalar::gray_to_rgb,
            };
        }
        Kernels {
            ycc_to_rgb: scalar::ycc_to_rgb,
            interleave: scalar::interleave,
            gray_to_rgb: scalar::gray_to_rgb,
        }
    }
}

pub(super) use scalar::{cmyk_to_rgb, rgb_to_gray, ycck_to_rgb};
