//! The JSON of features: the same that the CLI's `--spec` takes.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::example::dtype::DType;
use crate::example::features::{DefaultValue, FeatureSpec, Features};
use crate::image::ImageSpec;

/// Before the hexadecimal form of a key that JSON could not hold as it is.
const HEX: &str = "hex:";

impl Features {
    /// The features as a JSON object, a member for each column: `{KEY: {KIND: {..}}}`.
    ///
    /// A key that is not UTF-8 (or starts with `hex:`) is written as `hex:` and its bytes in hexadecimal.
    pub fn to_json(&self) -> Value {
        let members = self.iter().map(|(key, spec)| {
            (key_to_json(key), Value::Object(Map::from_iter([(spec.name().to_string(), spec.to_json())])))
        });
        Value::Object(members.collect())
    }

    /// Reads what [`to_json`](Features::to_json) writes. All but the kinds may be left out.
    ///
    /// # Errors
    /// `InvalidArgument` for anything else, with the key.
    pub fn from_json(json: &Value) -> Result<Features> {
        let Value::Object(columns) = json else {
            return Err(Error::invalid("features must be a JSON object of columns"));
        };
        let mut features = Features::new();
        for (name, column) in columns {
            let key = key_from_json(name)?;
            let spec = FeatureSpec::from_json(column).map_err(|e| e.at_feature(&key))?;
            if features.get(&key).is_some() {
                return Err(Error::invalid("the column is given twice").at_feature(&key));
            }
            features = features.with(key, spec);
        }
        features.check()?;
        Ok(features)
    }
}

/// A key as the name of a JSON member.
pub(crate) fn key_to_json(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.starts_with(HEX) => text.to_string(),
        _ => format!("{HEX}{}", hex(key)),
    }
}

fn key_from_json(name: &str) -> Result<Vec<u8>> {
    let Some(digits) = name.strip_prefix(HEX) else { return Ok(name.into()) };
    bytes_of_hex(digits).ok_or_else(|| {
        Error::invalid("`hex:` must be followed by pairs of hexadecimal digits").at_feature(name.as_bytes())
    })
}

fn bytes_of_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl FeatureSpec {
    fn to_json(&self) -> Value {
        match self {
            FeatureSpec::Image(spec) => spec.to_json(),
            FeatureSpec::FixedLen { dtype, shape, default }
            | FeatureSpec::Padded { dtype, shape, default } => {
                let mut object = json!({"dtype": dtype.name(), "shape": shape});
                if let Some(default) = default.as_ref().filter(|default| !default.is_empty()) {
                    object["default_value"] = default.to_json();
                }
                object
            }
            FeatureSpec::VarLen { dtype } => json!({"dtype": dtype.name()}),
            FeatureSpec::DecodeRaw { dtype, little_endian, shape, fixed_length } => {
                let mut object = json!({"dtype": dtype.name(), "little_endian": little_endian});
                if let Some(shape) = shape {
                    object["shape"] = json!(shape);
                }
                if let Some(length) = fixed_length {
                    object["fixed_length"] = json!(length);
                }
                object
            }
            FeatureSpec::Sequence { dtype, shape } => {
                let mut object = json!({"dtype": dtype.name()});
                if let Some(shape) = shape {
                    object["shape"] = json!(shape);
                }
                object
            }
            FeatureSpec::Raw => json!({}),
        }
    }

    fn from_json(json: &Value) -> Result<FeatureSpec> {
        const KINDS: &str = "image, fixed_len, var_len, padded, decode_raw, sequence, raw";
        let column = json.as_object().filter(|column| column.len() == 1);
        let Some((kind, json)) = column.and_then(|column| column.iter().next()) else {
            return Err(Error::invalid(format!("a column must be an object of exactly one kind: {KINDS}")));
        };
        if kind == "image" {
            return ImageSpec::from_json(json).map(FeatureSpec::Image);
        }
        let mut members = Members::new(kind, json)?;
        let spec = match kind.as_str() {
            "fixed_len" => {
                let dtype = members.dtype(DType::Int64)?;
                let shape = members.shape()?.unwrap_or_default();
                FeatureSpec::FixedLen { dtype, shape, default: members.default_value(dtype)? }
            }
            "var_len" => FeatureSpec::VarLen { dtype: members.dtype(DType::Int64)? },
            "padded" => {
                let dtype = members.dtype(DType::Int64)?;
                let shape = members.shape()?.unwrap_or_default();
                FeatureSpec::Padded { dtype, shape, default: members.default_value(dtype)? }
            }
            "decode_raw" => FeatureSpec::DecodeRaw {
                dtype: members.dtype(DType::UInt8)?,
                little_endian: members.boolean("little_endian")?.unwrap_or(true),
                shape: members.shape()?,
                fixed_length: members.size("fixed_length")?,
            },
            "sequence" => {
                FeatureSpec::Sequence { dtype: members.dtype(DType::Int64)?, shape: members.shape()? }
            }
            "raw" => FeatureSpec::Raw,
            _ => return Err(Error::invalid(format!("`{kind}` is no kind of column; there are {KINDS}"))),
        };
        members.finish()?;
        Ok(spec)
    }
}

impl DefaultValue {
    fn to_json(&self) -> Value {
        match self {
            DefaultValue::Int64(values) => list_or_one(values, |&value| json!(value)),
            DefaultValue::Float(values) => list_or_one(values, |&value| float_to_json(value)),
            DefaultValue::Bytes(values) => list_or_one(values, |value| bytes_to_json(value)),
        }
    }
}

fn list_or_one<T>(values: &[T], to_json: impl Fn(&T) -> Value) -> Value {
    match values {
        [value] => to_json(value),
        _ => values.iter().map(to_json).collect(),
    }
}

/// A number, or a string where JSON has none: `nan`, `inf`, `-inf`.
fn float_to_json(value: f32) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f32::INFINITY => json!("inf"),
        f32::NEG_INFINITY => json!("-inf"),
        _ => json!(value),
    }
}

/// A string, or `{"hex": ..}` where the bytes are not UTF-8.
fn bytes_to_json(value: &[u8]) -> Value {
    match std::str::from_utf8(value) {
        Ok(text) => json!(text),
        Err(_) => json!({"hex": hex(value)}),
    }
}

/// The members of a column's object, each to be taken once.
struct Members<'a> {
    kind: &'a str,
    left: Map<String, Value>,
}

impl<'a> Members<'a> {
    fn new(kind: &'a str, json: &Value) -> Result<Members<'a>> {
        match json {
            Value::Object(members) => Ok(Members { kind, left: members.clone() }),
            _ => Err(Error::invalid(format!("`{kind}` must be an object"))),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name)
    }

    fn dtype(&mut self, default: DType) -> Result<DType> {
        let Some(value) = self.take("dtype") else { return Ok(default) };
        value.as_str().and_then(DType::from_name).ok_or_else(|| {
            let names: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            Error::invalid(format!("dtype must be one of {}", names.join(", ")))
        })
    }

    fn boolean(&mut self, name: &str) -> Result<Option<bool>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| Error::invalid(format!("{name} must be true or false")))
    }

    fn size(&mut self, name: &str) -> Result<Option<usize>> {
        let Some(value) = self.take(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
        size.map(Some).ok_or_else(|| Error::invalid(format!("{name} must be a whole number of 0 or more")))
    }

    fn shape(&mut self) -> Result<Option<Vec<usize>>> {
        let Some(value) = self.take("shape").filter(|value| !value.is_null()) else { return Ok(None) };
        let size = |size: &Value| size.as_u64().and_then(|size| usize::try_from(size).ok());
        let shape = value.as_array().and_then(|sizes| sizes.iter().map(size).collect());
        shape.map(Some).ok_or_else(|| {
            Error::invalid("shape must be a list of whole numbers, all known")
                .with_help("what varies is read by var_len or padded")
        })
    }

    fn default_value(&mut self, dtype: DType) -> Result<Option<DefaultValue>> {
        let Some(value) = self.take("default_value").filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let mut flat = Vec::new();
        flatten(&value, &mut flat);
        if flat.is_empty() {
            return Ok(None);
        }
        default_of(&flat, dtype).map(Some).ok_or_else(|| {
            Error::invalid(
                "default_value must be a number, a string, {\"hex\": ..} or a list of them, all of one type",
            )
        })
    }

    fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            Some(name) => Err(Error::invalid(format!("`{}` has no member `{name}`", self.kind))),
            None => Ok(()),
        }
    }
}

/// The values of a list, or of a list of lists.
fn flatten<'v>(value: &'v Value, flat: &mut Vec<&'v Value>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| flatten(value, flat)),
        value => flat.push(value),
    }
}

fn default_of(values: &[&Value], dtype: DType) -> Option<DefaultValue> {
    if values.iter().all(|value| value.is_i64()) {
        return values.iter().map(|value| value.as_i64()).collect::<Option<_>>().map(DefaultValue::Int64);
    }
    if values.iter().all(|value| value.is_number()) || dtype == DType::Float32 {
        return values.iter().map(|value| float_of(value)).collect::<Option<_>>().map(DefaultValue::Float);
    }
    let bytes = |value: &&Value| match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Object(object) if object.len() == 1 => bytes_of_hex(object.get("hex")?.as_str()?),
        _ => None,
    };
    values.iter().map(bytes).collect::<Option<_>>().map(DefaultValue::Bytes)
}

fn float_of(value: &Value) -> Option<f32> {
    match value.as_str() {
        Some("nan") => Some(f32::NAN),
        Some("inf") => Some(f32::INFINITY),
        Some("-inf") => Some(f32::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64().map(|value| value as f32),
    }
}
