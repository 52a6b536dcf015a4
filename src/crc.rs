//! CRC-32C as TFRecord uses it: plain, and "masked" as it is stored in frames.

/// Added after the rotation, so that the CRC of bytes that hold CRCs is not degenerate (TFRecord's constant).
const MASK_DELTA: u32 = 0xa282_ead8;

/// The CRC-32C (Castagnoli) of some bytes.
#[inline]
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    ::crc32c::crc32c(bytes)
}

/// The CRC-32C of bytes that follow others whose CRC-32C is `crc`.
#[inline]
pub(crate) fn append(crc: u32, bytes: &[u8]) -> u32 {
    ::crc32c::crc32c_append(crc, bytes)
}

/// The form in which TFRecord stores a CRC: rotated right by 15 bits, plus a constant.
#[inline]
pub(crate) fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// The masked CRC-32C of some bytes, as a frame's header and footer hold it.
#[inline]
pub(crate) fn masked(bytes: &[u8]) -> u32 {
    mask(crc32c(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of TensorFlow 2.21.
    #[test]
    fn known_values() {
        let rising: Vec<u8> = (0..32).collect();
        let vectors: [(&[u8], u32, u32); 5] = [
            (b"", 0, 2_726_488_792),
            (b"a", 3_251_651_376, 686_059_128),
            (b"123456789", 3_808_858_755, 3_347_755_237),
            (&rising, 1_188_919_630, 2_501_867_666),
            (&[0; 8], 2_351_477_386, 127_402_793),
        ];
        for (bytes, plain, stored) in vectors {
            assert_eq!(crc32c(bytes), plain);
            assert_eq!(masked(bytes), stored);
            let (head, tail) = bytes.split_at(bytes.len() / 2);
            assert_eq!(append(crc32c(head), tail), plain);
        }
    }
}
