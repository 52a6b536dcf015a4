//! Decoding whole pictures by their content.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, ErrorKind, Result};
use crate::image::codecs::Codecs;
use crate::image::format::{Foreign, Format};
use crate::image::jpeg::{Damage, Dct};
use crate::image::spec::{ImageSpec, Limits};

/// A decoded picture: 8-bit, interleaved, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Rows.
    pub height: u32,
    /// Pixels a row.
    pub width: u32,
    /// Values a pixel: 1 (gray), 3 (RGB) or 4 (RGB and alpha).
    pub channels: u8,
    /// height x width x channels values.
    pub pixels: Vec<u8>,
}

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

/// Decodes a picture, whatever of JPEG, PNG, GIF, BMP and WebP it is: the content tells.
///
/// JPEG as `tf.io.decode_jpeg`; PNG as `tf.io.decode_png` (alpha is dropped unless four channels are asked for, 16-bit
/// values give their high byte, palettes are resolved); GIF and WebP give their first frame.
///
/// # Errors
/// `ImageDecode` for damaged pictures and for bytes that are none (named where they are known: gzip data, HTML, ..),
/// `UnsupportedImage` for other formats (TIFF, AVIF, ..) and variants, `ImageTooLarge` where the header claims more
/// than the limits allow, `InvalidArgument` for a number of channels other than 1, 3, 4, and `Panicked` should a codec
/// ever panic.
pub fn decode(bytes: &[u8], options: &DecodeOptions) -> Result<Image> {
    if !matches!(options.channels, 1 | 3 | 4) {
        return Err(Error::invalid(format!("channels must be 1, 3 or 4, not {}", options.channels)));
    }
    let mut image = Image { channels: options.channels, ..Image::default() };
    let format = recognise(bytes, &options.limits)?;
    [image.height, image.width] =
        guarded(|| Codecs::default().decode(format, bytes, options, &mut image.pixels))?;
    Ok(image)
}

/// The format, or an error that names what the bytes are.
pub(crate) fn recognise(bytes: &[u8], limits: &Limits) -> Result<Format> {
    if bytes.len() as u64 > limits.bytes {
        let (n, limit) = (bytes.len(), limits.bytes);
        let reason = format!("the encoded picture of {n} bytes is over the limit of {limit}");
        return Err(Error::new(ErrorKind::ImageTooLarge, reason));
    }
    if let Some(format) = Format::of(bytes) {
        return Ok(format);
    }
    Err(match Foreign::of(bytes) {
        Foreign::Picture(name) => {
            let reason = format!("{name} pictures are not supported");
            Error::new(ErrorKind::UnsupportedImage, reason).with_help("convert it to JPEG or PNG")
        }
        Foreign::Other(name) => Error::new(ErrorKind::ImageDecode, format!("this is no picture but {name}")),
        Foreign::Unknown if bytes.is_empty() => {
            Error::new(ErrorKind::ImageDecode, "the picture is empty: 0 bytes")
        }
        Foreign::Unknown => Error::new(ErrorKind::ImageDecode, "the bytes are no known picture format"),
    })
}

/// Refuses sizes over the limit, and empty ones.
pub(crate) fn check_size(height: u32, width: u32, limits: &Limits) -> Result<()> {
    let pixels = u64::from(height) * u64::from(width);
    if pixels == 0 {
        return Err(Error::new(
            ErrorKind::ImageDecode,
            format!("the picture is empty: {height} x {width} pixels"),
        ));
    }
    if pixels > limits.pixels {
        let limit = limits.pixels;
        let reason = format!("{height} x {width} pixels are over the limit of {limit}");
        return Err(Error::new(ErrorKind::ImageTooLarge, reason));
    }
    Ok(())
}

/// Room for `len` elements in an empty vector.
pub(crate) fn reserve<T>(out: &mut Vec<T>, len: usize) -> Result<()> {
    out.try_reserve_exact(len.saturating_sub(out.len())).map_err(|_| too_large())
}

/// So many zeros.
pub(crate) fn zeros(len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| too_large())?;
    // Asked for first; then taken as zeros of the system's, which cost nothing until they are used.
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| too_large())?;
    Ok(vec![0; len])
}

fn too_large() -> Error {
    Error::new(ErrorKind::Io(std::io::ErrorKind::OutOfMemory), "the picture does not fit into memory")
}

/// Runs a codec; a panic inside it becomes an error.
pub(crate) fn guarded<T>(codec: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(codec)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::new(ErrorKind::Panicked, format!("the image codec panicked: {text}")))
    })
}
