//! The codecs, each for its format.

use std::io::Cursor;

use ::image::codecs::{bmp::BmpDecoder, gif::GifDecoder, webp::WebPDecoder};
use ::image::error::{ImageError, LimitErrorKind};
use ::image::{ColorType, ImageDecoder};

use crate::error::{Error, ErrorKind, Result};
use crate::image::channels::convert;
use crate::image::decode_options::DecodeOptions;
use crate::image::decode_png;
use crate::image::exif::{orientation_of_jpeg, orientation_of_tiff, turn};
use crate::image::format::Format;
use crate::image::guard::{check_size, clean, zeros};
use crate::image::jpeg;

/// Decoder state and scratch memory, reused from picture to picture.
#[derive(Default)]
pub(crate) struct Codecs {
    pub jpeg: jpeg::Decoder,
    scratch: Vec<u8>,
}

impl Codecs {
    /// Decodes into `out`, which then has height x width x channels values; returns height and width.
    pub fn decode(
        &mut self,
        format: Format,
        bytes: &[u8],
        options: &DecodeOptions,
        out: &mut Vec<u8>,
    ) -> Result<[u32; 2]> {
        let (size, orientation) = match format {
            Format::Jpeg => {
                let (jpeg, size) = jpeg_options(bytes, options)?;
                self.decode_jpeg(bytes, &jpeg, options.channels, out)?;
                (size, if options.exif { orientation_of_jpeg(bytes) } else { 1 })
            }
            _ => decode_other(format, bytes, options, out)?,
        };
        Ok(turn(orientation, size, options.channels.into(), out, &mut self.scratch))
    }

    /// Decodes a JPEG, or the part of it that `jpeg` says.
    pub fn decode_jpeg(
        &mut self,
        bytes: &[u8],
        jpeg: &jpeg::Options,
        channels: u8,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if channels != 4 {
            return self.jpeg.decode_into(bytes, jpeg, out).map(drop).map_err(wrap_jpeg);
        }
        self.jpeg.decode_into(bytes, jpeg, &mut self.scratch).map_err(wrap_jpeg)?;
        out.clear();
        out.extend(self.scratch.as_chunks::<3>().0.iter().flat_map(|[r, g, b]| [*r, *g, *b, 255]));
        Ok(())
    }
}

/// How a JPEG is decoded, and its height and width, which are within the limits.
pub(crate) fn jpeg_options(bytes: &[u8], options: &DecodeOptions) -> Result<(jpeg::Options, [u32; 2])> {
    let info = jpeg::read_info(bytes).map_err(wrap_jpeg)?;
    check_size(info.height, info.width, &options.limits)?;
    let jpeg = jpeg::Options {
        dct: options.dct,
        output: if options.channels == 1 { jpeg::Output::Gray } else { jpeg::Output::Rgb },
        damage: options.damage,
        ..jpeg::Options::default()
    };
    Ok((jpeg, [info.height, info.width]))
}

/// Puts the JPEG decoder's error into ours.
pub(crate) fn wrap_jpeg(error: jpeg::Error) -> Error {
    let kind = match &error {
        jpeg::Error::TooLarge { .. } => ErrorKind::ImageTooLarge,
        jpeg::Error::OutOfMemory => ErrorKind::Io(std::io::ErrorKind::OutOfMemory),
        // The only option that can be refused here is gray of four inks.
        jpeg::Error::Unsupported { .. } | jpeg::Error::Options { .. } => ErrorKind::UnsupportedImage,
        _ => ErrorKind::ImageDecode,
    };
    let cut = matches!(error, jpeg::Error::Truncated { .. });
    let error = Error::new(kind, error.to_string()).with_source(error);
    if cut {
        error.with_help("skip the record, or take what is there with the damage \"lenient\"")
    } else {
        error
    }
}

/// All formats but JPEG: height and width, and the EXIF orientation if asked for.
fn decode_other(
    format: Format,
    bytes: &[u8],
    options: &DecodeOptions,
    out: &mut Vec<u8>,
) -> Result<([u32; 2], u8)> {
    let reader = Cursor::new(bytes);
    let wrap = |error| wrap(format, error);
    match format {
        Format::Jpeg => Err(Error::invalid("a JPEG is decoded elsewhere")),
        Format::Png => decode_png::decode(bytes, options, out),
        Format::Gif => read(format, GifDecoder::new(reader).map_err(wrap)?, options, out),
        Format::Bmp => {
            let (size, orientation) = read(format, BmpDecoder::new(reader).map_err(wrap)?, options, out)?;
            if options.channels == 4 {
                bmp_alpha(bytes, size, out);
            }
            Ok((size, orientation))
        }
        Format::WebP => read(format, WebPDecoder::new(reader).map_err(wrap)?, options, out),
    }
}

/// The codecs' own memory: a decoded picture of 16-bit RGBA, and some working space.
fn codec_limits(options: &DecodeOptions) -> ::image::Limits {
    let mut limits = ::image::Limits::no_limits();
    limits.max_alloc = Some(options.limits.pixels.saturating_mul(8).saturating_add(1 << 24));
    limits
}

fn read(
    format: Format,
    mut decoder: impl ImageDecoder,
    options: &DecodeOptions,
    out: &mut Vec<u8>,
) -> Result<([u32; 2], u8)> {
    let (width, height) = decoder.dimensions();
    check_size(height, width, &options.limits)?;
    decoder.set_limits(codec_limits(options)).map_err(|error| wrap(format, error))?;
    let color = decoder.color_type();
    let mut orientation = 1;
    if options.exif
        && let Ok(Some(tiff)) = decoder.exif_metadata()
    {
        orientation = orientation_of_tiff(&tiff);
    }
    let mut raw = zeros(decoder.total_bytes())?;
    decoder.read_image(&mut raw).map_err(|error| wrap(format, error))?;
    if format == Format::Gif && options.channels != 4 && color == ColorType::Rgba8 {
        // Transparent pixels of a first frame show nothing: black.
        raw.as_chunks_mut::<4>().0.iter_mut().filter(|pixel| pixel[3] == 0).for_each(|pixel| *pixel = [0; 4]);
    }
    let channels = match color {
        ColorType::L8 => 1,
        ColorType::La8 => 2,
        ColorType::Rgb8 => 3,
        ColorType::Rgba8 => 4,
        _ => {
            let reason = format!("{} pictures of color type {color:?} are not supported", format.name());
            return Err(Error::new(ErrorKind::UnsupportedImage, reason));
        }
    };
    convert(raw, channels, options.channels.into(), out)?;
    Ok(([height, width], orientation))
}

/// The alpha of a BMP of 32 bits, which the decoder leaves out and TensorFlow keeps.
fn bmp_alpha(bytes: &[u8], [height, width]: [u32; 2], pixels: &mut [u8]) {
    let u16_at = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (Some(32), Some(0), Some(start), Some(rows)) = (u16_at(28), u32_at(30), u32_at(10), u32_at(22))
    else {
        return;
    };
    let upwards = rows.cast_signed() > 0;
    let width = width as usize;
    for (y, row) in pixels.chunks_exact_mut(4 * width).enumerate() {
        let stored = if upwards { height as usize - 1 - y } else { y };
        let from = start as usize + stored * 4 * width;
        let Some(stored) = bytes.get(from..from + 4 * width) else { return };
        for (pixel, stored) in row.as_chunks_mut::<4>().0.iter_mut().zip(stored.as_chunks::<4>().0) {
            pixel[3] = stored[3];
        }
    }
}

fn wrap(format: Format, error: ImageError) -> Error {
    let name = format.name();
    match &error {
        ImageError::Limits(limit) if !matches!(limit.kind(), LimitErrorKind::Unsupported { .. }) => {
            Error::new(ErrorKind::ImageTooLarge, format!("{name}: over the limits"))
        }
        ImageError::Unsupported(what) => {
            Error::new(ErrorKind::UnsupportedImage, format!("{name}: {}", clean(&what.to_string())))
        }
        other => Error::new(ErrorKind::ImageDecode, format!("{name}: {}", clean(&other.to_string()))),
    }
    .with_source(error)
}
