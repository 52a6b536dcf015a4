//! What can be said about the decoding of a picture.

use crate::image::jpeg::{Damage, Dct};
use crate::image::spec::{ImageSpec, Limits};

/// How a picture is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// 1, 3 or 4 values a pixel.
    pub channels: u8,
    /// The JPEG decoder's inverse transform.
    pub dct: Dct,
    /// What is done about JPEGs whose data ends early.
    pub damage: Damage,
    /// Whether the EXIF orientation is applied.
    pub exif: bool,
    /// The largest picture that is decoded.
    pub limits: Limits,
}

impl Default for DecodeOptions {
    /// As [`ImageSpec`]'s defaults.
    fn default() -> DecodeOptions {
        DecodeOptions::of(&ImageSpec::default())
    }
}

impl DecodeOptions {
    pub(crate) fn of(spec: &ImageSpec) -> DecodeOptions {
        DecodeOptions {
            channels: spec.channels,
            dct: spec.dct,
            damage: spec.damage,
            exif: spec.exif,
            limits: spec.limits,
        }
    }
}
