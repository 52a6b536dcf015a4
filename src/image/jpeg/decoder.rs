//! Decoding a file: markers, scans, and the rows of pixels that come of them.

use super::bits::{BitReader, Segment};
use super::coefficients::Coefficients;
use super::frame::{COEFFICIENTS, Frame, MAX_DIMENSION, MAX_MCU_BLOCKS};
use super::huffman::{Class, Spec, Table, standard};
use super::idct::{self, Multipliers};
use super::markers::{Reader, ScanHeader, Stop};
use super::output::{Plan, Rows};
use super::plane::Plane;
use super::progressive::{self, Band};
use super::scan::Scan;
use super::sequential;
use super::smooth::{Progress, Smoothing};
use super::{ColorSpace, Damage, Error, Info, Limits, Options};

/// A reusable decoder: once it has seen a picture as large as the next, it allocates nothing more.
pub struct Decoder {
    segment: Segment,
    tables: Box<Tables>,
    planes: [Plane; 4],
    coefficients: [Coefficients; 4],
    mcu: Vec<[i16; COEFFICIENTS]>,
    rows: Rows,
    row: Vec<u8>,
}

/// Huffman tables ready for use, with what they were made from.
struct Tables {
    dc: [(Option<Spec>, Table); 4],
    ac: [(Option<Spec>, Table); 4],
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

/// Where rows are made.
trait Target {
    /// The room for a row, or None where it is not wanted.
    fn room(&mut self, y: usize) -> Option<&mut [u8]>;
    /// The row is there.
    fn done(&mut self, y: usize);
}

/// Rows one behind the other in a caller's vector, which grows as they come.
struct IntoVec<'a> {
    out: &'a mut Vec<u8>,
    row_bytes: usize,
}

impl Target for IntoVec<'_> {
    fn room(&mut self, y: usize) -> Option<&mut [u8]> {
        let end = (y + 1) * self.row_bytes;
        if self.out.len() < end {
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
        let cache = || std::array::from_fn(|_| (None, Table::empty()));
        Decoder {
            segment: Segment::default(),
            tables: Box::new(Tables { dc: cache(), ac: cache() }),
            planes: Default::default(),
            coefficients: Default::default(),
            mcu: vec![[0; COEFFICIENTS]; MAX_MCU_BLOCKS],
            rows: Rows::new(),
            row: Vec::new(),
        }
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
            out.reserve_exact(total - out.len());
        }
        let row_bytes = plan.row_bytes();
        self.run(&mut reader, &frame, &plan, options, &mut IntoVec { out, row_bytes }, &mut info)?;
        Ok(info)
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
        for (index, component) in frame.components.iter().enumerate().take(plan.components) {
            plan.lay_out(index, component, &mut self.planes[index]);
        }
        if !frame.progressive && reader.scan.parts().len() == frame.components.len() {
            self.run_single(reader, frame, plan, options, target)?;
        } else {
            self.run_multiple(reader, frame, plan, options, target)?;
        }
        info.warnings = reader.warnings;
        Ok(())
    }

    /// Hands over the rows that a row of MCUs completes.
    fn emit(
        &mut self,
        frame: &Frame,
        plan: &Plan,
        mcu_row: usize,
        next: &mut usize,
        target: &mut impl Target,
    ) {
        for component in 0..plan.components {
            let v = frame.components[component].v;
            for block_row in mcu_row * v..(mcu_row + 1) * v {
                self.planes[component].extend_edges(block_row);
            }
        }
        let end = plan.rows_after(mcu_row);
        while *next < end {
            let y = *next - plan.y0;
            if let Some(room) = target.room(y) {
                self.rows.make(plan, frame, &self.planes, *next, room);
                target.done(y);
            }
            *next += 1;
        }
    }

    /// Decodes a file of one sequential scan, whose blocks are transformed as they come.
    fn run_single(
        &mut self,
        reader: &mut Reader<'_>,
        frame: &Frame,
        plan: &Plan,
        options: &Options,
        target: &mut impl Target,
    ) -> Result<(), Error> {
        let header = reader.scan;
        let mut quant = [None; 4];
        latch_quant(reader, frame, &header, &mut quant)?;
        let multipliers = quant.map(|q| Multipliers::new(&q.unwrap_or([0; COEFFICIENTS]), options.dct));
        fill_in_tables(reader);
        self.prepare_tables(reader, &header)?;
        if sequential_is_odd(&header) {
            reader.warnings += 1;
        }
        let transform = idct::transform(options.dct);
        let layout = McuLayout::new(frame, &header)?;
        let needed = plan.mcu_rows();
        let mut next = plan.y0;
        let mut predictions = [0; 4];

        let mut segment = std::mem::take(&mut self.segment);
        let mut scan = Scan::new(reader, &mut segment, options.damage);
        for mcu_row in 0..=*needed.end() {
            let wanted = needed.contains(&mcu_row);
            for sub_row in 0..layout.sub_rows(mcu_row) {
                for mcu_col in 0..layout.cols {
                    if scan.begin_mcu()? {
                        predictions = [0; 4];
                    }
                    let mcu = &mut self.mcu[..layout.blocks.len()];
                    mcu.as_flattened_mut().fill(0);
                    let mut last = [0; MAX_MCU_BLOCKS];
                    let tables = &self.tables;
                    scan.mcu(|bits| {
                        for ((block, place), last) in mcu.iter_mut().zip(&layout.blocks).zip(&mut last) {
                            let (dc, ac) = (&tables.dc[place.dc].1, &tables.ac[place.ac].1);
                            *last = sequential::block(bits, dc, ac, &mut predictions[place.part], block);
                        }
                    })?;
                    if !wanted {
                        continue;
                    }
                    for ((block, place), last) in self.mcu.iter().zip(&layout.blocks).zip(last) {
                        let (row, col) = layout.position(place, mcu_row, sub_row, mcu_col);
                        let component = &frame.components[place.component];
                        let inside = row < component.block_rows && col < component.block_cols;
                        if place.component >= plan.components
                            || !inside
                            || !self.planes[place.component].holds(col)
                        {
                            continue;
                        }
                        let multipliers = &multipliers[place.component];
                        let (out, stride) = self.planes[place.component].block(row, col);
                        if last == 0 {
                            idct::fill(idct::dc_sample(block[0], multipliers, options.dct), out, stride);
                        } else {
                            transform(block, multipliers, out, stride);
                        }
                    }
                }
            }
            if wanted {
                self.emit(frame, plan, mcu_row, &mut next, target);
            }
        }
        let whole = *needed.end() + 1 == frame.mcu_rows;
        let (marker, position) = scan.finish();
        reader.warnings += scan.warnings;
        self.segment = segment;
        if whole {
            (reader.pending, reader.position) = (marker, position);
            match reader.next_stop() {
                Ok(Stop::Scan) => return Err(Error::malformed("a scan too many", reader.scan.offset)),
                Ok(Stop::End) | Err(Error::Truncated { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Decodes a file of several scans: all coefficients first, then the samples.
    fn run_multiple(
        &mut self,
        reader: &mut Reader<'_>,
        frame: &Frame,
        plan: &Plan,
        options: &Options,
        target: &mut impl Target,
    ) -> Result<(), Error> {
        let (quant, smoothing) = self.read_scans(reader, frame, options)?;
        let multipliers = quant.map(|q| Multipliers::new(&q.unwrap_or([0; COEFFICIENTS]), options.dct));
        let transform = idct::transform(options.dct);
        let mut next = plan.y0;
        for mcu_row in plan.mcu_rows() {
            for (index, component) in frame.components.iter().enumerate().take(plan.components) {
                let end = ((mcu_row + 1) * component.v).min(component.block_rows);
                for row in mcu_row * component.v..end {
                    for col in self.planes[index].columns() {
                        let coefficients = &self.coefficients[index];
                        let (out, stride) = self.planes[index].block(row, col);
                        match &smoothing {
                            None => transform(coefficients.block(row, col), &multipliers[index], out, stride),
                            Some(smoothing) => {
                                let block = smoothing.block(index, component, coefficients, (row, col));
                                transform(&block, &multipliers[index], out, stride);
                            }
                        }
                    }
                }
            }
            self.emit(frame, plan, mcu_row, &mut next, target);
        }
        Ok(())
    }

    /// Reads all scans of a file into `coefficients`. Returns the components' quantisation tables, None where a
    /// component was in no scan, and the smoothing that the picture needs.
    #[allow(clippy::type_complexity)]
    fn read_scans(
        &mut self,
        reader: &mut Reader<'_>,
        frame: &Frame,
        options: &Options,
    ) -> Result<([Option<[u16; COEFFICIENTS]>; 4], Option<Smoothing>), Error> {
        for (component, coefficients) in frame.components.iter().zip(&mut self.coefficients) {
            coefficients.lay_out(component);
        }
        if !frame.progressive {
            fill_in_tables(reader);
        }
        let mut quant = [None; 4];
        let mut progress = Progress::new();
        let mut budget = Budget::new(frame, &options.limits);
        loop {
            let header = reader.scan;
            budget.spend(frame, &header)?;
            latch_quant(reader, frame, &header, &mut quant)?;
            if frame.progressive {
                check_progression(&header)?;
                reader.warnings += progress.begin(&header);
            } else if sequential_is_odd(&header) {
                reader.warnings += 1;
            }
            self.prepare_tables(reader, &header)?;
            self.read_scan(reader, frame, &header, options.damage, &mut progress)?;
            match reader.next_stop() {
                Ok(Stop::Scan) => {}
                Ok(Stop::End) => break,
                Err(Error::Truncated { .. }) if options.damage == Damage::Lenient => break,
                Err(error) => return Err(error),
            }
        }
        let smoothing = if frame.progressive { progress.smoothing(frame, &quant) } else { None };
        Ok((quant, smoothing))
    }

    /// Reads the data of one scan.
    fn read_scan(
        &mut self,
        reader: &mut Reader<'_>,
        frame: &Frame,
        header: &ScanHeader,
        damage: Damage,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let layout = McuLayout::new(frame, header)?;
        let Decoder { segment, tables, coefficients, .. } = self;
        let mut scan = Scan::new(reader, segment, damage);
        let mut predictions = [0; 4];
        let mut empty = 0;
        let band = Band {
            first: usize::from(header.first),
            last: usize::from(header.last),
            low: u32::from(header.low),
        };
        'rows: for mcu_row in 0..frame.mcu_rows {
            for sub_row in 0..layout.sub_rows(mcu_row) {
                for mcu_col in 0..layout.cols {
                    if scan.begin_mcu()? {
                        predictions = [0; 4];
                        empty = 0;
                    }
                    let decoded = scan.mcu(|bits| {
                        for place in &layout.blocks {
                            let (row, col) = layout.position(place, mcu_row, sub_row, mcu_col);
                            let block = coefficients[place.component].block_mut(row, col);
                            let (dc, ac) = (&tables.dc[place.dc].1, &tables.ac[place.ac].1);
                            let prediction = &mut predictions[place.part];
                            read_block(
                                bits,
                                (frame.progressive, header),
                                band,
                                (dc, ac),
                                prediction,
                                &mut empty,
                                block,
                            );
                        }
                    })?;
                    if decoded {
                        progress.good_row(mcu_row);
                    } else if scan.is_over() {
                        break 'rows;
                    }
                }
            }
        }
        (reader.pending, reader.position) = scan.finish();
        reader.warnings += scan.warnings;
        Ok(())
    }

    /// Makes the tables ready that a scan uses.
    fn prepare_tables(&mut self, reader: &Reader<'_>, header: &ScanHeader) -> Result<(), Error> {
        let progressive = reader.frame.as_ref().is_some_and(|frame| frame.progressive);
        let needs_dc = !progressive || header.first == 0 && header.high == 0;
        let needs_ac = !progressive || header.first > 0;
        for part in header.parts() {
            if needs_dc {
                prepare(&mut self.tables.dc, &reader.dc, part.dc_table, Class::Dc, header.offset)?;
            }
            if needs_ac {
                prepare(&mut self.tables.ac, &reader.ac, part.ac_table, Class::Ac, header.offset)?;
            }
        }
        Ok(())
    }
}

/// Decodes a block in a file of several scans.
#[inline(always)]
fn read_block(
    bits: &mut BitReader<'_>,
    (progressive, header): (bool, &ScanHeader),
    band: Band,
    (dc, ac): (&Table, &Table),
    prediction: &mut i32,
    empty: &mut u32,
    block: &mut [i16; COEFFICIENTS],
) {
    match (progressive, header.first, header.high) {
        (false, ..) => {
            sequential::block(bits, dc, ac, prediction, block);
        }
        (true, 0, 0) => block[0] = progressive::dc_first(bits, dc, prediction, band.low),
        (true, 0, _) => {
            if bits.bit() {
                block[0] |= 1 << band.low;
            }
        }
        (true, _, 0) => {
            if *empty > 0 {
                *empty -= 1;
            } else {
                *empty = progressive::ac_first(bits, ac, band, block);
            }
        }
        (true, ..) => *empty = progressive::ac_refine(bits, ac, band, block, *empty),
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
    let samples = u64::from(width) * u64::from(height) * frame.components.len() as u64;
    if samples > options.limits.max_samples {
        return Err(Error::TooLarge { width, height, limit: "samples" });
    }
    frame.lay_out()?;
    let color = reader.color_space()?;
    let info = Info {
        width,
        height,
        components: frame.components.len() as u8,
        color,
        progressive: frame.progressive,
        warnings: reader.warnings,
    };
    Ok((reader, frame, info))
}

/// Puts the standard Huffman tables where a sequential file defines none.
fn fill_in_tables(reader: &mut Reader<'_>) {
    let [dc0, dc1, ac0, ac1] = standard();
    reader.dc[0].get_or_insert(dc0);
    reader.dc[1].get_or_insert(dc1);
    reader.ac[0].get_or_insert(ac0);
    reader.ac[1].get_or_insert(ac1);
}

fn prepare(
    ready: &mut [(Option<Spec>, Table); 4],
    specs: &[Option<Spec>; 4],
    index: u8,
    class: Class,
    offset: usize,
) -> Result<(), Error> {
    let index = usize::from(index);
    let spec = specs.get(index).and_then(Option::as_ref);
    let spec = spec.ok_or_else(|| Error::malformed("missing Huffman table", offset))?;
    let (made_from, table) = &mut ready[index];
    if made_from.as_ref() != Some(spec) {
        *made_from = None;
        table.build(spec, class, offset)?;
        *made_from = Some(spec.clone());
    }
    Ok(())
}

/// Remembers the quantisation tables of the components that a scan is the first to hold: later ones under the same
/// number do not count for them.
fn latch_quant(
    reader: &Reader<'_>,
    frame: &Frame,
    header: &ScanHeader,
    quant: &mut [Option<[u16; COEFFICIENTS]>; 4],
) -> Result<(), Error> {
    for part in header.parts() {
        if quant[part.index].is_none() {
            let index = usize::from(frame.components[part.index].quant_index);
            let table = reader.quant.get(index).copied().flatten();
            quant[part.index] =
                Some(table.ok_or_else(|| Error::malformed("missing quantisation table", header.offset))?);
        }
    }
    Ok(())
}

/// True where a sequential scan has parameters of a progressive one, which are ignored.
fn sequential_is_odd(header: &ScanHeader) -> bool {
    (header.first, header.last, header.high, header.low) != (0, 63, 0, 0)
}

/// Refuses progressive scans with parameters that make no sense.
fn check_progression(header: &ScanHeader) -> Result<(), Error> {
    let band_ok = match header.first {
        0 => header.last == 0,
        first => first <= header.last && header.last < 64 && header.parts().len() == 1,
    };
    let bits_ok = (header.high == 0 || header.low + 1 == header.high) && header.low <= 13;
    if band_ok && bits_ok { Ok(()) } else { Err(Error::malformed("bogus progressive scan", header.offset)) }
}

/// Bounds the work that a file can make by many scans.
struct Budget {
    scans: u32,
    blocks: u64,
}

impl Budget {
    fn new(frame: &Frame, limits: &Limits) -> Budget {
        let blocks: usize = frame.components.iter().map(|c| c.padded_cols * c.padded_rows).sum();
        Budget { scans: limits.max_scans, blocks: (blocks as u64 * 64).max(1 << 24) }
    }

    fn spend(&mut self, frame: &Frame, header: &ScanHeader) -> Result<(), Error> {
        let blocks: usize = header
            .parts()
            .iter()
            .map(|p| &frame.components[p.index])
            .map(|c| c.padded_cols * c.padded_rows)
            .sum();
        let too_many = Error::TooManyScans { offset: header.offset };
        self.scans = self.scans.checked_sub(1).ok_or(too_many.clone())?;
        self.blocks = self.blocks.checked_sub(blocks as u64).ok_or(too_many)?;
        Ok(())
    }
}

/// A block's place in an MCU.
struct Place {
    component: usize,
    /// Index of the component in the scan.
    part: usize,
    dc: usize,
    ac: usize,
    x: usize,
    y: usize,
}

/// How a scan's MCUs cover the picture.
struct McuLayout {
    blocks: Vec<Place>,
    /// MCUs in a row.
    cols: usize,
    /// Sampling factors that an MCU's position is multiplied by, for each component of an interleaved scan.
    interleaved: bool,
    factors: [(usize, usize); 4],
    block_rows: usize,
}

impl McuLayout {
    fn new(frame: &Frame, header: &ScanHeader) -> Result<McuLayout, Error> {
        let parts = header.parts();
        let interleaved = parts.len() > 1;
        let mut factors = [(1, 1); 4];
        let mut blocks = Vec::with_capacity(MAX_MCU_BLOCKS);
        for (part, selected) in parts.iter().enumerate() {
            let component = &frame.components[selected.index];
            factors[selected.index] = (component.h, component.v);
            let (h, v) = if interleaved { (component.h, component.v) } else { (1, 1) };
            for (y, x) in (0..v).flat_map(|y| (0..h).map(move |x| (y, x))) {
                let (dc, ac) = (usize::from(selected.dc_table & 3), usize::from(selected.ac_table & 3));
                blocks.push(Place { component: selected.index, part, dc, ac, x, y });
            }
        }
        if interleaved && blocks.len() > MAX_MCU_BLOCKS {
            return Err(Error::malformed("an MCU of more than 10 blocks", header.offset));
        }
        let first = &frame.components[parts[0].index];
        let cols = if interleaved { frame.mcu_cols } else { first.block_cols };
        Ok(McuLayout { blocks, cols, interleaved, factors, block_rows: first.block_rows })
    }

    /// Rows of MCUs of this scan in a row of MCUs of the frame.
    fn sub_rows(&self, mcu_row: usize) -> usize {
        if self.interleaved {
            return 1;
        }
        let v = self.factors[self.blocks[0].component].1;
        (self.block_rows - (mcu_row * v).min(self.block_rows)).min(v)
    }

    /// The row and column of a block in its component.
    #[inline(always)]
    fn position(&self, place: &Place, mcu_row: usize, sub_row: usize, mcu_col: usize) -> (usize, usize) {
        let (h, v) = self.factors[place.component];
        if self.interleaved {
            (mcu_row * v + place.y, mcu_col * h + place.x)
        } else {
            (mcu_row * v + sub_row, mcu_col)
        }
    }
}

/// The picture's meaning by its components, for the header alone.
pub(super) fn info_of(bytes: &[u8], limits: &Limits) -> Result<Info, Error> {
    open(bytes, &Options { limits: limits.clone(), ..Options::default() }).map(|(_, _, info)| info)
}

impl Info {
    /// Bytes of a pixel in [`Output::Native`](super::Output::Native).
    pub fn native_channels(&self) -> usize {
        if self.color == ColorSpace::Gray { 1 } else { 3 }
    }
}
