//! The decoder: its options checked, and where rows of pixels go.

use super::frame::{Frame, MAX_DIMENSION};
use super::markers::{Reader, Stop};
use super::output::Plan;
use super::workspace::{Target, Workspace};
use super::{ColorSpace, Error, Info, Limits, Options, multiple, single};

/// A reusable decoder: once it has seen a picture as large as the next, it allocates nothing more.
pub struct Decoder {
    work: Workspace,
    row: Vec<u8>,
}

/// Takes rows of pixels as they are made, from top to bottom.
pub trait RowSink {
    /// False where the row is of no use: it is not made then. By default every row is wanted.
    fn wants(&mut self, y: u32) -> bool {
        let _ = y;
        true
    }

    /// Row `y` of the output (of the crop window, where there is one), its pixels interleaved.
    fn row(&mut self, y: u32, pixels: &[u8]);
}

impl<F: FnMut(u32, &[u8])> RowSink for F {
    fn row(&mut self, y: u32, pixels: &[u8]) {
        self(y, pixels);
    }
}

/// Rows one behind the other in a caller's vector, which grows as they come.
struct IntoVec<'a> {
    out: &'a mut Vec<u8>,
    row_bytes: usize,
    /// Some row had no room.
    full: bool,
}

impl Target for IntoVec<'_> {
    fn room(&mut self, y: usize) -> Option<&mut [u8]> {
        let end = (y + 1) * self.row_bytes;
        if self.out.len() < end {
            if self.full || self.out.try_reserve(end - self.out.len()).is_err() {
                self.full = true;
                return None;
            }
            self.out.resize(end, 0);
        }
        Some(&mut self.out[end - self.row_bytes..end])
    }

    fn done(&mut self, _y: usize) {}
}

/// Rows handed to a consumer.
struct IntoSink<'a, S> {
    sink: S,
    row: &'a mut Vec<u8>,
}

impl<S: RowSink> Target for IntoSink<'_, S> {
    fn room(&mut self, y: usize) -> Option<&mut [u8]> {
        self.sink.wants(y as u32).then_some(&mut self.row[..])
    }

    fn done(&mut self, y: usize) {
        self.sink.row(y as u32, self.row);
    }
}

/// Above this many bytes an output is not reserved on the header's word alone.
const RESERVE: usize = 1 << 26;

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder::new()
    }
}

impl Decoder {
    /// A decoder without any memory of pictures.
    pub fn new() -> Decoder {
        Decoder { work: Workspace::new(), row: Vec::new() }
    }

    /// Decodes a picture into `out`, which becomes exactly `height * width * channels` bytes long (those of the crop
    /// window, where there is one): interleaved rows from top to bottom.
    ///
    /// Errors as [`Options`] says; `out` then holds whatever was decoded.
    pub fn decode_into(&mut self, bytes: &[u8], options: &Options, out: &mut Vec<u8>) -> Result<Info, Error> {
        let (mut reader, frame, mut info) = open(bytes, options)?;
        let plan = Plan::new(&reader, &frame, info.color, options.output, options.crop)?;
        let total = (plan.y1 - plan.y0) * plan.row_bytes();
        out.truncate(total);
        if total <= RESERVE {
            out.try_reserve_exact(total - out.len()).map_err(|_| Error::OutOfMemory)?;
        }
        let row_bytes = plan.row_bytes();
        let mut target = IntoVec { out, row_bytes, full: false };
        self.run(&mut reader, &frame, &plan, options, &mut target, &mut info)?;
        if target.full { Err(Error::OutOfMemory) } else { Ok(info) }
    }

    /// Decodes a picture row by row: each goes to `sink` as soon as it is made, so that no whole picture is kept
    /// (but for files of several scans, whose coefficients are).
    ///
    /// Errors as [`Options`] says, perhaps after rows were handed over.
    pub fn decode_rows<S: RowSink>(
        &mut self,
        bytes: &[u8],
        options: &Options,
        sink: S,
    ) -> Result<Info, Error> {
        let (mut reader, frame, mut info) = open(bytes, options)?;
        let plan = Plan::new(&reader, &frame, info.color, options.output, options.crop)?;
        let mut row = std::mem::take(&mut self.row);
        row.resize(plan.row_bytes(), 0);
        let mut target = IntoSink { sink, row: &mut row };
        let result = self.run(&mut reader, &frame, &plan, options, &mut target, &mut info);
        self.row = row;
        result.map(|()| info)
    }

    fn run(
        &mut self,
        reader: &mut Reader<'_>,
        frame: &Frame,
        plan: &Plan,
        options: &Options,
        target: &mut impl Target,
        info: &mut Info,
    ) -> Result<(), Error> {
        for (index, component) in frame.components().iter().enumerate().take(plan.components) {
            plan.lay_out(index, component, &mut self.work.planes[index]);
        }
        if !frame.progressive && reader.scan.parts().len() == frame.components().len() {
            single::run(&mut self.work, reader, frame, plan, options, target)?;
        } else {
            multiple::run(&mut self.work, reader, frame, plan, options, target)?;
        }
        info.warnings = reader.warnings;
        Ok(())
    }
}

/// Reads the header up to the first scan, and checks it against the limits.
pub(super) fn open<'a>(bytes: &'a [u8], options: &Options) -> Result<(Reader<'a>, Frame, Info), Error> {
    let mut reader = Reader::new(bytes);
    if reader.next_stop()? == Stop::End {
        return Err(Error::malformed("no picture in the file", reader.position));
    }
    let Some(mut frame) = reader.frame.clone() else {
        return Err(Error::malformed("SOS before SOF", reader.position));
    };
    let (width, height) = (frame.width as u32, frame.height as u32);
    if frame.precision != 8 {
        let what = if frame.precision == 12 { "12-bit samples" } else { "samples of other than 8 bits" };
        return Err(Error::unsupported(what, frame.offset));
    }
    if width.max(height) > MAX_DIMENSION {
        return Err(Error::TooLarge { width, height, limit: "65500 pixels a side" });
    }
    let samples = u64::from(width) * u64::from(height) * frame.components().len() as u64;
    if samples > options.limits.max_samples {
        return Err(Error::TooLarge { width, height, limit: "samples" });
    }
    frame.lay_out()?;
    let color = reader.color_space()?;
    let info = Info {
        width,
        height,
        components: frame.components().len() as u8,
        color,
        progressive: frame.progressive,
        warnings: reader.warnings,
    };
    Ok((reader, frame, info))
}

/// What the header alone tells.
pub(super) fn info_of(bytes: &[u8], limits: &Limits) -> Result<Info, Error> {
    open(bytes, &Options { limits: limits.clone(), ..Options::default() }).map(|(_, _, info)| info)
}

impl Info {
    /// Bytes of a pixel in [`Output::Native`](super::Output::Native).
    pub fn native_channels(&self) -> usize {
        if self.color == ColorSpace::Gray { 1 } else { 3 }
    }
}
