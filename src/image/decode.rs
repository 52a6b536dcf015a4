//! Decoding whole pictures by their content.

use crate::error::{Error, ErrorKind, Result};
use crate::image::codecs::Codecs;
use crate::image::decode_options::DecodeOptions;
use crate::image::format::{Foreign, Format};
use crate::image::guard::guarded;
use crate::image::spec::Limits;

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
