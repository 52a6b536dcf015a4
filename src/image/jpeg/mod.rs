//! A JPEG decoder: baseline, extended sequential and progressive Huffman files of 8 bits, with the pixels of
//! libjpeg-turbo to the bit.
//!
//! It takes 1, 3 or 4 components, every sampling that libjpeg-turbo takes, restart markers, scans of one or several
//! components, 16-bit quantisation tables, and files without Huffman tables (Motion JPEG). Damage inside the data
//! is filled as libjpeg fills it. Arithmetic coding, lossless and hierarchical coding, 12-bit samples and heights
//! given after the data are refused by name.
//!
//! ```
//! # fn main() -> Result<(), tfrmap::image::jpeg::Error> {
//! use tfrmap::image::jpeg::{self, Decoder, Options};
//!
//! # let bytes: &[u8] = include_bytes!("../../../tests/data/golden/images/inputs/jpg_sz_9x9_420.jpg");
//! let info = jpeg::read_info(bytes)?;
//! let picture = jpeg::decode(bytes, &Options::default())?;
//! assert_eq!(picture.pixels.len(), info.height as usize * info.width as usize * picture.channels);
//!
//! // Many pictures, one after the other: nothing is allocated once the buffers are large enough.
//! let mut decoder = Decoder::new();
//! let mut pixels = Vec::new();
//! decoder.decode_into(bytes, &Options::default(), &mut pixels)?;
//! assert_eq!(pixels, picture.pixels);
//!
//! // Row by row.
//! let mut rows = 0;
//! decoder.decode_rows(bytes, &Options::default(), |_y: u32, _row: &[u8]| rows += 1)?;
//! assert_eq!(rows, info.height);
//! # Ok(())
//! # }
//! ```
// The order of bytes in a JPEG file.
#![allow(clippy::big_endian_bytes)]

mod bits;
mod coefficients;
mod color;
mod decoder;
mod error;
mod frame;
mod huffman;
mod idct;
mod layout;
mod leaps;
mod markers;
mod mcus;
mod multiple;
mod output;
mod plane;
mod progressive;
mod row;
mod scan;
mod sequential;
mod single;
mod smooth;
mod tables;
mod upsample;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vectors;
mod workspace;

pub use decoder::{Decoder, RowSink};
pub use error::Error;

/// The inverse DCT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dct {
    /// Integer arithmetic of 13 fractional bits: libjpeg's "islow", TensorFlow's `INTEGER_ACCURATE`, Pillow.
    #[default]
    Accurate,
    /// Integer arithmetic of 8 fractional bits: libjpeg's "ifast", what TensorFlow's `decode_jpeg` does by default.
    Fast,
}

/// The channels of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Output {
    /// One channel for gray files, RGB for all others.
    #[default]
    Native,
    /// RGB.
    Rgb,
    /// One channel: luma. Files of four inks are refused.
    Gray,
}

/// What to do where the data ends before the picture does. Damage within the data (bad codes, restart markers that
/// are wrong or missing, an early end-of-image marker) is filled and counted in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Damage {
    /// It is an error, as in TensorFlow.
    #[default]
    Strict,
    /// What is missing is filled: gray, or the coarser picture of a progressive file.
    Lenient,
}

/// What a header may announce before it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Width times height times components. By default below 2^29, as TensorFlow.
    pub max_samples: u64,
    /// Scans of a file. By default 1000.
    pub max_scans: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_samples: (1 << 29) - 1, max_scans: 1000 }
    }
}

/// A window of a picture, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Crop {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// How to decode.
///
/// Decoding errors where the file is no JPEG or breaks the format where libjpeg gives up ([`Error::Malformed`]),
/// ends early ([`Error::Truncated`]; not with [`Damage::Lenient`]), is of a kind that is not supported
/// ([`Error::Unsupported`]), is above the limits ([`Error::TooLarge`], [`Error::TooManyScans`]), or where the crop
/// window is not inside the picture ([`Error::Options`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The inverse DCT.
    pub dct: Dct,
    /// The channels.
    pub output: Output,
    /// What to do with a file that ends early.
    pub damage: Damage,
    /// What to refuse.
    pub limits: Limits,
    /// Only this part: its pixels equal those of a whole decode. In files of one scan, of what lies above and beside
    /// only the lengths of the codes are read, several at once, and what lies below costs (and is checked) nothing; in
    /// others what lies outside costs only its entropy decoding.
    pub crop: Option<Crop>,
}

/// The meaning of a file's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColorSpace {
    /// One component.
    Gray,
    /// Red, green, blue.
    Rgb,
    /// Luma and two colour differences.
    YCbCr,
    /// Four inks.
    Cmyk,
    /// Four inks, the first three as luma and colour differences.
    Ycck,
}

/// What is known of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// Width of the whole picture in pixels.
    pub width: u32,
    /// Height of the whole picture in pixels.
    pub height: u32,
    /// Components in the file: 1, 3 or 4.
    pub components: u8,
    /// Their meaning.
    pub color: ColorSpace,
    /// True for progressive files.
    pub progressive: bool,
    /// Oddities that were passed over or filled so far; 0 for a sound file.
    pub warnings: u32,
}

/// A decoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes of a pixel: 1 or 3.
    pub channels: usize,
    /// Rows from top to bottom, channels interleaved.
    pub pixels: Vec<u8>,
    /// What the file says.
    pub info: Info,
}

/// Reads the header of a picture. Errors as [`Options`] says, with default limits; the data is not looked at.
pub fn read_info(bytes: &[u8]) -> Result<Info, Error> {
    decoder::info_of(bytes, &Limits::default())
}

/// Decodes a picture. Errors as [`Options`] says. For many pictures keep a [`Decoder`].
pub fn decode(bytes: &[u8], options: &Options) -> Result<Image, Error> {
    let mut pixels = Vec::new();
    let info = Decoder::new().decode_into(bytes, options, &mut pixels)?;
    let (width, height) = options.crop.map_or((info.width, info.height), |crop| (crop.width, crop.height));
    let channels = pixels.len() / (width as usize * height as usize);
    Ok(Image { width, height, channels, pixels, info })
}
