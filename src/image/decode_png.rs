//! PNG through the `png` crate, checked as strictly as libpng does: every CRC, and the checksum of the data.

use std::io::Cursor;

use ::png::{ColorType, DecodeOptions as PngOptions, Decoder, DecodingError, Limits, Transformations};

use crate::error::{Error, ErrorKind, Result};
use crate::image::channels::{convert, gray};
use crate::image::decode_options::DecodeOptions;
use crate::image::exif::orientation_of_tiff;
use crate::image::guard::{check_size, clean, zeros};

/// Decodes into `out`; returns height and width, and the EXIF orientation if asked for.
pub(crate) fn decode(bytes: &[u8], options: &DecodeOptions, out: &mut Vec<u8>) -> Result<([u32; 2], u8)> {
    let mut strict = PngOptions::default();
    strict.set_ignore_adler32(false);
    let mut decoder = Decoder::new_with_options(Cursor::new(bytes), strict);
    // A decoded picture of 16-bit RGBA, and some working space.
    let budget = options.limits.pixels.saturating_mul(8).saturating_add(1 << 24);
    decoder.set_limits(Limits { bytes: usize::try_from(budget).unwrap_or(usize::MAX) });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(wrap)?;
    let (width, height) = reader.info().size();
    check_size(height, width, &options.limits)?;
    let orientation = match &reader.info().exif_metadata {
        Some(tiff) if options.exif => orientation_of_tiff(tiff),
        _ => 1,
    };
    let (color, depth) = reader.output_color_type();
    let size = reader.output_buffer_size();
    let size = size.ok_or_else(|| Error::new(ErrorKind::ImageTooLarge, "PNG: too large for this machine"))?;
    let mut raw = zeros(size as u64)?;
    reader.next_frame(&mut raw).map_err(wrap)?;
    reader.finish().map_err(wrap)?;
    let channels = match color {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => {
            return Err(Error::new(ErrorKind::ImageDecode, "PNG: a palette could not be resolved"));
        }
    };
    if depth == ::png::BitDepth::Sixteen {
        let wide = |pixel: &[u8], c: usize| u32::from(pixel[2 * c]) << 8 | u32::from(pixel[2 * c + 1]);
        if options.channels == 1 && channels >= 3 {
            // libpng makes gray of all 16 bits, and rounds, before it takes the high byte.
            out.clear();
            let pixels = raw.chunks_exact(2 * channels).map(|p| [wide(p, 0), wide(p, 1), wide(p, 2)]);
            out.extend(pixels.map(|rgb| (gray(rgb, 1 << 14) >> 8) as u8));
            return Ok(([height, width], orientation));
        }
        let half = raw.len() / 2;
        for i in 0..half {
            raw[i] = raw[2 * i];
        }
        raw.truncate(half);
    }
    convert(raw, channels, options.channels.into(), out)?;
    Ok(([height, width], orientation))
}

fn wrap(error: DecodingError) -> Error {
    let kind = match &error {
        DecodingError::LimitsExceeded => ErrorKind::ImageTooLarge,
        _ => ErrorKind::ImageDecode,
    };
    Error::new(kind, format!("PNG: {}", clean(&error.to_string()))).with_source(error)
}
