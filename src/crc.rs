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

/// The masked CRC-32C of the eight bytes of a length: the same as [`masked`] of them, in a few nanoseconds.
///
/// Every frame has one. The general way is made for long inputs and takes longer to begin than these take to end.
#[inline]
pub(crate) fn masked_length(len: u64) -> u32 {
    let bytes = (len ^ 0xffff_ffff).to_le_bytes();
    let mut crc = 0;
    for (table, byte) in TABLES.iter().rev().zip(bytes) {
        crc ^= table[usize::from(byte)];
    }
    mask(!crc)
}

/// `TABLES[n][byte]` is what a byte leaves in the register after `n` more bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut n = 0;
        while n < 8 {
            let mut bit = 0;
            while bit < 8 {
                // The reversed Castagnoli polynomial.
                crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
                bit += 1;
            }
            tables[n][byte] = crc;
            n += 1;
        }
        byte += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let mut len = 0_u64;
        for i in 0..64 {
            len = len.rotate_left(7) ^ (i * 0x9e37_79b9);
            for len in [len, 1 << i, !(1 << i), i, u64::MAX - i] {
                assert_eq!(masked_length(len), masked(&len.to_le_bytes()));
            }
        }
    }

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
