//! Batches of columns: each record is read, checked, parsed and decoded by one thread, into its row of the batch.

use std::sync::Arc;

use crate::batch::assemble::assemble;
use crate::batch::buffer::Buffer;
use crate::batch::closure::CLAIM_BYTES;
use crate::batch::column::{Column, Dense};
use crate::batch::contents::Batch;
use crate::batch::job::{Fate, Job, Row};
use crate::batch::recycler::{Memory, Pool, Recycler, SlabType};
use crate::batch::slab::{Kept, Slab, SlabRows};
use crate::batch::values::Values;
use crate::dataset::shards::Shards;
use crate::error::{Error, ErrorKind, Result};
use crate::example::plan::Plan;
use crate::example::row::RowValues;
use crate::example::{FeatureSpec, Features};
use crate::image::{Applied, AugmentKey, ImageSpec, ImageWorker, PixelType, PixelsVec};

pub(crate) struct ExampleJob {
    shards: Arc<Shards>,
    features: Arc<Features>,
    plan: Plan,
    pictures: Vec<Picture>,
    seed: u64,
    align: usize,
    recycler: Arc<Recycler>,
    rows: Pool<Vec<RowValues>>,
}

/// A picture column.
struct Picture {
    column: usize,
    spec: ImageSpec,
    /// The number of elements of a row; 0 where pictures keep their size.
    len: usize,
}

/// What a thread keeps.
pub(crate) struct Worker {
    payload: Vec<u8>,
    images: ImageWorker,
}

pub(crate) struct Block {
    values: Vec<RowValues>,
    /// For each picture column.
    pixels: Vec<Slab>,
    /// For each row and picture column.
    applied: Vec<Applied>,
}

pub(crate) struct Parts<'b> {
    values: &'b mut [RowValues],
    pixels: Vec<SlabRows<'b>>,
    applied: &'b mut [Applied],
}

#[derive(Default)]
pub(crate) struct Claim<'b> {
    values: &'b mut [RowValues],
    pixels: Vec<SlabRows<'b>>,
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
        let mut pictures = Vec::new();
        for (column, planned) in plan.columns().iter().enumerate() {
            if let FeatureSpec::Image(spec) = planned.spec() {
                spec.check().map_err(|error| error.at_feature(planned.key()))?;
                let len = spec.shape().map_or(0, |shape| shape.iter().product());
                pictures.push(Picture { column, spec: spec.clone(), len });
            }
        }
        Ok(ExampleJob {
            shards,
            features,
            plan,
            pictures,
            seed,
            align,
            recycler: Arc::default(),
            rows: Pool::new(0),
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
        self.shards.read_into(row.record, &mut worker.payload)?;
        let payload = &worker.payload[..];
        let values = &mut claim.values[i];
        self.plan.extract(payload, values)?;
        let key = AugmentKey { seed: self.seed, epoch, record: row.record };
        for (p, picture) in self.pictures.iter().enumerate() {
            let bytes = values.image(picture.column, payload);
            let pixels = &mut claim.pixels[p];
            let applied = match pixels.row(i, picture.len) {
                Some(out) => worker.images.run(bytes, &picture.spec, key, out),
                None => keep(&mut worker.images, bytes, &picture.spec, key, pixels, i),
            };
            claim.applied[i * self.pictures.len() + p] =
                applied.map_err(|error| error.at_feature(self.plan.columns()[picture.column].key()))?;
        }
        Ok(payload.len() as u64)
    }

    fn picture_column(&self, picture: &Picture, pixels: Slab, rows: &[Row]) -> Result<Column> {
        let (values, shape) = match pixels {
            Slab::U8(values) => (Values::from(values), picture.spec.shape()),
            Slab::F32(values) => (Values::from(values), picture.spec.shape()),
            Slab::Kept(kept) => {
                let shapes =
                    || kept.iter().map(|kept| kept.shape).enumerate().filter(|(_, shape)| *shape != [0; 3]);
                let first = shapes().next();
                let shape = first.map_or([0, 0, usize::from(picture.spec.channels)], |(_, shape)| shape);
                if let (Some((one, _)), Some((two, other))) =
                    (first, shapes().find(|(_, other)| *other != shape))
                {
                    return Err(self.sizes_differ(&rows[one], shape, &rows[two], other));
                }
                let len = shape.iter().product::<usize>();
                let values = match picture.spec.pixel_type() {
                    PixelType::U8 => Values::from(joined(&kept, |row| &row.u8s, len, self.align)),
                    PixelType::F32 => Values::from(joined(&kept, |row| &row.f32s, len, self.align)),
                };
                (values, Some(shape))
            }
        };
        let shape = [&[rows.len()], &shape.unwrap_or_default()[..]].concat();
        Ok(Column::Dense(Dense { values, shape, lengths: None }))
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
    fn applied_columns(&self, p: usize, applied: &[Applied]) -> [(Vec<u8>, Column, Option<usize>); 2] {
        let key = self.plan.columns()[self.pictures[p].column].key();
        let of_column = || applied.iter().skip(p).step_by(self.pictures.len());
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
    pixels: &mut SlabRows<'_>,
    i: usize,
) -> Result<Applied> {
    let SlabRows::Kept(rows) = pixels else {
        return Err(Error::invalid("the batch has no row for the picture"));
    };
    let kept = &mut rows[i];
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
        let memory = |picture: &Picture| {
            let of = match (picture.len, picture.spec.pixel_type()) {
                (0, _) => SlabType::Kept,
                (_, PixelType::U8) => SlabType::U8,
                (_, PixelType::F32) => SlabType::F32,
            };
            Memory::new(of, rows.saturating_mul(picture.len), self.align, batches)
        };
        self.recycler = Arc::new(Recycler::new(self.pictures.iter().map(memory).collect()));
        self.rows = Pool::new(batches);
    }

    fn worker(&self) -> Worker {
        Worker { payload: Vec::new(), images: ImageWorker::new() }
    }

    fn rows_per_claim(&self, _rows: usize, _threads: usize) -> usize {
        match self.pictures.is_empty() {
            true => (CLAIM_BYTES / self.shards.mean_record_bytes().max(1)).max(1) as usize,
            false => 1,
        }
    }

    fn block(&self, rows: &[Row]) -> Result<Block> {
        let pixels = |(p, picture): (usize, &Picture)| {
            self.recycler.slab(p, rows.len(), picture.len).ok_or_else(|| {
                let (rows, shape) = (rows.len(), picture.spec.shape().unwrap_or_default());
                Error::invalid(format!("a batch of {rows} pictures of {shape:?} does not fit into memory"))
            })
        };
        let mut values = self.rows.take().unwrap_or_default();
        values.resize_with(rows.len(), RowValues::default);
        Ok(Block {
            values,
            pixels: self.pictures.iter().enumerate().map(pixels).collect::<Result<_>>()?,
            applied: vec![Applied::default(); rows.len() * self.pictures.len()],
        })
    }

    fn parts<'b>(&self, block: &'b mut Block) -> Parts<'b> {
        Parts {
            values: &mut block.values,
            pixels: block.pixels.iter_mut().map(Slab::rows).collect(),
            applied: &mut block.applied,
        }
    }

    fn claim<'b>(&self, parts: &mut Parts<'b>, rows: usize, claim: &mut Claim<'b>) {
        let columns = self.pictures.len();
        claim.values = parts.values.split_off_mut(..rows).unwrap_or_default();
        claim.applied = parts.applied.split_off_mut(..rows * columns).unwrap_or_default();
        claim.pixels.clear();
        let split = parts.pixels.iter_mut().zip(&self.pictures);
        claim.pixels.extend(split.map(|(pixels, picture)| pixels.split_off(rows, picture.len)));
    }

    fn prepare(&self, rows: &[Row]) {
        if rows.len() > 1 {
            self.shards.touch(rows.iter().map(|row| row.record));
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
        let columns = self.pictures.len();
        let mut kept = 0;
        for row in 0..rows.len() {
            if fates[row] == Fate::Skipped {
                continue;
            }
            if kept != row {
                rows[kept] = rows[row];
                block.values.swap(kept, row);
                for (pixels, picture) in block.pixels.iter_mut().zip(&self.pictures) {
                    pixels.move_row(row, kept, picture.len);
                }
                block.applied.copy_within(row * columns..(row + 1) * columns, kept * columns);
            }
            if fates[row] == Fate::Masked {
                rows[kept].place.valid = false;
                for (pixels, picture) in block.pixels.iter_mut().zip(&self.pictures) {
                    pixels.blacken(kept, picture.len);
                }
                block.applied[kept * columns..(kept + 1) * columns].fill(Applied::default());
            }
            kept += 1;
        }
        let masked: Vec<bool> =
            fates.iter().filter(|fate| **fate != Fate::Skipped).map(|f| *f == Fate::Masked).collect();
        rows.truncate(kept);
        block.applied.truncate(kept * columns);
        let values: Vec<Option<&RowValues>> =
            block.values.iter().zip(&masked).map(|(values, masked)| (!masked).then_some(values)).collect();
        let mut made = Vec::with_capacity(self.plan.columns().len());
        let mut pixels = block.pixels.into_iter().zip(&self.pictures).enumerate();
        for (i, planned) in self.plan.columns().iter().enumerate() {
            let key = planned.key().to_vec();
            if let Some(column) = assemble(i, planned, &values, self.align)? {
                made.push((key, column, None));
            } else if let Some((p, (mut pixels, picture))) = pixels.next() {
                pixels.truncate(kept, picture.len);
                let column =
                    self.picture_column(picture, pixels, &rows).map_err(|error| error.at_feature(&key))?;
                made.push((key, column, Some(p)));
                if picture.spec.is_augmented() {
                    made.extend(self.applied_columns(p, &block.applied));
                }
            }
        }
        self.rows.put(block.values);
        Ok(Batch::new(made, rows, epoch, self.features.clone(), self.shards.clone(), self.recycler.clone()))
    }

    fn place(&self, error: Error, row: &Row) -> Error {
        self.shards.place(error, row.record)
    }
}
