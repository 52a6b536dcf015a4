//! The columns of a batch.

use crate::batch::values::{Element, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::example::DType;

/// One column of a batch: the values of one feature of all its rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Rows of one shape, one behind the other.
    Dense(Dense),
    /// Rows of any length, one behind the other.
    Ragged(Ragged),
}

/// Rows of one shape: a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// The values, row by row, in the order of the dimensions (the last runs fastest).
    pub values: Values,
    /// The dimensions; the first is the number of rows.
    pub shape: Vec<usize>,
    /// For a padded column, how many elements of each row count; the rest is filling.
    pub lengths: Option<Vec<usize>>,
}

/// Rows of any length.
#[derive(Clone, Debug, PartialEq)]
pub struct Ragged {
    /// The values of all rows, one row behind the other.
    pub values: Values,
    /// The number of elements of each row: of values, or for a sequence of steps.
    pub row_lengths: Vec<usize>,
    /// For a sequence whose steps have any number of values: the number of values of each step of all rows.
    pub step_lengths: Option<Vec<usize>>,
    /// The shape of an element; empty for a scalar, and where `step_lengths` are given.
    pub element: Vec<usize>,
}

/// A dense column of a known type, given up by its batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T: Element> {
    /// The values, row by row; `into_vec()` makes them a `Vec`.
    pub values: T::Store,
    /// The dimensions; the first is the number of rows.
    pub shape: Vec<usize>,
}

impl Column {
    /// The type of the values.
    pub fn dtype(&self) -> DType {
        self.values().dtype()
    }

    /// The values of all rows.
    pub fn values(&self) -> &Values {
        match self {
            Column::Dense(dense) => &dense.values,
            Column::Ragged(ragged) => &ragged.values,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Column::Dense(dense) => dense.shape.first().copied().unwrap_or(0),
            Column::Ragged(ragged) => ragged.row_lengths.len(),
        }
    }

    /// The shape of a dense column; the first dimension is the number of rows.
    pub fn shape(&self) -> Option<&[usize]> {
        match self {
            Column::Dense(dense) => Some(&dense.shape),
            Column::Ragged(_) => None,
        }
    }

    /// The number of elements of each row of a ragged or padded column.
    pub fn row_lengths(&self) -> Option<&[usize]> {
        match self {
            Column::Dense(dense) => dense.lengths.as_deref(),
            Column::Ragged(ragged) => Some(&ragged.row_lengths),
        }
    }

    /// The values of all rows, of a known type.
    ///
    /// # Errors
    /// `WrongKind` where they are of another type.
    pub fn get<T: Element>(&self) -> Result<&T::Store> {
        self.values().get::<T>()
    }

    /// Gives up a dense column: values and shape, without a copy.
    ///
    /// # Errors
    /// `WrongKind` where the values are of another type; `WrongShape` where the column is ragged.
    pub fn take<T: Element>(self) -> Result<Tensor<T>> {
        match self {
            Column::Dense(dense) => Ok(Tensor { values: dense.values.into::<T>()?, shape: dense.shape }),
            Column::Ragged(ragged) => {
                let kind = ErrorKind::WrongShape {
                    found: ragged.values.len() as u64,
                    expected: ragged.row_lengths.len() as u64,
                };
                Err(Error::new(kind, "the column is ragged: its rows have no common shape")
                    .with_help("take its values and row_lengths, or read it by padded"))
            }
        }
    }
}
