//! The values of records: what a walk found in one, and what columns hold of several.

use std::ops::Range;

use crate::example::found::Found;
use crate::example::walk::FoundList;

/// What the walk over one payload found, for each column of a [`Plan`](crate::example::plan::Plan). To be used again and
/// again: it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walked {
    pub(super) found: Vec<Option<Found>>,
    pub(super) lists: Vec<Option<FoundList>>,
}

impl Walked {
    pub(super) fn clear(&mut self, columns: usize) {
        self.found.clear();
        self.found.resize(columns, None);
        self.lists.clear();
        self.lists.resize(columns, None);
    }
}

/// The values of one column of some records, row by row. Keeps its memory when it is cleared.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnRows {
    pub(super) int64s: Vec<i64>,
    pub(super) floats: Vec<f32>,
    bytes: Vec<u8>,
    /// The end of each byte string in `bytes`.
    ends: Vec<usize>,
    /// The number of values of each step of sequences.
    pub(super) steps: Vec<usize>,
    rows: Vec<RowEnd>,
}

/// Where a row's values end; they start where those of the row before end.
#[derive(Clone, Copy, Debug, Default)]
struct RowEnd {
    int64s: usize,
    floats: usize,
    ends: usize,
    steps: usize,
}

impl ColumnRows {
    /// Makes it `rows` rows long: what is behind them goes, also what was pushed and not ended; rows that lack are empty.
    pub(crate) fn set_rows(&mut self, rows: usize) {
        self.rows.truncate(rows);
        let end = self.rows.last().copied().unwrap_or_default();
        self.rows.resize(rows, end);
        self.int64s.truncate(end.int64s);
        self.floats.truncate(end.floats);
        self.ends.truncate(end.ends);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        self.steps.truncate(end.steps);
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
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

    /// A row of one byte string, which `append` puts behind the others.
    #[inline]
    pub(crate) fn push_row<T, E>(
        &mut self,
        append: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
    ) -> Result<T, E> {
        let appended = append(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        self.end_row();
        Ok(appended)
    }

    /// What was pushed since the last row ended is a row.
    #[inline]
    pub(super) fn end_row(&mut self) {
        self.rows.push(RowEnd {
            int64s: self.int64s.len(),
            floats: self.floats.len(),
            ends: self.ends.len(),
            steps: self.steps.len(),
        });
    }

    fn range(&self, row: usize, end: impl Fn(&RowEnd) -> usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| end(&self.rows[before]));
        start..end(&self.rows[row])
    }

    /// The integers of a row.
    pub(crate) fn int64s(&self, row: usize) -> &[i64] {
        &self.int64s[self.range(row, |row| row.int64s)]
    }

    /// The floats of a row.
    pub(crate) fn floats(&self, row: usize) -> &[f32] {
        &self.floats[self.range(row, |row| row.floats)]
    }

    /// The byte strings of a row.
    pub(crate) fn byte_strings(&self, row: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        self.range(row, |row| row.ends).map(|i| {
            let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.bytes[start..self.ends[i]]
        })
    }

    /// The number of values of each step of a row of a sequence column.
    pub(crate) fn steps(&self, row: usize) -> &[usize] {
        &self.steps[self.range(row, |row| row.steps)]
    }

    /// The integers of all rows.
    pub(crate) fn all_int64s(&self) -> &[i64] {
        &self.int64s
    }

    /// The floats of all rows.
    pub(crate) fn all_floats(&self) -> &[f32] {
        &self.floats
    }

    /// The byte strings of all rows, one behind the other, and the end of each.
    pub(crate) fn all_byte_strings(&self) -> (&[u8], &[usize]) {
        (&self.bytes, &self.ends)
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnRows, Walked};
    use crate::example::plan::Plan;
    use crate::example::{DType, Features, SequenceExampleBuilder, proto};

    impl ColumnRows {
        /// Where each part lies, and how much it can hold.
        fn memory(&self) -> [(usize, usize); 6] {
            fn of<T>(part: &Vec<T>) -> (usize, usize) {
                (part.as_ptr().addr(), part.capacity())
            }
            [
                of(&self.int64s),
                of(&self.floats),
                of(&self.bytes),
                of(&self.ends),
                of(&self.steps),
                of(&self.rows),
            ]
        }
    }

    /// Fear: the hot path allocates for each record.
    #[test]
    fn rows_that_are_used_again_keep_their_memory() {
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
        let (mut walked, mut columns) = (Walked::default(), vec![ColumnRows::default(); 6]);
        let mut memory = Vec::new();
        for _ in 0..3 {
            for row in 0..2 {
                plan.walk(&payload, &mut walked).unwrap();
                for (i, column) in columns.iter_mut().enumerate() {
                    column.set_rows(row);
                    plan.push(i, &payload, &walked, column).unwrap();
                }
            }
            let now: Vec<_> = columns.iter().map(ColumnRows::memory).collect();
            assert!(memory.is_empty() || memory == now);
            memory = now;
        }
        assert_eq!(columns[0].int64s(1), [1]);
        assert_eq!(columns[1].floats(1), [1.0, 2.0]);
        assert_eq!(columns[2].byte_strings(1).collect::<Vec<_>>(), [b"a".as_slice(), b"bc"]);
        assert_eq!(columns[3].byte_strings(1).collect::<Vec<_>>(), [b"1234"]);
        assert_eq!(columns[4].floats(1), [0.5; 3]);
        assert_eq!((columns[5].int64s(1), columns[5].steps(1)), (&[1, 1, 2, 2][..], &[2, 2][..]));
        // A row that was begun and not ended leaves nothing; rows that lack are empty.
        columns[1].floats.push(9.0);
        columns[1].set_rows(3);
        assert_eq!((columns[1].floats(1), columns[1].floats(2)), (&[1.0, 2.0][..], &[][..]));
        assert_eq!(columns[1].all_floats().len(), 4);
    }
}
