//! Values of one type, known at run time.

use crate::batch::buffer::Buffer;
use crate::error::{Error, ErrorKind, Result};
use crate::example::DType;

/// Byte strings one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteStrings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ByteStrings {
    /// The number of byte strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The byte string of a number, or `None` beyond the last.
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        let end = *self.ends.get(i)?;
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }

    /// The byte strings, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i).unwrap_or_default())
    }

    /// The lengths of the byte strings in bytes.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = usize> {
        self.iter().map(<[u8]>::len)
    }

    /// All bytes, one string behind the other.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The byte strings, each by itself. Copies them.
    pub fn to_vecs(&self) -> Vec<Vec<u8>> {
        self.iter().map(<[u8]>::to_vec).collect()
    }

    /// Room for so many bytes and byte strings.
    pub(crate) fn with_capacity(bytes: usize, count: usize) -> ByteStrings {
        ByteStrings { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(count) }
    }

    /// Byte strings that lie one behind the other, and the end of each.
    pub(crate) fn extend(&mut self, bytes: &[u8], ends: &[usize]) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.ends.extend(ends.iter().map(|end| before + end));
    }

    pub(crate) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
    }
}

impl<V: AsRef<[u8]>> FromIterator<V> for ByteStrings {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> ByteStrings {
        let mut strings = ByteStrings::default();
        values.into_iter().for_each(|value| strings.push(value.as_ref()));
        strings
    }
}

/// What a column can hold: `u8`, `i8`, `u16`, `i16`, `i32`, `i64`, [`F16`], `f32`, `f64`, `bool`, `[f32; 2]` and `[f64; 2]`
/// (complex numbers), and `Vec<u8>` (byte strings, held as [`ByteStrings`]).
pub trait Element: Sized + sealed::Sealed {
    /// The type's name at run time.
    const DTYPE: DType;
    /// How many of them are held.
    type Store;

    #[doc(hidden)]
    fn of(values: &Values) -> Option<&Self::Store>;

    #[doc(hidden)]
    fn take(values: Values) -> Result<Self::Store, Values>;
}

mod sealed {
    pub trait Sealed {}
}

/// The bits of a 16-bit float.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct F16(
    /// Sign, 5 bits of exponent, 10 of fraction.
    pub u16,
);

macro_rules! values {
    ($($(#[$doc:meta])* $variant:ident($type:ty, $store:ty);)*) => {
        /// The values of a column, of a type known at run time.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Values {
            $($(#[$doc])* $variant($store),)*
        }

        impl Values {
            /// The type of the values.
            pub fn dtype(&self) -> DType {
                match self {
                    $(Values::$variant(_) => DType::$variant,)*
                }
            }

            /// The number of values.
            pub fn len(&self) -> usize {
                match self {
                    $(Values::$variant(values) => values.len(),)*
                }
            }
        }

        $(
            impl sealed::Sealed for $type {}

            impl Element for $type {
                const DTYPE: DType = DType::$variant;
                type Store = $store;

                fn of(values: &Values) -> Option<&$store> {
                    match values {
                        Values::$variant(values) => Some(values),
                        _ => None,
                    }
                }

                fn take(values: Values) -> Result<$store, Values> {
                    match values {
                        Values::$variant(values) => Ok(values),
                        other => Err(other),
                    }
                }
            }

            impl From<$store> for Values {
                fn from(values: $store) -> Values {
                    Values::$variant(values)
                }
            }
        )*
    };
}

values! {
    /// Unsigned 8-bit integers.
    UInt8(u8, Buffer<u8>);
    /// Signed 8-bit integers.
    Int8(i8, Buffer<i8>);
    /// Unsigned 16-bit integers.
    UInt16(u16, Buffer<u16>);
    /// Signed 16-bit integers.
    Int16(i16, Buffer<i16>);
    /// Signed 32-bit integers.
    Int32(i32, Buffer<i32>);
    /// Signed 64-bit integers.
    Int64(i64, Buffer<i64>);
    /// 16-bit floats, as bits.
    Float16(F16, Buffer<F16>);
    /// 32-bit floats.
    Float32(f32, Buffer<f32>);
    /// 64-bit floats.
    Float64(f64, Buffer<f64>);
    /// Booleans.
    Bool(bool, Buffer<bool>);
    /// Complex numbers of 32-bit floats: real and imaginary part.
    Complex64([f32; 2], Buffer<[f32; 2]>);
    /// Complex numbers of 64-bit floats: real and imaginary part.
    Complex128([f64; 2], Buffer<[f64; 2]>);
    /// Byte strings.
    Bytes(Vec<u8>, ByteStrings);
}

impl Values {
    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values as those of one type.
    ///
    /// # Errors
    /// `WrongKind` where they are of another type.
    pub fn get<T: Element>(&self) -> Result<&T::Store> {
        T::of(self).ok_or_else(|| wrong_type(T::DTYPE, self.dtype()))
    }

    /// Gives the values up.
    ///
    /// # Errors
    /// `WrongKind` where they are of another type.
    pub fn into<T: Element>(self) -> Result<T::Store> {
        T::take(self).map_err(|values| wrong_type(T::DTYPE, values.dtype()))
    }
}

fn wrong_type(expected: DType, found: DType) -> Error {
    let kind = ErrorKind::WrongKind { expected: expected.name(), found: found.name() };
    Error::new(kind, format!("the column holds {found} where {expected} is asked for"))
}
