//! The orientation that a camera noted, and turning a picture by it.

/// The orientation of EXIF data (a TIFF structure): 1 to 8, and 1 where there is none or it makes no sense.
pub(crate) fn orientation_of_tiff(tiff: &[u8]) -> u8 {
    find_orientation(tiff).filter(|value| (1..=8).contains(value)).unwrap_or(1) as u8
}

fn find_orientation(tiff: &[u8]) -> Option<u16> {
    let little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let u16_at = |at: usize| {
        let bytes = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(bytes) } else { u16_from_be(bytes) })
    };
    let high_first = |a: u16, b: u16| usize::from(a) << 16 | usize::from(b);
    let (a, b) = (u16_at(4)?, u16_at(6)?);
    let ifd = if little { high_first(b, a) } else { high_first(a, b) };
    let entries = usize::from(u16_at(ifd)?);
    let entry = |i: usize| ifd.checked_add(2 + 12 * i);
    (0..entries).filter_map(entry).find(|at| u16_at(*at) == Some(0x0112)).and_then(|at| u16_at(at + 8))
}

fn u16_from_be([high, low]: [u8; 2]) -> u16 {
    u16::from(high) << 8 | u16::from(low)
}

/// The orientation that a JPEG's first EXIF segment says, else 1.
pub(crate) fn orientation_of_jpeg(bytes: &[u8]) -> u8 {
    let mut at = 2;
    while let Some([0xff, marker, high, low, ..]) = bytes.get(at..) {
        match marker {
            0xff => {
                at += 1;
                continue;
            }
            // The data begins; or an end.
            0xda | 0xd9 => break,
            _ => {}
        }
        let len = usize::from(u16_from_be([*high, *low]));
        let Some(segment) = bytes.get(at + 4..at + 2 + len.max(2)) else { break };
        if *marker == 0xe1
            && let Some(tiff) = segment.strip_prefix(b"Exif\0\0")
        {
            return orientation_of_tiff(tiff);
        }
        at += 2 + len.max(2);
    }
    1
}

/// Turns a picture upright. Returns its new height and width; `scratch` receives the old pixels.
pub(crate) fn turn(
    orientation: u8,
    [height, width]: [u32; 2],
    channels: usize,
    pixels: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> [u32; 2] {
    if orientation == 1 {
        return [height, width];
    }
    std::mem::swap(pixels, scratch);
    pixels.clear();
    let (h, w) = (height as usize, width as usize);
    let transposed = orientation >= 5;
    let (new_h, new_w) = if transposed { (w, h) } else { (h, w) };
    for y in 0..new_h {
        for x in 0..new_w {
            let (sy, sx) = match orientation {
                2 => (y, w - 1 - x),
                3 => (h - 1 - y, w - 1 - x),
                4 => (h - 1 - y, x),
                5 => (x, y),
                6 => (h - 1 - x, y),
                7 => (h - 1 - x, w - 1 - y),
                _ => (x, w - 1 - y),
            };
            let at = (sy * w + sx) * channels;
            pixels.extend_from_slice(&scratch[at..at + channels]);
        }
    }
    [new_h as u32, new_w as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_moves_the_marked_corner() {
        // 2 x 3, its first pixel marked; where it goes by the EXIF standard's table.
        let picture = [1, 2, 3, 4, 5, 6];
        let upright: [(&[u8], [u32; 2]); 8] = [
            (&[1, 2, 3, 4, 5, 6], [2, 3]),
            (&[3, 2, 1, 6, 5, 4], [2, 3]),
            (&[6, 5, 4, 3, 2, 1], [2, 3]),
            (&[4, 5, 6, 1, 2, 3], [2, 3]),
            (&[1, 4, 2, 5, 3, 6], [3, 2]),
            (&[4, 1, 5, 2, 6, 3], [3, 2]),
            (&[6, 3, 5, 2, 4, 1], [3, 2]),
            (&[3, 6, 2, 5, 1, 4], [3, 2]),
        ];
        for (orientation, (pixels, size)) in (1..).zip(upright) {
            let mut turned = picture.to_vec();
            let new_size = turn(orientation, [2, 3], 1, &mut turned, &mut Vec::new());
            assert_eq!((turned.as_slice(), new_size), (pixels, size), "orientation {orientation}");
        }
    }

    #[test]
    fn broken_exif_is_no_orientation() {
        let good = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0";
        assert_eq!(orientation_of_tiff(good), 6);
        assert_eq!(orientation_of_tiff(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0\0\0"), 3);
        for end in 0..good.len() - 2 {
            assert_eq!(orientation_of_tiff(&good[..end]), 1);
        }
        assert_eq!(orientation_of_tiff(b"MM\0*\xff\xff\xff\xff"), 1);
        let mut nine = good.to_vec();
        nine[19] = 9;
        assert_eq!(orientation_of_tiff(&nine), 1);
    }
}
