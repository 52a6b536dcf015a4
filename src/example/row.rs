//! The values of one record.

use std::ops::Range;

use crate::example::found::Found;
use crate::example::walk::FoundList;

/// The values that a [`Plan`](crate::example::Plan) read from one record, column by column. To be used again and
/// again: it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowValues {
    /// What the walk found, for each column.
    pub(super) found: Vec<Option<Found>>,
    pub(super) lists: Vec<Option<FoundList>>,
    /// The values of all columns of each kind, one column behind the other.
    pub(super) int64s: Vec<i64>,
    pub(super) floats: Vec<f32>,
    bytes: Vec<u8>,
    /// The end of each byte string in `bytes`.
    ends: Vec<usize>,
    /// The number of values of each step of sequences.
    pub(super) steps: Vec<usize>,
    columns: Vec<RowColumn>,
}

/// The ends of a column's values; they start where those of the column before end.
#[derive(Clone, Debug, Default)]
struct RowColumn {
    int64s: usize,
    floats: usize,
    ends: usize,
    steps: usize,
    image: Range<usize>,
}

impl RowValues {
    pub(super) fn clear(&mut self, columns: usize) {
        self.found.clear();
        self.found.resize(columns, None);
        self.lists.clear();
        self.lists.resize(columns, None);
        self.int64s.clear();
        self.floats.clear();
        self.bytes.clear();
        self.ends.clear();
        self.steps.clear();
        self.columns.clear();
        self.columns.resize(columns, RowColumn::default());
    }

    pub(super) fn push_bytes(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }

    /// A byte string cut, or filled up with zeros, to a length.
    pub(super) fn push_bytes_padded(&mut self, value: &[u8], length: usize) {
        let end = self.bytes.len() + length;
        self.bytes.extend_from_slice(&value[..value.len().min(length)]);
        self.bytes.resize(end, 0);
        self.ends.push(end);
    }

    pub(super) fn set_image(&mut self, column: usize, place: Range<usize>) {
        self.columns[column].image = place;
    }

    /// What was pushed since the last column belongs to this one.
    pub(super) fn end_column(&mut self, column: usize) {
        let image = std::mem::take(&mut self.columns[column].image);
        self.columns[column] = RowColumn {
            int64s: self.int64s.len(),
            floats: self.floats.len(),
            ends: self.ends.len(),
            steps: self.steps.len(),
            image,
        };
    }

    fn range(&self, column: usize, end: impl Fn(&RowColumn) -> usize) -> Range<usize> {
        let start = column.checked_sub(1).map_or(0, |before| end(&self.columns[before]));
        start..end(&self.columns[column])
    }

    /// The encoded picture of an image column, within the payload that was read.
    pub(crate) fn image<'a>(&self, column: usize, payload: &'a [u8]) -> &'a [u8] {
        &payload[self.columns[column].image.clone()]
    }

    /// The integers of a column.
    pub(crate) fn int64s(&self, column: usize) -> &[i64] {
        &self.int64s[self.range(column, |column| column.int64s)]
    }

    /// The floats of a column.
    pub(crate) fn floats(&self, column: usize) -> &[f32] {
        &self.floats[self.range(column, |column| column.floats)]
    }

    /// The byte strings of a column.
    pub(crate) fn byte_strings(&self, column: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        self.range(column, |column| column.ends).map(|i| {
            let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.bytes[start..self.ends[i]]
        })
    }

    /// The number of values of each step of a sequence column.
    pub(crate) fn steps(&self, column: usize) -> &[usize] {
        &self.steps[self.range(column, |column| column.steps)]
    }
}
