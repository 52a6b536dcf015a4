//! Element types of columns.

use std::fmt;

/// The type of a column's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// Unsigned 8-bit integers.
    UInt8,
    /// Signed 8-bit integers.
    Int8,
    /// Unsigned 16-bit integers.
    UInt16,
    /// Signed 16-bit integers.
    Int16,
    /// Signed 32-bit integers.
    Int32,
    /// Signed 64-bit integers.
    Int64,
    /// 16-bit floats (IEEE half precision), held as their bits.
    Float16,
    /// 32-bit floats.
    Float32,
    /// 64-bit floats.
    Float64,
    /// One byte each: 0 is false, all else true.
    Bool,
    /// Pairs of 32-bit floats: real and imaginary part.
    Complex64,
    /// Pairs of 64-bit floats: real and imaginary part.
    Complex128,
    /// Byte strings of any length.
    Bytes,
}

impl DType {
    /// All of them.
    pub const ALL: [DType; 13] = [
        DType::UInt8,
        DType::Int8,
        DType::UInt16,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float16,
        DType::Float32,
        DType::Float64,
        DType::Bool,
        DType::Complex64,
        DType::Complex128,
        DType::Bytes,
    ];

    /// The name, as in NumPy and in a spec's JSON: `int64`, `float32`, `bytes`, ...
    pub fn name(self) -> &'static str {
        match self {
            DType::UInt8 => "uint8",
            DType::Int8 => "int8",
            DType::UInt16 => "uint16",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::Float16 => "float16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Bool => "bool",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
            DType::Bytes => "bytes",
        }
    }

    /// The type of a name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The size of an element in bytes; `None` for [`Bytes`](DType::Bytes), which have none.
    pub fn size(self) -> Option<usize> {
        match self {
            DType::UInt8 | DType::Int8 | DType::Bool => Some(1),
            DType::UInt16 | DType::Int16 | DType::Float16 => Some(2),
            DType::Int32 | DType::Float32 => Some(4),
            DType::Int64 | DType::Float64 | DType::Complex64 => Some(8),
            DType::Complex128 => Some(16),
            DType::Bytes => None,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
