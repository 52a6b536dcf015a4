//! From the values of rows to the columns of a batch.

use crate::batch::buffer::Buffer;
use crate::batch::column::{Column, Dense, Ragged};
use crate::batch::values::{ByteStrings, F16, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::example::plan::PlanColumn;
use crate::example::row::RowValues;
use crate::example::{DType, DefaultValue, FeatureSpec};

/// The most values of a padded column: one long record among many short ones must not fill the memory.
const MAX_PADDED: usize = 1 << 31;

/// The column that rows make, in their order, its numbers beginning at a multiple of `align` bytes; `None` for a picture
/// column, whose pixels are no values of rows.
///
/// A row that is `None` is masked: zeros and empty strings in a dense column, nothing in a ragged one.
///
/// # Errors
/// `WrongShape` where rows of a `decode_raw` column without a shape differ in size; `InvalidArgument` where a padded column
/// would have more than 2^31 values.
pub(crate) fn assemble(
    i: usize,
    column: &PlanColumn,
    rows: &[Option<&RowValues>],
    align: usize,
) -> Result<Option<Column>> {
    let rows = Rows { i, column, rows, align };
    Ok(Some(match column.spec() {
        FeatureSpec::Image(_) => return Ok(None),
        FeatureSpec::Raw => rows.dense(&[]),
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
            let steps = rows.present().flat_map(|row| row.steps(i)).copied().collect();
            rows.ragged(&[], rows.step_counts(), Some(steps))
        }
    }))
}

struct Rows<'r> {
    i: usize,
    column: &'r PlanColumn,
    rows: &'r [Option<&'r RowValues>],
    align: usize,
}

impl<'r> Rows<'r> {
    fn present(&self) -> impl Iterator<Item = &'r RowValues> + use<'r> {
        self.rows.iter().filter_map(|row| *row)
    }

    /// The number of values of a row.
    fn len(&self, row: &RowValues) -> usize {
        match self.column.dtype() {
            DType::Int64 => row.int64s(self.i).len(),
            DType::Float32 => row.floats(self.i).len(),
            _ => row.byte_strings(self.i).len(),
        }
    }

    fn lengths(&self) -> Vec<usize> {
        self.rows.iter().map(|row| row.map_or(0, |row| self.len(row))).collect()
    }

    fn step_counts(&self) -> Vec<usize> {
        self.rows.iter().map(|row| row.map_or(0, |row| row.steps(self.i).len())).collect()
    }

    /// The values of all rows; a row with less than `least` is filled up with `fill`.
    fn values(&self, least: usize, fill: Option<&DefaultValue>) -> Values {
        let i = self.i;
        match self.column.dtype() {
            DType::Int64 => {
                let fill = match fill {
                    Some(DefaultValue::Int64(values)) => values.first().copied().unwrap_or(0),
                    _ => 0,
                };
                self.numbers(least, fill, |row| row.int64s(i)).into()
            }
            DType::Float32 => {
                let fill = match fill {
                    Some(DefaultValue::Float(values)) => values.first().copied().unwrap_or(0.0),
                    Some(DefaultValue::Int64(values)) => values.first().map_or(0.0, |&value| value as f32),
                    _ => 0.0,
                };
                self.numbers(least, fill, |row| row.floats(i)).into()
            }
            _ => {
                let fill: &[u8] = match fill {
                    Some(DefaultValue::Bytes(values)) => values.first().map_or(&[], Vec::as_slice),
                    _ => &[],
                };
                let mut strings = ByteStrings::default();
                for row in self.rows {
                    let before = strings.len();
                    row.iter().flat_map(|row| row.byte_strings(i)).for_each(|value| strings.push(value));
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
        of: impl Fn(&'r RowValues) -> &'r [T],
    ) -> Buffer<T> {
        let rows = || self.rows.iter().map(|row| row.map_or(&[][..], &of));
        let total = rows().map(|values| values.len().max(least)).sum();
        let mut numbers = Buffer::with_capacity(total, self.align);
        for values in rows() {
            numbers.extend(values.iter().copied());
            numbers.extend(std::iter::repeat_n(fill, least.saturating_sub(values.len())));
        }
        numbers
    }

    fn dense(&self, shape: &[usize]) -> Column {
        let values = self.values(self.column.elements(), None);
        Column::Dense(Dense { values, shape: with_rows(&[self.rows.len()], shape), lengths: None })
    }

    fn ragged(&self, element: &[usize], row_lengths: Vec<usize>, step_lengths: Option<Vec<usize>>) -> Column {
        let values = self.values(0, None);
        Column::Ragged(Ragged { values, row_lengths, step_lengths, element: element.to_vec() })
    }

    fn padded(&self, shape: &[usize], fill: Option<&DefaultValue>) -> Result<Column> {
        let element = self.column.elements();
        let lengths: Vec<usize> = self.lengths().iter().map(|values| values / element).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let total = self.rows.len().saturating_mul(longest).saturating_mul(element);
        if total > MAX_PADDED {
            let reason = format!(
                "padded to the {longest} elements of the longest record, the batch has {total} values"
            );
            return Err(Error::invalid(reason).with_help("read the column by var_len, or smaller batches"));
        }
        let values = self.values(longest * element, fill);
        let shape = with_rows(&[self.rows.len(), longest], shape);
        Ok(Column::Dense(Dense { values, shape, lengths: Some(lengths) }))
    }

    fn decoded(&self, dtype: DType, little_endian: bool, shape: Option<&[usize]>) -> Result<Column> {
        let size = dtype.size().unwrap_or(1);
        let first = self.present().find_map(|row| row.byte_strings(self.i).next()).map_or(0, <[u8]>::len);
        let bytes = shape.map_or(first, |_| self.column.elements() * size);
        let mut all = Buffer::with_capacity(bytes * self.rows.len(), self.align);
        for (r, row) in self.rows.iter().enumerate() {
            let value = row.and_then(|row| row.byte_strings(self.i).next());
            match value {
                Some(value) if value.len() == bytes => all.extend(value.iter().copied()),
                Some(value) => return Err(differs(r, value.len() / size, bytes / size)),
                None => all.extend(std::iter::repeat_n(0, bytes)),
            }
        }
        let shape = match shape {
            Some(shape) => with_rows(&[self.rows.len()], shape),
            None => vec![self.rows.len(), bytes / size],
        };
        let values = decode(all, dtype, little_endian, self.align);
        Ok(Column::Dense(Dense { values, shape, lengths: None }))
    }
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
