//! Which format bytes are in, by their content: stored names are never trusted.

/// A picture format that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// GIF; its first frame is used.
    Gif,
    /// Windows bitmap.
    Bmp,
    /// WebP; its first frame is used.
    WebP,
}

impl Format {
    /// The format of encoded bytes, or `None` where they are no picture that can be decoded. Looks at up to 12 bytes.
    ///
    /// ```
    /// use tfrmap::image::Format;
    /// assert_eq!(Format::of(b"\xff\xd8\xff\xe0"), Some(Format::Jpeg));
    /// assert_eq!(Format::of(b"a text"), None);
    /// ```
    pub fn of(bytes: &[u8]) -> Option<Format> {
        Some(match bytes {
            [0xff, 0xd8, ..] => Format::Jpeg,
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Format::Png,
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Format::Gif,
            // A file header, then a known size of the information header.
            [
                b'B',
                b'M',
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                12 | 16 | 40 | 52 | 56 | 64 | 108 | 124,
                0,
                ..,
            ] => Format::Bmp,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Format::WebP,
            _ => return None,
        })
    }

    /// The usual name: `JPEG`, `PNG`, `GIF`, `BMP`, `WebP`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::Gif => "GIF",
            Format::Bmp => "BMP",
            Format::WebP => "WebP",
        }
    }
}

/// What bytes are that no decoder here takes.
pub(crate) enum Foreign {
    /// A picture, of a format that is not supported.
    Picture(&'static str),
    /// No picture at all.
    Other(&'static str),
    Unknown,
}

impl Foreign {
    pub fn of(bytes: &[u8]) -> Foreign {
        use Foreign::{Other, Picture};
        const STARTS: [(&[u8], Foreign); 28] = [
            (b"II*\0", Picture("TIFF")),
            (b"MM\0*", Picture("TIFF")),
            (b"II+\0", Picture("BigTIFF")),
            (b"MM\0+", Picture("BigTIFF")),
            (b"\xff\x0a", Picture("JPEG XL")),
            (b"\0\0\0\x0cJXL ", Picture("JPEG XL")),
            (b"\0\0\0\x0cjP  ", Picture("JPEG 2000")),
            (b"\xff\x4f\xff\x51", Picture("JPEG 2000")),
            (b"\0\0\x01\0", Picture("ICO")),
            (b"8BPS", Picture("Photoshop")),
            (b"v/1\x01", Picture("OpenEXR")),
            (b"#?RADIANCE", Picture("Radiance HDR")),
            (b"qoif", Picture("QOI")),
            (b"DDS ", Picture("DDS")),
            (b"farbfeld", Picture("farbfeld")),
            (b"<svg", Picture("SVG")),
            (b"\x1f\x8b", Other("gzip data")),
            (b"\x28\xb5\x2f\xfd", Other("zstd data")),
            (b"BZh", Other("bzip2 data")),
            (b"\xfd7zXZ", Other("xz data")),
            (b"PK\x03\x04", Other("a zip archive")),
            (b"%PDF", Other("a PDF")),
            (b"\x93NUMPY", Other("a NumPy array")),
            (b"<!", Other("HTML")),
            (b"<html", Other("HTML")),
            (b"<?xml", Other("XML")),
            (b"version https://git-lfs", Other("a Git LFS pointer")),
            (b"BM", Other("a damaged or unknown BMP")),
        ];
        if let Some((_, foreign)) = STARTS.into_iter().find(|(start, _)| bytes.starts_with(start)) {
            return foreign;
        }
        match bytes {
            [b'P', b'1'..=b'7', b'\n' | b' ' | b'\r' | b'\t', ..] => Picture("PNM"),
            [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => match brand.get(..4) {
                Some(b"avif" | b"avis") => Picture("AVIF"),
                Some(b"heic" | b"heix" | b"hevc" | b"mif1" | b"msf1") => Picture("HEIF"),
                _ => Other("an MP4 video"),
            },
            // A zlib header: method 8, a window of 32 KB, and a check that makes it a multiple of 31.
            [0x78, flags, ..] if (0x7800 + u16::from(*flags)) % 31 == 0 => Other("zlib data"),
            [_, ..] if bytes.iter().all(|byte| *byte == 0) => Other("zeros"),
            _ => Foreign::Unknown,
        }
    }
}
