//! A batch: rows of columns, and where they come from.

use std::fmt;
use std::sync::Arc;

use crate::batch::column::{Column, Tensor};
use crate::batch::images::Images;
use crate::batch::job::Row;
use crate::batch::recycler::{Recycler, Reuse};
use crate::batch::values::Element;
use crate::dataset::shards::Shards;
use crate::error::{Error, ErrorKind, Result, escape_key};
use crate::example::{FeatureSpec, Features};

/// A batch: the columns of some records, and which records they are.
///
/// When it is dropped, the memory of its pictures goes back to the pipeline; [`take`](Batch::take) keeps it.
pub struct Batch {
    /// Keys, columns, and the number by which the recycler knows their memory.
    columns: Vec<(Vec<u8>, Column, Option<usize>)>,
    indices: Vec<u64>,
    valid: Vec<bool>,
    epoch: u64,
    features: Arc<Features>,
    shards: Arc<Shards>,
    recycler: Arc<Recycler>,
}

/// Where a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The number of the file in [`Dataset::shards`](crate::Dataset::shards).
    pub shard: usize,
    /// The number of the record in that file.
    pub record: u64,
}

impl Batch {
    pub(crate) fn new(
        columns: Vec<(Vec<u8>, Column, Option<usize>)>,
        rows: Vec<Row>,
        epoch: u64,
        features: Arc<Features>,
        shards: Arc<Shards>,
        recycler: Arc<Recycler>,
    ) -> Batch {
        let indices = rows.iter().map(|row| row.record).collect();
        let valid = rows.iter().map(|row| row.place.valid).collect();
        Batch { columns, indices, valid, epoch, features, shards, recycler }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// True where there is no row: an error policy has left out all of them.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The epoch that the rows belong to.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The global number of each row's record.
    pub fn indices(&self) -> &[u64] {
        &self.indices
    }

    /// The file and the record in it that each row comes from.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = Source> {
        self.indices.iter().map(|&index| {
            let (shard, record) = self.shards.locate(index);
            Source { shard, record }
        })
    }

    /// For each row whether it counts: false where it only fills up the batch ([`Remainder::Pad`](crate::Remainder)) or
    /// is masked ([`OnError::Mask`](crate::OnError)).
    pub fn valid(&self) -> &[bool] {
        &self.valid
    }

    /// The pictures: the only image column.
    ///
    /// # Errors
    /// `InvalidArgument` that lists the candidates, where there is none or more than one.
    pub fn images(&self) -> Result<Images<'_>> {
        let key = self.features.image_key()?;
        match (self.column(key)?, self.features.get(key)) {
            (Column::Dense(dense), Some(FeatureSpec::Image(spec))) => Ok(Images::new(dense, spec)),
            _ => Err(Error::invalid("the column holds no pictures").at_feature(key)),
        }
    }

    /// The labels: the column of int64 scalars that is named `image/class/label`; else the only one whose last path part
    /// is `label`; else the only one.
    ///
    /// # Errors
    /// `InvalidArgument` that lists the candidates, where there is none or more than one.
    pub fn labels(&self) -> Result<&[i64]> {
        let key = self.features.label_key()?;
        self.column(key)?.get::<i64>().map(|values| &values[..])
    }

    /// The columns with their keys, in the order of the features.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&[u8], &Column)> {
        self.columns.iter().map(|(key, column, _)| (key.as_slice(), column))
    }

    /// The column of a key.
    ///
    /// # Errors
    /// `InvalidArgument` that lists the keys, where there is none of this name (any more).
    pub fn column(&self, key: impl AsRef<[u8]>) -> Result<&Column> {
        let at = self.find(key.as_ref())?;
        Ok(&self.columns[at].1)
    }

    /// Takes the values of a dense column out of the batch, without a copy.
    ///
    /// # Errors
    /// As [`column`](Batch::column); `WrongKind` where the values are of another type; `WrongShape` where the column is
    /// ragged. The column then stays in the batch.
    pub fn take<T: Element>(&mut self, key: impl AsRef<[u8]>) -> Result<Tensor<T>> {
        let at = self.find(key.as_ref())?;
        let column = &self.columns[at].1;
        column.get::<T>()?;
        if let Column::Ragged(ragged) = column {
            let kind = ErrorKind::WrongShape {
                found: ragged.values.len() as u64,
                expected: ragged.row_lengths.len() as u64,
            };
            let error = Error::new(kind, "the column is ragged: its rows have no common shape");
            return Err(error.at_feature(key.as_ref()).with_help("take it with take_column"));
        }
        self.columns.remove(at).1.take()
    }

    /// Takes a column out of the batch, without a copy.
    ///
    /// # Errors
    /// As [`column`](Batch::column).
    pub fn take_column(&mut self, key: impl AsRef<[u8]>) -> Result<Column> {
        let at = self.find(key.as_ref())?;
        Ok(self.columns.remove(at).1)
    }

    /// Where the memory of a column can go when it is no longer needed, after the batch itself is gone; `None` for columns whose
    /// memory is not used again.
    pub fn reuse(&self, key: impl AsRef<[u8]>) -> Option<Reuse> {
        let at = self.find(key.as_ref()).ok()?;
        Some(Reuse::new(self.recycler.clone(), self.columns[at].2?))
    }

    fn find(&self, key: &[u8]) -> Result<usize> {
        self.columns.iter().position(|(of, ..)| of == key).ok_or_else(|| {
            let keys: Vec<String> =
                self.columns.iter().map(|(of, ..)| format!("\"{}\"", escape_key(of))).collect();
            Error::invalid(format!(
                "the batch has no column \"{}\"; it has {}",
                escape_key(key),
                keys.join(", ")
            ))
        })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        for (_, column, memory) in self.columns.drain(..) {
            if let (Column::Dense(dense), Some(memory)) = (column, memory) {
                self.recycler.give_back(memory, dense.values);
            }
        }
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Batch");
        debug.field("epoch", &self.epoch).field("rows", &self.len());
        for (key, column) in self.columns() {
            debug.field(&escape_key(key), &format_args!("{} {:?}", column.dtype(), column.shape()));
        }
        debug.finish_non_exhaustive()
    }
}
