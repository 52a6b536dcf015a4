//! The codecs of other crates, brought to our rules for channels.

use std::io::Cursor;

use ::image::codecs::{bmp::BmpDecoder, gif::GifDecoder, png::PngDecoder, webp::WebPDecoder};
use ::image::error::{ImageError, LimitErrorKind};
use ::image::{ColorType, ImageDecoder};

use crate::error::{Error, ErrorKind, Result};
use crate::image::decode::{DecodeOptions, check_size};
use crate::image::format::Format;

/// Decodes into `out`, which then has height x width x channels values; returns height and width.
pub(crate) fn decode_into(
    format: Format,
    bytes: &[u8],
    options: &DecodeOptions,
    out: &mut Vec<u8>,
) -> Result<[u32; 2]> {
    let reader = Cursor::new(bytes);
    let wrap = |error| wrap(format, error);
    match format {
        Format::Jpeg => {
            read(format, ::image::codecs::jpeg::JpegDecoder::new(reader).map_err(wrap)?, options, out)
        }
        Format::Png => {
            let limits = codec_limits(options);
            read(format, PngDecoder::with_limits(reader, limits).map_err(wrap)?, options, out)
        }
        Format::Gif => read(format, GifDecoder::new(reader).map_err(wrap)?, options, out),
        Format::Bmp => read(format, BmpDecoder::new(reader).map_err(wrap)?, options, out),
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
) -> Result<[u32; 2]> {
    let (width, height) = decoder.dimensions();
    check_size(height, width, &options.limits)?;
    decoder.set_limits(codec_limits(options)).map_err(|error| wrap(format, error))?;
    let color = decoder.color_type();
    let mut raw = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut raw).map_err(|error| wrap(format, error))?;
    let (channels, wide) = match color {
        ColorType::L8 => (1, false),
        ColorType::La8 => (2, false),
        ColorType::Rgb8 => (3, false),
        ColorType::Rgba8 => (4, false),
        ColorType::L16 => (1, true),
        ColorType::La16 => (2, true),
        ColorType::Rgb16 => (3, true),
        ColorType::Rgba16 => (4, true),
        _ => {
            let reason = format!("{} pictures of color type {color:?} are not supported", format.name());
            return Err(Error::new(ErrorKind::UnsupportedImage, reason));
        }
    };
    if wide {
        // Values of 16 bits in the machine's own order: the high byte, as libpng's strip.
        const HIGH: usize = if cfg!(target_endian = "little") { 1 } else { 0 };
        let half = raw.len() / 2;
        for i in 0..half {
            raw[i] = raw[2 * i + HIGH];
        }
        raw.truncate(half);
    }
    convert(raw, channels, usize::from(options.channels), out);
    Ok([height, width])
}

/// From 1 to 4 channels as decoded to 1, 3 or 4 as wanted.
fn convert(raw: Vec<u8>, from: usize, to: usize, out: &mut Vec<u8>) {
    if from == to {
        *out = raw;
        return;
    }
    out.clear();
    out.reserve(raw.len() / from * to);
    for pixel in raw.chunks_exact(from) {
        let (r, g, b) =
            if from < 3 { (pixel[0], pixel[0], pixel[0]) } else { (pixel[0], pixel[1], pixel[2]) };
        match to {
            1 if from < 3 => out.push(r),
            1 => out.push(luma(r, g, b)),
            3 => out.extend([r, g, b]),
            _ => out.extend([r, g, b, if from == 2 { pixel[1] } else { 255 }]),
        }
    }
}

/// ITU-R BT.601 luma in 16-bit fixed point, as libjpeg has it.
fn luma(r: u8, g: u8, b: u8) -> u8 {
    ((u32::from(r) * 19595 + u32::from(g) * 38470 + u32::from(b) * 7471 + 32768) >> 16) as u8
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

/// A codec's message on one line, without control characters.
fn clean(message: &str) -> String {
    message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
