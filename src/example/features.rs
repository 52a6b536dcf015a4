//! What to read from a record: the columns, each with its key and its kind.

use crate::error::{Error, Result};
use crate::example::dtype::DType;
use crate::image::ImageSpec;

/// The largest number of elements a shape may hold: a default must not fill the memory.
const MAX_ELEMENTS: usize = 1 << 28;

/// What to read from each record, column by column: the counterpart of the feature dictionary of `tf.io.parse_example`.
///
/// Each column has the key of its feature. A column that is given twice is replaced. What cannot be right (a default
/// of the wrong type or size, a shape without size) is an `InvalidArgument` error where the features are first used.
///
/// ```
/// use tfrmap::Features;
/// use tfrmap::image::ImageSpec;
///
/// let features = Features::new()
///     .image("image/encoded", ImageSpec::rgb(224, 224))
///     .fixed_len::<i64>("image/class/label", [])
///     .default_value(-1)
///     .var_len::<f32>("image/object/bbox/xmin");
/// assert_eq!(features.to_json(), Features::from_json(&features.to_json())?.to_json());
/// # Ok::<(), tfrmap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    columns: Vec<(Vec<u8>, FeatureSpec)>,
    /// The number of defaults given to columns that take none; told by [`check`](Features::check).
    misplaced_defaults: usize,
}

/// How one column is read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeatureSpec {
    /// A bytes feature of one value that is an encoded picture: decoded, resized and laid out as the spec says.
    Image(ImageSpec),
    /// Exactly as many values as the shape holds: a dense column `[batch, ..shape]`. With a default, a record without
    /// the feature gets it; a feature of the wrong kind or number of values is an error all the same.
    FixedLen {
        /// `Int64`, `Float32` or `Bytes`.
        dtype: DType,
        /// The shape of one record's values; empty for a scalar.
        shape: Vec<usize>,
        /// What a record without the feature gets: one value, which fills the shape, or as many as it holds.
        default: Option<DefaultValue>,
    },
    /// Any number of values: a ragged column. A record without the feature has none.
    VarLen {
        /// `Int64`, `Float32` or `Bytes`.
        dtype: DType,
    },
    /// Any number of elements of a shape, padded at the end to the longest of the batch: a dense column
    /// `[batch, longest, ..shape]` that keeps each record's number of elements as its lengths.
    Padded {
        /// `Int64`, `Float32` or `Bytes`.
        dtype: DType,
        /// The shape of one element; empty for a scalar.
        shape: Vec<usize>,
        /// What fills up: one value; 0 or the empty string where none is given.
        default: Option<DefaultValue>,
    },
    /// A bytes feature of one value that holds numbers as they lie in memory: a dense column.
    DecodeRaw {
        /// The type of the numbers; not `Bytes`.
        dtype: DType,
        /// The order of their bytes.
        little_endian: bool,
        /// The shape of one record's numbers, which must match their count. Without it, `[count]`, and all records of
        /// a batch must agree.
        shape: Option<Vec<usize>>,
        /// Cuts or fills up with zeros to this number of bytes first.
        fixed_length: Option<usize>,
    },
    /// A feature list of a `SequenceExample`: a ragged column whose rows are steps. A record without it has no steps.
    Sequence {
        /// `Int64`, `Float32` or `Bytes`.
        dtype: DType,
        /// The shape of each step's values. Without it steps may have any number of values, and the column keeps each
        /// step's number.
        shape: Option<Vec<usize>>,
    },
    /// The payload itself, not parsed.
    Raw,
}

/// Values for a record that has none.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// Integers; good for float columns too.
    Int64(Vec<i64>),
    /// Floats.
    Float(Vec<f32>),
    /// Byte strings.
    Bytes(Vec<Vec<u8>>),
}

impl FeatureSpec {
    /// The name of the kind, as in JSON: `image`, `fixed_len`, `var_len`, `padded`, `decode_raw`, `sequence`, `raw`.
    pub fn name(&self) -> &'static str {
        match self {
            FeatureSpec::Image(_) => "image",
            FeatureSpec::FixedLen { .. } => "fixed_len",
            FeatureSpec::VarLen { .. } => "var_len",
            FeatureSpec::Padded { .. } => "padded",
            FeatureSpec::DecodeRaw { .. } => "decode_raw",
            FeatureSpec::Sequence { .. } => "sequence",
            FeatureSpec::Raw => "raw",
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            FeatureSpec::Image(spec) => spec.check(),
            FeatureSpec::FixedLen { dtype, shape, default } => {
                check_stored(*dtype)?;
                let elements = elements(shape)?;
                check_default(*dtype, default.as_ref(), |len| len == elements)
            }
            FeatureSpec::VarLen { dtype } => check_stored(*dtype),
            FeatureSpec::Padded { dtype, shape, default } => {
                check_stored(*dtype)?;
                check_not_empty(shape)?;
                check_default(*dtype, default.as_ref(), |_| false)
            }
            FeatureSpec::DecodeRaw { dtype, shape, fixed_length, .. } => {
                let Some(size) = dtype.size() else {
                    return Err(Error::invalid("decode_raw makes numbers, not bytes"));
                };
                let elements = shape.as_deref().map(elements).transpose()?;
                let Some(length) = *fixed_length else { return Ok(()) };
                if length == 0 || !length.is_multiple_of(size) {
                    let reason =
                        format!("fixed_length is {length}, no multiple of the {size} bytes of a {dtype}");
                    return Err(Error::invalid(reason));
                }
                if length > MAX_ELEMENTS {
                    return Err(Error::invalid("fixed_length is more than 2^28 bytes"));
                }
                if elements.is_some_and(|elements| elements != length / size) {
                    return Err(Error::invalid("fixed_length does not fill the shape"));
                }
                Ok(())
            }
            FeatureSpec::Sequence { dtype, shape } => {
                check_stored(*dtype)?;
                shape.as_deref().map_or(Ok(()), check_not_empty)
            }
            FeatureSpec::Raw => Ok(()),
        }
    }
}

/// The number of elements of a shape.
pub(crate) fn elements(shape: &[usize]) -> Result<usize> {
    let product = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    product
        .filter(|&product| product <= MAX_ELEMENTS)
        .ok_or_else(|| Error::invalid(format!("the shape {shape:?} holds more than 2^28 elements")))
}

fn check_not_empty(shape: &[usize]) -> Result<()> {
    match elements(shape)? {
        0 => Err(Error::invalid(format!("the shape {shape:?} of an element holds nothing"))),
        _ => Ok(()),
    }
}

fn check_stored(dtype: DType) -> Result<()> {
    match dtype {
        DType::Int64 | DType::Float32 | DType::Bytes => Ok(()),
        _ => Err(Error::invalid(format!("a feature holds int64, float32 or bytes, never {dtype}"))
            .with_help("numbers that lie in a bytes feature as in memory are read by decode_raw")),
    }
}

fn check_default(dtype: DType, default: Option<&DefaultValue>, fits: impl Fn(usize) -> bool) -> Result<()> {
    let Some(default) = default else { return Ok(()) };
    if default.is_empty() {
        return Ok(());
    }
    let found = match (dtype, default) {
        (DType::Int64 | DType::Float32, DefaultValue::Int64(_))
        | (DType::Float32, DefaultValue::Float(_))
        | (DType::Bytes, DefaultValue::Bytes(_)) => {
            let len = default.len();
            if len == 1 || fits(len) {
                return Ok(());
            }
            return Err(Error::invalid(format!("a default_value of {len} values does not fit the shape")));
        }
        (_, DefaultValue::Int64(_)) => DType::Int64,
        (_, DefaultValue::Float(_)) => DType::Float32,
        (_, DefaultValue::Bytes(_)) => DType::Bytes,
    };
    Err(Error::invalid(format!("a default_value of {found} for a column of {dtype}")))
}

impl DefaultValue {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            DefaultValue::Int64(values) => values.len(),
            DefaultValue::Float(values) => values.len(),
            DefaultValue::Bytes(values) => values.len(),
        }
    }

    /// True where there is none: no default at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a feature can hold: `i64`, `f32` or `Vec<u8>`.
pub trait FeatureValue: sealed::Sealed {
    /// The type's name at run time.
    const DTYPE: DType;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! feature_value {
    ($($type:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl FeatureValue for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

feature_value!(i64 => Int64, f32 => Float32, Vec<u8> => Bytes);

macro_rules! default_from {
    ($($from:ty, $value:ident => $to:expr;)*) => {$(
        impl From<$from> for DefaultValue {
            fn from($value: $from) -> DefaultValue {
                $to
            }
        }
    )*};
}

default_from! {
    i64, value => DefaultValue::Int64(vec![value]);
    i32, value => DefaultValue::Int64(vec![value.into()]);
    f32, value => DefaultValue::Float(vec![value]);
    f64, value => DefaultValue::Float(vec![value as f32]);
    &str, value => DefaultValue::Bytes(vec![value.into()]);
    &[u8], value => DefaultValue::Bytes(vec![value.into()]);
    Vec<u8>, value => DefaultValue::Bytes(vec![value]);
    Vec<i64>, values => DefaultValue::Int64(values);
    Vec<f32>, values => DefaultValue::Float(values);
    Vec<Vec<u8>>, values => DefaultValue::Bytes(values);
}

impl Features {
    /// No columns yet.
    pub fn new() -> Features {
        Features::default()
    }

    /// One column, `record`: the payloads as they are, not parsed.
    pub fn raw() -> Features {
        Features::new().with("record", FeatureSpec::Raw)
    }

    /// Sets a column.
    pub fn with(mut self, key: impl Into<Vec<u8>>, spec: FeatureSpec) -> Features {
        let key = key.into();
        match self.columns.iter_mut().find(|column| column.0 == key) {
            Some(column) => column.1 = spec,
            None => self.columns.push((key, spec)),
        }
        self
    }

    /// Adds a column of pictures.
    pub fn image(self, key: impl Into<Vec<u8>>, spec: ImageSpec) -> Features {
        self.with(key, FeatureSpec::Image(spec))
    }

    /// Adds a dense column: of scalars (`[]`) or of a shape. A record without the feature is an error, unless a
    /// [`default_value`](Features::default_value) follows.
    pub fn fixed_len<T: FeatureValue>(
        self,
        key: impl Into<Vec<u8>>,
        shape: impl Into<Vec<usize>>,
    ) -> Features {
        self.with(key, FeatureSpec::FixedLen { dtype: T::DTYPE, shape: shape.into(), default: None })
    }

    /// Adds a ragged column.
    pub fn var_len<T: FeatureValue>(self, key: impl Into<Vec<u8>>) -> Features {
        self.with(key, FeatureSpec::VarLen { dtype: T::DTYPE })
    }

    /// Adds a dense column of a varying number of elements of a shape (`[]` for scalars), padded to the longest of
    /// the batch; with zeros, unless a [`default_value`](Features::default_value) follows.
    pub fn padded<T: FeatureValue>(self, key: impl Into<Vec<u8>>, shape: impl Into<Vec<usize>>) -> Features {
        self.with(key, FeatureSpec::Padded { dtype: T::DTYPE, shape: shape.into(), default: None })
    }

    /// Adds a dense column of little-endian numbers that a bytes feature holds as they lie in memory.
    pub fn decode_raw(self, key: impl Into<Vec<u8>>, dtype: DType, shape: impl Into<Vec<usize>>) -> Features {
        let shape = Some(shape.into());
        self.with(key, FeatureSpec::DecodeRaw { dtype, little_endian: true, shape, fixed_length: None })
    }

    /// Adds a ragged column from a feature list of a `SequenceExample`, with any number of values a step.
    pub fn sequence<T: FeatureValue>(self, key: impl Into<Vec<u8>>) -> Features {
        self.with(key, FeatureSpec::Sequence { dtype: T::DTYPE, shape: None })
    }

    /// Gives the column added last its default: one value, which fills the shape, or as many as the shape holds (an
    /// empty list is no default). Only [`fixed_len`](Features::fixed_len) and [`padded`](Features::padded) take one.
    pub fn default_value(mut self, value: impl Into<DefaultValue>) -> Features {
        match self.columns.last_mut() {
            Some((_, FeatureSpec::FixedLen { default, .. } | FeatureSpec::Padded { default, .. })) => {
                *default = Some(value.into()).filter(|value| !value.is_empty());
            }
            _ => self.misplaced_defaults += 1,
        }
        self
    }

    /// Whether the whole makes sense; everything that takes features calls it.
    ///
    /// # Errors
    /// `InvalidArgument` that names the column: no column at all, a dtype that its kind does not have, a default of the
    /// wrong type or size, a shape of no or of more than 2^28 elements where there must be some, an image spec that
    /// contradicts itself.
    pub fn check(&self) -> Result<()> {
        if self.misplaced_defaults > 0 {
            return Err(Error::invalid("a default_value follows a column that takes none")
                .with_help("only fixed_len and padded take one"));
        }
        if self.columns.is_empty() {
            return Err(Error::invalid("the features name no column"));
        }
        self.columns.iter().try_for_each(|(key, spec)| spec.check().map_err(|e| e.at_feature(key)))
    }

    /// The spec of a column.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&FeatureSpec> {
        self.columns.iter().find(|column| column.0 == key.as_ref()).map(|column| &column.1)
    }

    /// Keys and specs, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &FeatureSpec)> {
        self.columns.iter().map(|(key, spec)| (key.as_slice(), spec))
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// True where there is no column.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}
