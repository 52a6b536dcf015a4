//! Marker segments: everything between the picture's entropy-coded data (ITU T.81, B.2).

use super::frame::{COEFFICIENTS, Component, Frame, NATURAL};
use super::huffman::Spec;
use super::{ColorSpace, Error};

pub(super) const SOI: u8 = 0xd8;
pub(super) const EOI: u8 = 0xd9;
pub(super) const RST0: u8 = 0xd0;
pub(super) const SOF0: u8 = 0xc0;
const SOS: u8 = 0xda;

/// A component's part in a scan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScanComponent {
    /// Index into [`Frame::components`].
    pub index: usize,
    pub dc_table: u8,
    pub ac_table: u8,
}

/// What a SOS segment says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScanHeader {
    parts: [ScanComponent; 4],
    count: usize,
    /// First and last coefficient in zigzag order.
    pub first: u8,
    pub last: u8,
    /// Point transform of the scan before on the same coefficients, and of this one.
    pub high: u8,
    pub low: u8,
    /// Offset of the segment in the file.
    pub offset: usize,
}

impl ScanHeader {
    pub(super) fn parts(&self) -> &[ScanComponent] {
        &self.parts[..self.count]
    }
}

/// What ended a run of marker segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A scan begins; entropy-coded data follows.
    Scan,
    /// End of image.
    End,
}

/// Reads marker segments, and keeps what they define.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub position: usize,
    /// A marker that was met in entropy-coded data and still has to be dealt with.
    pub pending: Option<u8>,
    seen_soi: bool,
    /// The last thing that was read is (part of) the parameters of a segment.
    pub in_parameters: bool,
    pub frame: Option<Frame>,
    pub scan: ScanHeader,
    pub quant: [Option<[u16; COEFFICIENTS]>; 4],
    pub dc: [Option<Spec>; 4],
    pub ac: [Option<Spec>; 4],
    /// MCUs between restart markers, 0 for none.
    pub restart_interval: u32,
    jfif: bool,
    /// The colour transform of an Adobe marker.
    adobe: Option<u8>,
    pub warnings: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader {
            bytes,
            position: 0,
            pending: None,
            seen_soi: false,
            in_parameters: false,
            frame: None,
            scan: ScanHeader::default(),
            quant: [None; 4],
            dc: [const { None }; 4],
            ac: [const { None }; 4],
            restart_interval: 0,
            jfif: false,
            adobe: None,
            warnings: 0,
        }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// True where an Adobe marker was met.
    pub(super) fn is_adobe(&self) -> bool {
        self.adobe.is_some()
    }

    /// Reads segments up to and with the next SOS, or to the end of the image.
    pub(super) fn next_stop(&mut self) -> Result<Stop, Error> {
        loop {
            self.in_parameters = false;
            let marker = match self.pending.take() {
                Some(marker) => marker,
                None if self.seen_soi => self.next_marker()?,
                None => self.first_marker()?,
            };
            self.in_parameters = true;
            match marker {
                SOI if self.seen_soi => return Err(self.malformed("SOI twice")),
                SOI => {
                    self.seen_soi = true;
                    self.restart_interval = 0;
                }
                0xc0 | 0xc1 => self.frame_header(false)?,
                0xc2 => self.frame_header(true)?,
                0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf | 0xc8 | 0xf7 => {
                    return Err(self.other_process(marker));
                }
                SOS => {
                    self.scan_header()?;
                    return Ok(Stop::Scan);
                }
                EOI => return Ok(Stop::End),
                0xc4 => self.huffman_tables()?,
                0xdb => self.quantisation_tables()?,
                0xdd => self.restart_definition()?,
                0xe0 => self.application_0()?,
                0xee => self.application_14()?,
                0xcc => self.conditioning()?,
                // DNL, APPn and COM are skipped; RSTn and TEM have no parameters.
                0xdc | 0xe1..=0xed | 0xef | 0xfe => {
                    self.skip(0)?;
                }
                0xd0..=0xd7 | 0x01 => {}
                _ => return Err(self.malformed("unknown marker")),
            }
        }
    }

    fn first_marker(&mut self) -> Result<u8, Error> {
        match self.bytes {
            [0xff, SOI, ..] => {
                self.position = 2;
                Ok(SOI)
            }
            [] | [0xff] => Err(self.truncated()),
            _ => Err(Error::malformed("no SOI marker at the start: not a JPEG file", 0)),
        }
    }

    /// The next marker; whatever comes before it is skipped with a warning.
    pub(super) fn next_marker(&mut self) -> Result<u8, Error> {
        let start = self.position;
        let (marker, at) = find_marker(self.bytes, self.position).ok_or_else(|| self.truncated())?;
        self.warnings += u32::from(at > start && self.bytes[start] != 0xff);
        self.position = at + 2;
        Ok(marker)
    }

    pub(super) fn truncated(&self) -> Error {
        Error::Truncated { offset: self.bytes.len() }
    }

    fn malformed(&self, reason: &'static str) -> Error {
        Error::malformed(reason, self.position.saturating_sub(2))
    }

    /// The parameters of a segment, without its length. Where the file ends first, as many of them as there are:
    /// like libjpeg, we want to see what is wrong in them before we miss the rest.
    fn segment(&mut self) -> Result<Body<'a>, Error> {
        let start = self.position;
        let length = match self.bytes.get(start..start + 2) {
            Some(&[high, low]) => usize::from(u16::from_be_bytes([high, low])),
            _ => return Err(self.truncated()),
        };
        if length < 2 {
            return Err(self.malformed("bogus segment length"));
        }
        self.position = (start + length).min(self.bytes.len());
        Ok(Body {
            rest: &self.bytes[start + 2..self.position.max(start + 2)],
            declared: length - 2,
            end: self.bytes.len(),
        })
    }

    /// Skips a segment but for up to `count` bytes at its start. As in libjpeg, a length that is too short for itself
    /// stands for an empty segment, and one beyond the end of the file leads to the end of the file.
    fn skip(&mut self, count: usize) -> Result<&'a [u8], Error> {
        if let Some([0, 0 | 1]) = self.bytes.get(self.position..self.position + 2) {
            self.position += 2;
            return Ok(&[]);
        }
        let mut body = self.segment()?;
        body.take(count.min(body.declared), "", self.position)
    }

    fn other_process(&self, marker: u8) -> Error {
        let what = match marker {
            0xc3 => "lossless coding (SOF3)",
            0xc5..=0xc7 => "hierarchical coding (SOF5 to SOF7)",
            0xc9 | 0xca => "arithmetic coding (SOF9, SOF10)",
            0xcb => "lossless arithmetic coding (SOF11)",
            0xcd..=0xcf => "hierarchical arithmetic coding (SOF13 to SOF15)",
            0xf7 => "JPEG-LS coding (SOF55)",
            _ => "an extension (JPG)",
        };
        Error::unsupported(what, self.position - 2)
    }

    fn frame_header(&mut self, progressive: bool) -> Result<(), Error> {
        let offset = self.position - 2;
        if self.frame.is_some() {
            return Err(self.malformed("more than one SOF"));
        }
        let mut body = self.segment()?;
        let &[precision, h1, h0, w1, w0, count] = body.take_array("bogus SOF length", offset)?;
        let height = usize::from(u16::from_be_bytes([h1, h0]));
        let width = usize::from(u16::from_be_bytes([w1, w0]));
        if height == 0 {
            return Err(Error::unsupported("its height given after the data (DNL)", offset));
        }
        if width == 0 || count == 0 {
            return Err(Error::malformed("empty image", offset));
        }
        if body.declared != usize::from(count) * 3 {
            return Err(Error::malformed("bogus SOF length", offset));
        }
        let rest = body.take(body.declared, "bogus SOF length", offset)?;
        if count == 2 || count > 4 {
            return Err(Error::unsupported("2 or more than 4 components", offset));
        }
        let components = rest.chunks_exact(3).map(|c| Component {
            id: c[0],
            h: usize::from(c[1] >> 4),
            v: usize::from(c[1] & 15),
            quant_index: c[2],
            ..Component::default()
        });
        let mut frame = Frame::new(width, height, components);
        (frame.precision, frame.progressive, frame.offset) = (precision, progressive, offset);
        self.frame = Some(frame);
        Ok(())
    }

    fn scan_header(&mut self) -> Result<(), Error> {
        let offset = self.position - 2;
        let bad = |reason| Error::malformed(reason, offset);
        let Some(frame) = &self.frame else { return Err(bad("SOS before SOF")) };
        let mut ids = [None; 4];
        ids.iter_mut().zip(frame.components()).for_each(|(id, c)| *id = Some(c.id));
        let mut body = self.segment()?;
        let &[count] = body.take_array("bogus SOS length", offset)?;
        let count = usize::from(count);
        if !(1..=4).contains(&count) || body.declared != count * 2 + 3 {
            return Err(bad("bogus SOS length"));
        }
        let mut scan = ScanHeader { count, offset, ..ScanHeader::default() };
        for i in 0..count {
            let part: &[u8; 2] = body.take_array("bogus SOS length", offset)?;
            // As in libjpeg: a component is found only while no earlier part of the scan has its place in the frame.
            let index = (0..ids.len())
                .find(|&index| ids[index] == Some(part[0]) && index >= i)
                .filter(|index| scan.parts[..i].iter().all(|p| p.index != *index))
                .ok_or_else(|| bad("bogus component in a scan"))?;
            scan.parts[i] = ScanComponent { index, dc_table: part[1] >> 4, ac_table: part[1] & 15 };
        }
        let &[first, last, transform] = body.take_array("bogus SOS length", offset)?;
        (scan.first, scan.last) = (first, last);
        (scan.high, scan.low) = (transform >> 4, transform & 15);
        self.scan = scan;
        Ok(())
    }

    fn huffman_tables(&mut self) -> Result<(), Error> {
        let offset = self.position - 2;
        let mut body = self.segment()?;
        while body.declared > 16 {
            let &[number] = body.take_array("bogus DHT length", offset)?;
            let counts: &[u8; 16] = body.take_array("bogus DHT length", offset)?;
            let total: usize = counts.iter().map(|&n| usize::from(n)).sum();
            if total > 256 || total > body.declared {
                return Err(Error::malformed("bogus Huffman table", offset));
            }
            let spec = Spec::new(counts, body.take(total, "bogus DHT length", offset)?);
            match number {
                0..=3 => self.dc[usize::from(number)] = Some(spec),
                0x10..=0x13 => self.ac[usize::from(number & 3)] = Some(spec),
                _ => return Err(Error::malformed("bogus Huffman table number", offset)),
            }
        }
        if body.declared == 0 { Ok(()) } else { Err(Error::malformed("bogus DHT length", offset)) }
    }

    fn quantisation_tables(&mut self) -> Result<(), Error> {
        let offset = self.position - 2;
        let mut body = self.segment()?;
        while body.declared > 0 {
            let &[head] = body.take_array("bogus DQT length", offset)?;
            if head & 15 > 3 {
                return Err(Error::malformed("bogus quantisation table number", offset));
            }
            let width = if head >> 4 == 0 { 1 } else { 2 };
            let values = body.take(COEFFICIENTS * width, "bogus DQT length", offset)?;
            let mut table = [0u16; COEFFICIENTS];
            for (k, value) in values.chunks_exact(width).enumerate() {
                table[usize::from(NATURAL[k])] = value.iter().fold(0, |v, &b| v << 8 | u16::from(b));
            }
            self.quant[usize::from(head & 3)] = Some(table);
        }
        Ok(())
    }

    fn restart_definition(&mut self) -> Result<(), Error> {
        let offset = self.position - 2;
        let mut body = self.segment()?;
        if body.declared != 2 {
            return Err(Error::malformed("bogus DRI length", offset));
        }
        let &[high, low] = body.take_array("bogus DRI length", offset)?;
        self.restart_interval = u32::from(u16::from_be_bytes([high, low]));
        Ok(())
    }

    /// Conditioning of arithmetic coding: of no use here, but libjpeg checks it.
    fn conditioning(&mut self) -> Result<(), Error> {
        let offset = self.position - 2;
        let mut body = self.segment()?;
        while body.declared > 0 {
            let &[index, value] = body.take_array("bogus DAC length", offset)?;
            if index >= 32 || index < 16 && value & 15 > value >> 4 {
                return Err(Error::malformed("bogus arithmetic conditioning", offset));
            }
        }
        Ok(())
    }

    fn application_0(&mut self) -> Result<(), Error> {
        let body = self.skip(14)?;
        self.jfif |= body.len() >= 14 && body.starts_with(b"JFIF\0");
        Ok(())
    }

    fn application_14(&mut self) -> Result<(), Error> {
        let body = self.skip(12)?;
        if body.len() >= 12 && body.starts_with(b"Adobe") {
            self.adobe = Some(body[11]);
        }
        Ok(())
    }

    /// The meaning of the components, by libjpeg's rules: JFIF says YCbCr, else the Adobe marker tells, else the
    /// component identifiers do.
    pub(super) fn color_space(&mut self) -> Result<ColorSpace, Error> {
        let Some(frame) = &self.frame else { return Err(self.malformed("no SOF")) };
        let is_rgb = frame.components().iter().map(|c| c.id).eq(*b"RGB");
        let mut odd = false;
        let space = match (frame.components().len(), self.jfif, self.adobe) {
            (1, ..) => ColorSpace::Gray,
            (3, true, _) => ColorSpace::YCbCr,
            (3, false, Some(0)) => ColorSpace::Rgb,
            (3, false, Some(transform)) => {
                odd = transform != 1;
                ColorSpace::YCbCr
            }
            (3, false, None) if is_rgb => ColorSpace::Rgb,
            (3, false, None) => ColorSpace::YCbCr,
            (_, _, Some(0) | None) => ColorSpace::Cmyk,
            (_, _, Some(transform)) => {
                odd = transform != 2;
                ColorSpace::Ycck
            }
        };
        self.warnings += u32::from(odd);
        Ok(space)
    }
}

/// The parameters of a segment that are still to be read.
struct Body<'a> {
    /// Those that are there.
    rest: &'a [u8],
    /// How many there should be.
    declared: usize,
    /// Where the file ends.
    end: usize,
}

impl<'a> Body<'a> {
    /// The next `count` bytes. Errors with `reason` where the segment is shorter, as truncated where the file is.
    fn take(&mut self, count: usize, reason: &'static str, offset: usize) -> Result<&'a [u8], Error> {
        if count > self.declared {
            return Err(Error::malformed(reason, offset));
        }
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Error::Truncated { offset: self.end })?;
        self.rest = rest;
        self.declared -= count;
        Ok(taken)
    }

    fn take_array<const N: usize>(
        &mut self,
        reason: &'static str,
        offset: usize,
    ) -> Result<&'a [u8; N], Error> {
        Ok(self.take(N, reason, offset)?.try_into().expect("as many as taken"))
    }
}

/// The next marker at or after a position, and where its last FF is. A zero after FF is data, FF after FF is fill.
pub(super) fn find_marker(bytes: &[u8], mut position: usize) -> Option<(u8, usize)> {
    loop {
        let ff = position + bytes.get(position..)?.iter().position(|&b| b == 0xff)?;
        let code = ff + 1 + bytes[ff + 1..].iter().position(|&b| b != 0xff)?;
        match bytes[code] {
            0 => position = code + 1,
            marker => return Some((marker, code - 1)),
        }
    }
}
