//! From the values of rows to the columns of a batch.

use crate::batch::buffer::Buffer;
use crate::batch::column::{Column, Dense, Ragged};
use crate::batch::job::Fate;
use crate::batch::values::{ByteStrings, F16, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::example::plan::PlanColumn;
use crate::example::row::ColumnRows;
use crate::example::{DType, DefaultValue, FeatureSpec};

/// The most values of a padded column: one long record among many short ones must not fill the memory.
const MAX_PADDED: usize = 1 << 31;

/// The column that rows make, in their order: those of the first of `chunks`, then those of the second, and so on. Numbers
/// begin at a multiple of `align` bytes.
///
/// `fates` has one for each row, or none at all where all rows are good. A masked row is zeros and empty strings in a dense
/// column, nothing in a ragged one.
///
/// # Errors
/// `WrongShape` where rows of a `decode_raw` column without a shape differ in size; `InvalidArgument` where a padded column
/// would have more than 2^31 values.
pub(crate) fn assemble(
    column: &PlanColumn,
    chunks: &[&ColumnRows],
    fates: &[Fate],
    align: usize,
) -> Result<Column> {
    let all: usize = chunks.iter().map(|chunk| chunk.rows()).sum();
    let skipped = fates.iter().filter(|fate| **fate == Fate::Skipped).count();
    let rows = Rows { column, chunks, fates, len: all - skipped, align };
    Ok(match column.spec() {
        FeatureSpec::Image(_) | FeatureSpec::Raw => rows.dense(&[]),
        FeatureSpec::FixedLen { shape, .. } => rows.dense(shape),
        FeatureSpec::VarLen { .. } => rows.ragged(&[], rows.lengths(), None),
        FeatureSpec::Padded { shape, default, .. } => {
            rows.padded(shape, default.as_ref()).map_err(|e| e.at_feature(column.key()))?
        }
        FeatureSpec::DecodeRaw { dtype, little_endian, shape, .. } => {
            rows.decoded(*dtype, *little_endian, shape.as_deref()).map_err(|e| e.at_feature(column.key()))?
        }
        FeatureSpec::Sequence { shape: Some(shape), .. } => rows.ragged(shape, rows.step_counts(), None),
        FeatureSpec::Sequence { shape: None, .. } => {
            let steps = rows.iter().flatten().flat_map(Row::steps).copied().collect();
            rows.ragged(&[], rows.step_counts(), Some(steps))
        }
    })
}

struct Rows<'r> {
    column: &'r PlanColumn,
    chunks: &'r [&'r ColumnRows],
    fates: &'r [Fate],
    /// The number of rows that are not skipped.
    len: usize,
    align: usize,
}

#[derive(Clone, Copy)]
struct Row<'r> {
    chunk: &'r ColumnRows,
    row: usize,
}

impl<'r> Row<'r> {
    fn int64s(self) -> &'r [i64] {
        self.chunk.int64s(self.row)
    }

    fn floats(self) -> &'r [f32] {
        self.chunk.floats(self.row)
    }

    fn byte_strings(self) -> impl ExactSizeIterator<Item = &'r [u8]> {
        self.chunk.byte_strings(self.row)
    }

    fn steps(self) -> &'r [usize] {
        self.chunk.steps(self.row)
    }
}

impl<'r> Rows<'r> {
    /// The rows that are not skipped; `None` for a masked one.
    fn iter(&self) -> impl Iterator<Item = Option<Row<'r>>> + use<'r> {
        let (chunks, fates) = (self.chunks, self.fates);
        let all = chunks.iter().flat_map(|&chunk| (0..chunk.rows()).map(move |row| Row { chunk, row }));
        all.enumerate().filter_map(move |(i, row)| match fates.get(i) {
            None | Some(Fate::Good) => Some(Some(row)),
            Some(Fate::Masked) => Some(None),
            Some(Fate::Skipped) => None,
        })
    }

    /// The number of values of a row.
    fn len(&self, row: Row<'_>) -> usize {
        match self.column.dtype() {
            DType::Int64 => row.int64s().len(),
            DType::Float32 => row.floats().len(),
            _ => row.byte_strings().len(),
        }
    }

    fn lengths(&self) -> Vec<usize> {
        self.iter().map(|row| row.map_or(0, |row| self.len(row))).collect()
    }

    fn step_counts(&self) -> Vec<usize> {
        self.iter().map(|row| row.map_or(0, |row| row.steps().len())).collect()
    }

    /// The values of all rows.
    fn values(&self) -> Values {
        // Of a dense column only a masked row has less.
        let least = if self.column.is_fixed() { self.column.elements() } else { 0 };
        if !self.fates.is_empty() {
            return self.filled(least, None);
        }
        let chunks = self.chunks.iter();
        match self.column.dtype() {
            DType::Int64 => joined(chunks.map(|chunk| chunk.all_int64s()), self.align).into(),
            DType::Float32 => joined(chunks.map(|chunk| chunk.all_floats()), self.align).into(),
            _ => {
                let all = || chunks.clone().map(|chunk| chunk.all_byte_strings());
                let (bytes, count) =
                    all().fold((0, 0), |(a, b), (bytes, ends)| (a + bytes.len(), b + ends.len()));
                let mut strings = ByteStrings::with_capacity(bytes, count);
                all().for_each(|(bytes, ends)| strings.extend(bytes, ends));
                strings.into()
            }
        }
    }

    /// The values of all rows; a row with less than `least` is filled up with `fill`.
    fn filled(&self, least: usize, fill: Option<&DefaultValue>) -> Values {
        match self.column.dtype() {
            DType::Int64 => {
                let fill = match fill {
                    Some(DefaultValue::Int64(values)) => values.first().copied().unwrap_or(0),
                    _ => 0,
                };
                self.numbers(least, fill, Row::int64s).into()
            }
            DType::Float32 => {
                let fill = match fill {
                    Some(DefaultValue::Float(values)) => values.first().copied().unwrap_or(0.0),
                    Some(DefaultValue::Int64(values)) => values.first().map_or(0.0, |&value| value as f32),
                    _ => 0.0,
                };
                self.numbers(least, fill, Row::floats).into()
            }
            _ => {
                let fill: &[u8] = match fill {
                    Some(DefaultValue::Bytes(values)) => values.first().map_or(&[], Vec::as_slice),
                    _ => &[],
                };
                let mut strings = ByteStrings::default();
                for row in self.iter() {
                    let before = strings.len();
                    row.into_iter().flat_map(Row::byte_strings).for_each(|value| strings.push(value));
                    (strings.len() - before..least).for_each(|_| strings.push(fill));
                }
                strings.into()
            }
        }
    }

    fn numbers<T: Copy + Default + 'r>(
        &self,
        least: usize,
        fill: T,
        of: impl Fn(Row<'r>) -> &'r [T],
    ) -> Buffer<T> {
        let rows = || self.iter().map(|row| row.map_or(&[][..], &of));
        let total = rows().map(|values| values.len().max(least)).sum();
        let mut numbers = Buffer::with_capacity(total, self.align);
        for values in rows() {
            numbers.extend(values.iter().copied());
            numbers.extend(std::iter::repeat_n(fill, least.saturating_sub(values.len())));
        }
        numbers
    }

    fn dense(&self, shape: &[usize]) -> Column {
        Column::Dense(Dense { values: self.values(), shape: with_rows(&[self.len], shape), lengths: None })
    }

    fn ragged(&self, element: &[usize], row_lengths: Vec<usize>, step_lengths: Option<Vec<usize>>) -> Column {
        Column::Ragged(Ragged { values: self.values(), row_lengths, step_lengths, element: element.to_vec() })
    }

    fn padded(&self, shape: &[usize], fill: Option<&DefaultValue>) -> Result<Column> {
        let element = self.column.elements();
        let lengths: Vec<usize> = self.lengths().iter().map(|values| values / element).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let total = self.len.saturating_mul(longest).saturating_mul(element);
        if total > MAX_PADDED {
            let reason = format!(
                "padded to the {longest} elements of the longest record, the batch has {total} values"
            );
            return Err(Error::invalid(reason).with_help("read the column by var_len, or smaller batches"));
        }
        let values = self.filled(longest * element, fill);
        let shape = with_rows(&[self.len, longest], shape);
        Ok(Column::Dense(Dense { values, shape, lengths: Some(lengths) }))
    }

    fn decoded(&self, dtype: DType, little_endian: bool, shape: Option<&[usize]>) -> Result<Column> {
        let size = dtype.size().unwrap_or(1);
        let first = self.iter().flatten().find_map(|row| row.byte_strings().next()).map_or(0, <[u8]>::len);
        let bytes = shape.map_or(first, |_| self.column.elements() * size);
        let mut all = Buffer::with_capacity(bytes * self.len, self.align);
        for (r, row) in self.iter().enumerate() {
            let value = row.and_then(|row| row.byte_strings().next());
            match value {
                Some(value) if value.len() == bytes => all.extend(value.iter().copied()),
                Some(value) => return Err(differs(r, value.len() / size, bytes / size)),
                None => all.extend(std::iter::repeat_n(0, bytes)),
            }
        }
        let shape = match shape {
            Some(shape) => with_rows(&[self.len], shape),
            None => vec![self.len, bytes / size],
        };
        let values = decode(all, dtype, little_endian, self.align);
        Ok(Column::Dense(Dense { values, shape, lengths: None }))
    }
}

fn joined<'c, T: Copy + Default + 'c>(
    parts: impl Iterator<Item = &'c [T]> + Clone,
    align: usize,
) -> Buffer<T> {
    let mut all = Buffer::with_capacity(parts.clone().map(<[T]>::len).sum(), align);
    parts.for_each(|part| all.extend(part.iter().copied()));
    all
}

fn with_rows(first: &[usize], shape: &[usize]) -> Vec<usize> {
    [first, shape].concat()
}

fn differs(row: usize, found: usize, expected: usize) -> Error {
    let kind = ErrorKind::WrongShape { found: found as u64, expected: expected as u64 };
    let reason = format!("row {row} of the batch holds {found} numbers where the first row holds {expected}");
    Error::new(kind, reason).with_help("give decode_raw a shape, or a fixed_length")
}

/// Numbers as they lie in memory.
fn decode(mut bytes: Buffer<u8>, dtype: DType, little_endian: bool, align: usize) -> Values {
    // A complex number is two numbers, each with its own order of bytes.
    let word = match dtype {
        DType::Complex64 => 4,
        DType::Complex128 => 8,
        _ => dtype.size().unwrap_or(1),
    };
    if !little_endian && word > 1 {
        bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    }
    fn map<const N: usize, T: Copy + Default>(
        bytes: &[u8],
        align: usize,
        number: impl Fn([u8; N]) -> T,
    ) -> Buffer<T> {
        let chunks = bytes.as_chunks::<N>().0;
        let mut numbers = Buffer::with_capacity(chunks.len(), align);
        numbers.extend(chunks.iter().map(|chunk| number(*chunk)));
        numbers
    }
    match dtype {
        DType::UInt8 | DType::Bytes => bytes.into(),
        DType::Int8 => map(&bytes, align, i8::from_le_bytes).into(),
        DType::UInt16 => map(&bytes, align, u16::from_le_bytes).into(),
        DType::Int16 => map(&bytes, align, i16::from_le_bytes).into(),
        DType::Int32 => map(&bytes, align, i32::from_le_bytes).into(),
        DType::Int64 => map(&bytes, align, i64::from_le_bytes).into(),
        DType::Float16 => map(&bytes, align, |two| F16(u16::from_le_bytes(two))).into(),
        DType::Float32 => map(&bytes, align, f32::from_le_bytes).into(),
        DType::Float64 => map(&bytes, align, f64::from_le_bytes).into(),
        DType::Bool => map(&bytes, align, |[byte]: [u8; 1]| byte != 0).into(),
        DType::Complex64 => map(&bytes, align, |pair: [u8; 8]| {
            let [re, im] = [0, 4].map(|at| std::array::from_fn(|i| pair[at + i]));
            [f32::from_le_bytes(re), f32::from_le_bytes(im)]
        })
        .into(),
        DType::Complex128 => map(&bytes, align, |pair: [u8; 16]| {
            let [re, im] = [0, 8].map(|at| std::array::from_fn(|i| pair[at + i]));
            [f64::from_le_bytes(re), f64::from_le_bytes(im)]
        })
        .into(),
    }
}
