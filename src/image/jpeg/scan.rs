//! The entropy-coded data of a scan as a row of segments: restart markers, and what to do where they or the data are
//! missing, as libjpeg does it.

use super::bits::{BitReader, BitState, Segment, SegmentEnd};
use super::markers::{EOI, RST0, Reader, SOF0, find_marker};
use super::{Damage, Error};

/// Where a scan stands in its data.
pub(super) struct Scan<'a, 's> {
    file: &'a [u8],
    segment: &'s mut Segment,
    end: SegmentEnd,
    state: BitState,
    damage: Damage,
    /// The data of this segment is used up: MCUs are skipped up to the next restart marker.
    exhausted: bool,
    interval: u32,
    to_go: u32,
    next_restart: u8,
    pub warnings: u32,
}

impl<'a, 's> Scan<'a, 's> {
    /// The scan whose data begins where the reader stands.
    pub(super) fn new(reader: &Reader<'a>, segment: &'s mut Segment, damage: Damage) -> Scan<'a, 's> {
        let file = reader.bytes();
        let end = segment.load(file, reader.position);
        Scan {
            file,
            segment,
            end,
            state: BitState::default(),
            damage,
            exhausted: false,
            interval: reader.restart_interval,
            to_go: reader.restart_interval,
            next_restart: 0,
            warnings: 0,
        }
    }

    /// True where nothing more will come: every further MCU would be skipped.
    pub(super) fn is_over(&self) -> bool {
        self.exhausted && self.interval == 0
    }

    /// To be called before each MCU. Returns true at a restart: predictions and runs begin anew.
    #[inline(always)]
    pub(super) fn begin_mcu(&mut self) -> Result<bool, Error> {
        if self.interval == 0 {
            return Ok(false);
        }
        let restart = self.to_go == 0;
        if restart {
            self.restart()?;
        }
        self.to_go -= 1;
        Ok(restart)
    }

    /// Decodes an MCU by `decode`, unless the data is used up. Returns whether it was decoded.
    #[inline(always)]
    pub(super) fn mcu(&mut self, decode: impl FnOnce(&mut BitReader<'_>)) -> Result<bool, Error> {
        if self.exhausted {
            return Ok(false);
        }
        let mut reader = self.segment.reader(self.state);
        decode(&mut reader);
        self.state = reader.state();
        self.warnings += reader.warnings;
        if self.segment.overrun(self.state) {
            self.exhaust()?;
        }
        Ok(true)
    }

    #[cold]
    fn exhaust(&mut self) -> Result<(), Error> {
        if self.end == SegmentEnd::Eof && self.damage == Damage::Strict {
            return Err(self.truncated());
        }
        self.warnings += 1;
        self.exhausted = true;
        Ok(())
    }

    fn truncated(&self) -> Error {
        Error::Truncated { offset: self.file.len() }
    }

    /// Goes on behind the next restart marker. Where another marker is found, either it is taken for the right one,
    /// or it is skipped, or the data up to the next restart counts as missing.
    #[cold]
    fn restart(&mut self) -> Result<(), Error> {
        let expected = RST0 + self.next_restart;
        let mut marker = self.end;
        let mut first = true;
        let resume = loop {
            let SegmentEnd::Marker { code, position } = marker else {
                if self.damage == Damage::Strict {
                    return Err(self.truncated());
                }
                break None;
            };
            let ahead = code.wrapping_sub(expected) & 7;
            if code == expected {
                break Some(position);
            }
            self.warnings += u32::from(first);
            first = false;
            let skip = match code {
                EOI => false,
                0..SOF0 => true,
                0xd0..=0xd7 => match ahead {
                    1 | 2 => false,
                    6 | 7 => true,
                    _ => break Some(position),
                },
                _ => false,
            };
            if !skip {
                break None;
            }
            marker = match find_marker(self.file, position) {
                Some((code, at)) => SegmentEnd::Marker { code, position: at + 2 },
                None => SegmentEnd::Eof,
            };
            self.end = marker;
        };
        self.state = BitState::default();
        match resume {
            Some(position) => {
                self.end = self.segment.load(self.file, position);
                self.exhausted = false;
            }
            None => self.segment.load_nothing(),
        }
        self.next_restart = (self.next_restart + 1) & 7;
        self.to_go = self.interval;
        Ok(())
    }

    /// The marker that ended the data and the position behind it, to go on with in the file. Errors where there is
    /// none, even if no bit was missing: libjpeg looks a few bytes ahead, and TensorFlow fails there.
    pub(super) fn finish(&self) -> Result<(Option<u8>, usize), Error> {
        match self.end {
            SegmentEnd::Marker { code, position } => Ok((Some(code), position)),
            SegmentEnd::Eof if self.damage == Damage::Strict => Err(self.truncated()),
            SegmentEnd::Eof => Ok((None, self.file.len())),
        }
    }
}
