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

#[cfg(test)]
mod tests {
    use super::RowValues;
    use crate::example::plan::Plan;
    use crate::example::{DType, Features, SequenceExampleBuilder, proto};

    impl RowValues {
        /// Where each part of the row lies, and how much it can hold.
        fn memory(&self) -> [(usize, usize); 8] {
            fn of<T>(part: &Vec<T>) -> (usize, usize) {
                (part.as_ptr().addr(), part.capacity())
            }
            [
                of(&self.found),
                of(&self.lists),
                of(&self.int64s),
                of(&self.floats),
                of(&self.bytes),
                of(&self.ends),
                of(&self.steps),
                of(&self.columns),
            ]
        }
    }

    /// Fear: the hot path allocates for each record.
    #[test]
    fn a_row_that_is_used_again_keeps_its_memory() {
        let features = Features::new()
            .fixed_len::<i64>("label", [])
            .var_len::<f32>("box")
            .padded::<Vec<u8>>("text", [])
            .decode_raw("raw", DType::UInt8, [4])
            .fixed_len::<f32>("missing", [3])
            .default_value(0.5)
            .sequence::<i64>("steps");
        let context = crate::example::ExampleBuilder::new()
            .int64("label", 1)
            .floats("box", [1.0, 2.0])
            .bytes_list("text", ["a", "bc"])
            .bytes("raw", "1234");
        let steps = [1, 2].map(|i| proto::Feature::int64_list([i, i]));
        let payload = SequenceExampleBuilder::new().context(context).list("steps", steps).encode();
        let plan = Plan::new(&features).unwrap();
        let mut row = RowValues::default();
        plan.extract(&payload, &mut row).unwrap();
        let memory = row.memory();
        for _ in 0..3 {
            plan.extract(&payload, &mut row).unwrap();
            assert_eq!(row.memory(), memory);
        }
        assert_eq!(row.int64s(0), [1]);
        assert_eq!(row.floats(1), [1.0, 2.0]);
        assert_eq!(row.byte_strings(2).collect::<Vec<_>>(), [b"a".as_slice(), b"bc"]);
        assert_eq!(row.byte_strings(3).collect::<Vec<_>>(), [b"1234"]);
        assert_eq!(row.floats(4), [0.5; 3]);
        assert_eq!((row.int64s(5), row.steps(5)), (&[1, 1, 2, 2][..], &[2, 2][..]));
    }
}
