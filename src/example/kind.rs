//! What kind of values a feature holds.

use crate::example::wire::length_tag;

/// The kind of a feature's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Byte strings.
    Bytes,
    /// 32-bit floats.
    Float,
    /// 64-bit signed integers.
    Int64,
    /// No list was written at all: as good as a missing feature.
    None,
}

impl Kind {
    /// `bytes`, `float`, `int64` or `none`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bytes => "bytes",
            Kind::Float => "float",
            Kind::Int64 => "int64",
            Kind::None => "none",
        }
    }

    /// The tag of this kind's list within a `Feature`.
    #[inline]
    pub(super) fn list_tag(self) -> u32 {
        match self {
            Kind::Bytes => length_tag(1),
            Kind::Float => length_tag(2),
            Kind::Int64 => length_tag(3),
            Kind::None => 0,
        }
    }
}
