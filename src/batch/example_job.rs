//! Batches of columns: each record is read, checked, parsed and decoded by one thread, into its row of the batch.

use std::ops::Range;
use std::sync::Arc;

use crate::batch::assemble::assemble;
use crate::batch::buffer::Buffer;
use crate::batch::closure::CLAIM_BYTES;
use crate::batch::column::{Column, Dense};
use crate::batch::contents::Batch;
use crate::batch::job::{Fate, Job, Row};
use crate::batch::recycler::{Memory, Pool, Recycler, SlabType};
use crate::batch::slab::{Kept, Slab, SlabRow, SlabRows};
use crate::batch::values::Values;
use crate::dataset::ahead::Ahead;
use crate::dataset::shards::Shards;
use crate::error::{Error, ErrorKind, Result};
use crate::example::plan::Plan;
use crate::example::row::{ColumnRows, Walked};
use crate::example::{DType, FeatureSpec, Features};
use crate::image::{Applied, AugmentKey, ImageSpec, ImageWorker, PixelType, PixelsMut, PixelsVec};

pub(crate) struct ExampleJob {
    shards: Arc<Shards>,
    features: Arc<Features>,
    plan: Plan,
    /// Where each column of the plan is made.
    places: Vec<Place>,
    slabs: Vec<SlabColumn>,
    /// The number of picture columns.
    pictures: usize,
    /// The number of columns that are made in chunks.
    chunked: usize,
    seed: u64,
    align: usize,
    recycler: Arc<Recycler>,
    chunks: Pool<Vec<Chunk>>,
}

#[derive(Clone, Copy)]
enum Place {
    /// A slab of numbers.
    Numbers(usize),
    /// A slab of pixels.
    Picture(usize),
    /// A column of chunks, joined when the batch is done.
    Chunks(usize),
    /// The payload itself, a column of chunks too.
    Payload(usize),
}

/// A column whose rows are written where they stay.
struct SlabColumn {
    column: usize,
    /// The number of elements of a row; 0 where pictures keep their size.
    len: usize,
    of: SlabType,
    picture: Option<ImageSpec>,
}

/// The values of the rows of one claim, for each column that has no slab.
#[derive(Default)]
pub(crate) struct Chunk {
    columns: Vec<ColumnRows>,
}

/// What a thread keeps.
pub(crate) struct Worker {
    ahead: Ahead,
    payload: Vec<u8>,
    walked: Walked,
    /// Where the encoded pictures of the record are in its payload.
    encoded: Vec<Range<usize>>,
    images: ImageWorker,
}

pub(crate) struct Block {
    slabs: Vec<Slab>,
    /// For each claim.
    chunks: Vec<Chunk>,
    /// For each row and picture column.
    applied: Vec<Applied>,
}

pub(crate) struct Parts<'b> {
    slabs: Vec<SlabRows<'b>>,
    chunks: std::slice::IterMut<'b, Chunk>,
    applied: &'b mut [Applied],
}

#[derive(Default)]
pub(crate) struct Claim<'b> {
    slabs: Vec<SlabRows<'b>>,
    chunk: Option<&'b mut Chunk>,
    applied: &'b mut [Applied],
}

impl ExampleJob {
    pub(crate) fn new(
        shards: Arc<Shards>,
        features: Arc<Features>,
        seed: u64,
        align: usize,
    ) -> Result<ExampleJob> {
        let plan = Plan::new(&features)?;
        let (mut places, mut slabs) = (Vec::new(), Vec::new());
        let (mut pictures, mut chunked) = (0, 0);
        for (column, planned) in plan.columns().iter().enumerate() {
            let number = match (planned.spec(), planned.dtype()) {
                (FeatureSpec::FixedLen { .. }, DType::Float32) => Some(SlabType::F32),
                (FeatureSpec::FixedLen { .. }, DType::Int64) => Some(SlabType::I64),
                _ => None,
            };
            if let FeatureSpec::Image(spec) = planned.spec() {
                spec.check().map_err(|error| error.at_feature(planned.key()))?;
                let len = spec.shape().map_or(0, |shape| shape.iter().product());
                let of = match (spec.shape(), spec.pixel_type()) {
                    (None, _) => SlabType::Kept,
                    (_, PixelType::U8) => SlabType::U8,
                    (_, PixelType::F32) => SlabType::F32,
                };
                places.push(Place::Picture(slabs.len()));
                slabs.push(SlabColumn { column, len, of, picture: Some(spec.clone()) });
                pictures += 1;
            } else if let Some(of) = number {
                places.push(Place::Numbers(slabs.len()));
                slabs.push(SlabColumn { column, len: planned.elements(), of, picture: None });
            } else {
                places.push(match planned.spec() {
                    FeatureSpec::Raw => Place::Payload(chunked),
                    _ => Place::Chunks(chunked),
                });
                chunked += 1;
            }
        }
        let (recycler, chunks) = (Arc::default(), Pool::new(0));
        Ok(ExampleJob {
            shards,
            features,
            plan,
            places,
            slabs,
            pictures,
            chunked,
            seed,
            align,
            recycler,
            chunks,
        })
    }

    fn read(
        &self,
        worker: &mut Worker,
        claim: &mut Claim<'_>,
        i: usize,
        row: &Row,
        epoch: u64,
    ) -> Result<u64> {
        let columns = claim.chunk.as_mut().map_or(&mut [][..], |chunk| &mut chunk.columns);
        columns.iter_mut().for_each(|column| column.set_rows(i));
        let Worker { ahead, payload, walked, encoded, images } = worker;
        if let ([Place::Payload(_)], [column]) = (&self.places[..], &mut *columns) {
            return column.push_row(|bytes| {
                let before = bytes.len();
                self.shards.append(row.record, i, ahead, bytes)?;
                Ok((bytes.len() - before) as u64)
            });
        }
        payload.clear();
        self.shards.append(row.record, i, ahead, payload)?;
        let payload = &payload[..];
        self.plan.walk(payload, walked)?;
        encoded.clear();
        for (c, place) in self.places.iter().enumerate() {
            match *place {
                Place::Numbers(s) => match claim.slabs[s].row(i, self.slabs[s].len) {
                    SlabRow::F32(out) => self.plan.floats(c, payload, walked, out)?,
                    SlabRow::I64(out) => self.plan.int64s(c, payload, walked, out)?,
                    SlabRow::U8(_) | SlabRow::Kept(_) => {}
                },
                Place::Picture(_) => encoded.push(self.plan.image(c, payload, walked)?),
                Place::Chunks(k) | Place::Payload(k) => {
                    self.plan.push(c, payload, walked, &mut columns[k])?;
                }
            }
        }
        let key = AugmentKey { seed: self.seed, epoch, record: row.record };
        let pictures =
            self.slabs.iter().enumerate().filter_map(|(s, slab)| Some((s, slab, slab.picture.as_ref()?)));
        for (p, ((s, slab, spec), place)) in pictures.zip(encoded.iter()).enumerate() {
            let bytes = &payload[place.clone()];
            let applied = match claim.slabs[s].row(i, slab.len) {
                SlabRow::U8(out) => images.run(bytes, spec, key, PixelsMut::U8(out)),
                SlabRow::F32(out) => images.run(bytes, spec, key, PixelsMut::F32(out)),
                SlabRow::Kept(kept) => keep(images, bytes, spec, key, kept),
                SlabRow::I64(_) => Ok(Applied::default()),
            };
            claim.applied[i * self.pictures + p] =
                applied.map_err(|error| error.at_feature(self.plan.columns()[slab.column].key()))?;
        }
        Ok(payload.len() as u64)
    }

    /// Takes skipped rows out, and makes masked ones zeros.
    fn settle(&self, block: &mut Block, rows: &mut Vec<Row>, fates: &[Fate]) {
        let pictures = self.pictures;
        let mut kept = 0;
        for row in 0..rows.len() {
            if fates[row] == Fate::Skipped {
                continue;
            }
            if kept != row {
                rows[kept] = rows[row];
                for (slab, of) in block.slabs.iter_mut().zip(&self.slabs) {
                    slab.move_row(row, kept, of.len);
                }
                block.applied.copy_within(row * pictures..(row + 1) * pictures, kept * pictures);
            }
            if fates[row] == Fate::Masked {
                rows[kept].place.valid = false;
                for (slab, of) in block.slabs.iter_mut().zip(&self.slabs) {
                    slab.blacken(kept, of.len);
                }
                block.applied[kept * pictures..(kept + 1) * pictures].fill(Applied::default());
            }
            kept += 1;
        }
        rows.truncate(kept);
        block.applied.truncate(kept * pictures);
        for (slab, of) in block.slabs.iter_mut().zip(&self.slabs) {
            slab.truncate(kept, of.len);
        }
    }

    /// The column of a slab.
    fn slab_column(&self, of: &SlabColumn, slab: Slab, rows: &[Row]) -> Result<Column> {
        let shape = match (&of.picture, self.plan.columns()[of.column].spec()) {
            (Some(spec), _) => spec.shape().unwrap_or_default().to_vec(),
            (None, FeatureSpec::FixedLen { shape, .. }) => shape.clone(),
            _ => Vec::new(),
        };
        let (values, shape) = match (slab, &of.picture) {
            (Slab::U8(values), _) => (Values::from(values), shape),
            (Slab::F32(values), _) => (Values::from(values), shape),
            (Slab::I64(values), _) => (Values::from(values), shape),
            (Slab::Kept(kept), Some(spec)) => self.kept_column(&kept, spec, rows)?,
            (Slab::Kept(_), None) => return Err(Error::invalid("pictures of no column")),
        };
        let shape = [&[rows.len()], &shape[..]].concat();
        Ok(Column::Dense(Dense { values, shape, lengths: None }))
    }

    /// Pictures that have kept their size, and the shape of each.
    fn kept_column(&self, kept: &[Kept], spec: &ImageSpec, rows: &[Row]) -> Result<(Values, Vec<usize>)> {
        let shapes = || kept.iter().map(|kept| kept.shape).enumerate().filter(|(_, shape)| *shape != [0; 3]);
        let first = shapes().next();
        let shape = first.map_or([0, 0, usize::from(spec.channels)], |(_, shape)| shape);
        if let (Some((one, _)), Some((two, other))) = (first, shapes().find(|(_, other)| *other != shape)) {
            return Err(self.sizes_differ(&rows[one], shape, &rows[two], other));
        }
        let len = shape.iter().product::<usize>();
        let values = match spec.pixel_type() {
            PixelType::U8 => Values::from(joined(kept, |row| &row.u8s, len, self.align)),
            PixelType::F32 => Values::from(joined(kept, |row| &row.f32s, len, self.align)),
        };
        Ok((values, shape.to_vec()))
    }

    fn sizes_differ(&self, one: &Row, one_shape: [usize; 3], two: &Row, two_shape: [usize; 3]) -> Error {
        let product = |shape: [usize; 3]| shape.iter().product::<usize>() as u64;
        let kind = ErrorKind::WrongShape { found: product(two_shape), expected: product(one_shape) };
        let (shard, record) = self.shards.locate(one.record);
        let first = self.shards.stores()[shard].path();
        let reason = format!(
            "the picture is {two_shape:?}, that of record {record} of {} in the same batch {one_shape:?}",
            first.display()
        );
        let error = Error::new(kind, reason).with_help("give the image column a size, or read batches of 1");
        self.shards.place(error, two.record)
    }

    /// Where pictures were cut and mirrored: y, x, height, width, and 0 or 1.
    fn applied_columns(
        &self,
        key: &[u8],
        p: usize,
        applied: &[Applied],
    ) -> [(Vec<u8>, Column, Option<usize>); 2] {
        let of_column = || applied.iter().skip(p).step_by(self.pictures);
        let crops: Vec<i64> = of_column().flat_map(|applied| applied.crop.map(i64::from)).collect();
        let flips: Vec<i64> = of_column().map(|applied| i64::from(applied.flipped)).collect();
        let rows = flips.len();
        let dense = |numbers: Vec<i64>, shape| {
            let mut values = Buffer::with_capacity(numbers.len(), self.align);
            values.extend(numbers);
            Column::Dense(Dense { values: values.into(), shape, lengths: None })
        };
        [
            ([key, b"/crop"].concat(), dense(crops, vec![rows, 4]), None),
            ([key, b"/flipped"].concat(), dense(flips, vec![rows]), None),
        ]
    }
}

fn keep(
    images: &mut ImageWorker,
    bytes: &[u8],
    spec: &ImageSpec,
    key: AugmentKey,
    kept: &mut Kept,
) -> Result<Applied> {
    let out = match spec.pixel_type() {
        PixelType::U8 => PixelsVec::U8(&mut kept.u8s),
        PixelType::F32 => PixelsVec::F32(&mut kept.f32s),
    };
    let (shape, applied) = images.run_keep(bytes, spec, key, out)?;
    kept.shape = shape;
    Ok(applied)
}

/// Rows one behind the other; a masked row is zeros.
fn joined<T: Copy + Default>(
    rows: &[Kept],
    of: impl Fn(&Kept) -> &Vec<T>,
    len: usize,
    align: usize,
) -> Buffer<T> {
    let mut all = Buffer::with_capacity(rows.len() * len, align);
    for row in rows {
        let row = of(row);
        all.extend(row.iter().copied());
        all.extend(std::iter::repeat_n(T::default(), len.saturating_sub(row.len())));
    }
    all
}

impl Job for ExampleJob {
    type Out = Batch;
    type Worker = Worker;
    type Block = Block;
    type Parts<'b> = Parts<'b>;
    type Claim<'b> = Claim<'b>;

    fn begin(&mut self, rows: usize, batches: usize) {
        let memory =
            |slab: &SlabColumn| Memory::new(slab.of, rows.saturating_mul(slab.len), self.align, batches);
        self.recycler = Arc::new(Recycler::new(self.slabs.iter().map(memory).collect()));
        self.chunks = Pool::new(batches);
    }

    fn worker(&self) -> Worker {
        Worker {
            ahead: Ahead::default(),
            payload: Vec::new(),
            walked: Walked::default(),
            encoded: Vec::new(),
            images: ImageWorker::new(),
        }
    }

    fn rows_per_claim(&self, _rows: usize, _threads: usize) -> usize {
        match self.pictures {
            0 => (CLAIM_BYTES / self.shards.mean_record_bytes().max(1)).max(1) as usize,
            _ => 1,
        }
    }

    fn block(&self, rows: &[Row]) -> Result<Block> {
        let slab = |(s, slab): (usize, &SlabColumn)| {
            self.recycler.slab(s, rows.len(), slab.len).ok_or_else(|| {
                let (rows, len) = (rows.len(), slab.len);
                Error::invalid(format!("a batch of {rows} rows of {len} values does not fit into memory"))
                    .at_feature(self.plan.columns()[slab.column].key())
            })
        };
        let mut chunks = self.chunks.take().unwrap_or_default();
        chunks.resize_with(rows.len().div_ceil(self.rows_per_claim(0, 0)), Chunk::default);
        chunks.iter_mut().for_each(|chunk| chunk.columns.resize_with(self.chunked, ColumnRows::default));
        Ok(Block {
            slabs: self.slabs.iter().enumerate().map(slab).collect::<Result<_>>()?,
            chunks,
            applied: vec![Applied::default(); rows.len() * self.pictures],
        })
    }

    fn parts<'b>(&self, block: &'b mut Block) -> Parts<'b> {
        Parts {
            slabs: block.slabs.iter_mut().map(Slab::rows).collect(),
            chunks: block.chunks.iter_mut(),
            applied: &mut block.applied,
        }
    }

    fn claim<'b>(&self, parts: &mut Parts<'b>, rows: usize, claim: &mut Claim<'b>) {
        claim.chunk = parts.chunks.next();
        claim.applied = parts.applied.split_off_mut(..rows * self.pictures).unwrap_or_default();
        claim.slabs.clear();
        let split = parts.slabs.iter_mut().zip(&self.slabs);
        claim.slabs.extend(split.map(|(rest, slab)| rest.split_off(rows, slab.len)));
    }

    fn prepare(&self, worker: &mut Worker, claim: &[Row], next: usize) {
        if claim.len() > 1 {
            self.shards.look_ahead(claim, |row| row.record, next, &mut worker.ahead);
        }
    }

    fn run(
        &self,
        worker: &mut Worker,
        claim: &mut Claim<'_>,
        i: usize,
        row: &Row,
        epoch: u64,
    ) -> Result<u64> {
        self.read(worker, claim, i, row, epoch).map_err(|error| self.place(error, row))
    }

    fn finish(&self, mut block: Block, mut rows: Vec<Row>, fates: Vec<Fate>, epoch: u64) -> Result<Batch> {
        // A claim whose last rows are bad, or were not run, has a shorter chunk.
        for (chunk, claimed) in block.chunks.iter_mut().zip(rows.chunks(self.rows_per_claim(0, 0))) {
            chunk.columns.iter_mut().for_each(|column| column.set_rows(claimed.len()));
        }
        self.settle(&mut block, &mut rows, &fates);
        let fates = if fates.iter().all(|fate| *fate == Fate::Good) { &[][..] } else { &fates };
        let mut made = Vec::with_capacity(self.plan.columns().len());
        let mut slabs = block.slabs.into_iter();
        let mut pictures = 0;
        for (planned, place) in self.plan.columns().iter().zip(&self.places) {
            let key = planned.key().to_vec();
            if let Place::Chunks(k) | Place::Payload(k) = *place {
                let chunks: Vec<&ColumnRows> = block.chunks.iter().map(|chunk| &chunk.columns[k]).collect();
                made.push((key, assemble(planned, &chunks, fates, self.align)?, None));
            } else if let (Place::Numbers(s) | Place::Picture(s), Some(slab)) = (*place, slabs.next()) {
                let of = &self.slabs[s];
                let column = self.slab_column(of, slab, &rows).map_err(|error| error.at_feature(&key))?;
                made.push((key.clone(), column, Some(s)));
                if let Some(spec) = &of.picture {
                    if spec.is_augmented() {
                        made.extend(self.applied_columns(&key, pictures, &block.applied));
                    }
                    pictures += 1;
                }
            }
        }
        self.chunks.put(block.chunks);
        Ok(Batch::new(made, rows, epoch, self.features.clone(), self.shards.clone(), self.recycler.clone()))
    }

    fn place(&self, error: Error, row: &Row) -> Error {
        self.shards.place(error, row.record)
    }
}
