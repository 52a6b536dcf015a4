//! Entropy-coded data as a stream of bits.

/// Zero bytes after the data of a segment. An MCU takes at most ten blocks of 64 symbols of 32 bits, and the reader
/// stops after the one in which the data ends; a refill looks at eight bytes.
const PADDING: usize = 10 * 64 * 4 + 16;

/// The data of one restart interval (or of a whole scan): byte stuffing removed, zeros appended.
#[derive(Default)]
pub(super) struct Segment {
    bytes: Vec<u8>,
}

/// What followed a segment in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentEnd {
    /// A marker; the position is right behind it.
    Marker { code: u8, position: usize },
    /// The end of the file.
    Eof,
}

impl Segment {
    /// Takes the data from `position` up to the next marker or the end of the file.
    pub(super) fn load(&mut self, file: &[u8], position: usize) -> SegmentEnd {
        self.bytes.clear();
        let mut rest = &file[position.min(file.len())..];
        let end = loop {
            let Some(ff) = find_ff(rest) else {
                self.bytes.extend_from_slice(rest);
                break SegmentEnd::Eof;
            };
            self.bytes.extend_from_slice(&rest[..ff]);
            let fill = rest[ff..].iter().take_while(|&&b| b == 0xff).count();
            match rest.get(ff + fill) {
                None => break SegmentEnd::Eof,
                Some(0) => {
                    self.bytes.push(0xff);
                    rest = &rest[ff + fill + 1..];
                }
                Some(&code) => {
                    let position = file.len() - rest.len() + ff + fill + 1;
                    break SegmentEnd::Marker { code, position };
                }
            }
        };
        self.bytes.resize(self.bytes.len() + PADDING, 0);
        end
    }

    /// A segment without data, as after a restart marker that is not there.
    pub(super) fn load_nothing(&mut self) {
        self.bytes.clear();
        self.bytes.resize(PADDING, 0);
    }

    pub(super) fn reader(&self, state: BitState) -> BitReader<'_> {
        BitReader { bytes: &self.bytes, state, warnings: 0 }
    }

    /// True where more bits were consumed than there are.
    pub(super) fn overrun(&self, state: BitState) -> bool {
        let loaded = state.position * 8;
        loaded > (self.bytes.len() - PADDING) * 8 + (state.count & 63) as usize
    }
}

/// The first FF.
fn find_ff(bytes: &[u8]) -> Option<usize> {
    // Written so that it compiles to vector comparisons.
    let clean = |chunk: &&[u8; 64]| chunk.iter().fold(0, |any, &b| any | u8::from(b == 0xff)) == 0;
    let start = bytes.as_chunks().0.iter().take_while(clean).count() * 64;
    bytes[start..].iter().position(|&b| b == 0xff).map(|at| start + at)
}

/// The state of a reader, to be kept between rows of MCUs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BitState {
    /// The next bits, at the top.
    buffer: u64,
    /// How many of them are valid: only the low six bits mean anything, so that whole table entries can be subtracted.
    count: u32,
    /// The next byte to load.
    position: usize,
}

/// Reads bits from a segment; after its end come zeros without end.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    state: BitState,
    /// Bad codes met.
    pub warnings: u32,
}

impl BitReader<'_> {
    /// At least 56 valid bits from here on.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let s = &mut self.state;
        let next = self.bytes[s.position..].first_chunk().expect("within the padding");
        s.buffer |= u64::from_be_bytes(*next).wrapping_shr(s.count);
        s.position += (((s.count & 63) ^ 63) >> 3) as usize;
        s.count |= 56;
    }

    /// At least `n` valid bits from here on, up to 56: a refill only where they are not there.
    #[inline(always)]
    pub(super) fn ensure(&mut self, n: u32) {
        if self.state.count & 63 < n {
            self.refill();
        }
    }

    /// The buffer: the next bits from the top.
    #[inline(always)]
    pub(super) fn peek(&self) -> u64 {
        self.state.buffer
    }

    /// Drops as many bits as the low six bits of `n` say; there must have been a refill for them.
    #[inline(always)]
    pub(super) fn consume(&mut self, n: u32) {
        self.state.buffer = self.state.buffer.wrapping_shl(n);
        self.state.count = self.state.count.wrapping_sub(n);
    }

    /// One bit.
    #[inline(always)]
    pub(super) fn bit(&mut self) -> bool {
        self.ensure(1);
        let bit = self.state.buffer >> 63 != 0;
        self.consume(1);
        bit
    }

    /// The next `n` bits (up to 16) as a number.
    #[inline(always)]
    pub(super) fn bits(&mut self, n: u32) -> u32 {
        self.refill();
        let value = (self.state.buffer >> 1 >> (63 - n)) as u32;
        self.consume(n);
        value
    }

    #[inline(always)]
    pub(super) fn state(&self) -> BitState {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::jpeg::markers::find_marker;

    #[test]
    fn stuffing_is_removed_and_fill_bytes_are_skipped() {
        let mut segment = Segment::default();
        let file = [9, 1, 0xff, 0, 2, 0xff, 0xff, 0, 3, 0xff, 0xff, 0xd9, 7];
        assert_eq!(segment.load(&file, 1), SegmentEnd::Marker { code: 0xd9, position: 12 });
        assert_eq!(segment.bytes[..5], [1, 0xff, 2, 0xff, 3]);
        assert_eq!(segment.load(&file[..11], 1), SegmentEnd::Eof);
        assert_eq!(find_marker(&file, 1), Some((0xd9, 10)));
    }

    #[test]
    fn overrun_begins_with_the_first_bit_past_the_end() {
        let mut segment = Segment::default();
        segment.load(&[0xa5, 0x5a], 0);
        let mut reader = segment.reader(BitState::default());
        assert_eq!(reader.bits(12), 0xa55);
        assert_eq!(reader.bits(4), 0xa);
        assert!(!segment.overrun(reader.state()));
        assert!(!reader.bit());
        assert!(segment.overrun(reader.state()));
        for _ in 0..10 * 64 * 2 {
            assert_eq!(reader.bits(16), 0);
            assert!(segment.overrun(reader.state()));
        }
    }
}
