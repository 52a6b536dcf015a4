//! Features as text to paste: in Rust, and for TensorFlow and DALI.

use std::fmt::{self, Write};

use crate::error::escape_key;
use crate::example::dtype::DType;
use crate::example::features::{DefaultValue, FeatureSpec, Features};
use crate::image::{Damage, ImageSpec, Limits};

impl fmt::Display for Features {
    /// The Rust expression that builds these features, a column a line. It wants `tfrmap::{DType, Features, FeatureSpec}`
    /// and `tfrmap::image::*` in scope.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Features::raw() {
            return f.write_str("Features::raw()");
        }
        f.write_str("Features::new()")?;
        for (key, spec) in self.iter() {
            write!(f, "\n    {}", rust_column(&literal(key), spec))?;
        }
        Ok(())
    }
}

fn rust_column(key: &str, spec: &FeatureSpec) -> String {
    match spec {
        FeatureSpec::Image(spec) => format!(".image({key}, {})", rust_image(spec)),
        FeatureSpec::FixedLen { dtype, shape, default } | FeatureSpec::Padded { dtype, shape, default } => {
            let default = default
                .as_ref()
                .map_or(String::new(), |default| format!("\n    .default_value({})", rust_default(default)));
            format!(".{}::<{}>({key}, {shape:?}){default}", spec.name(), rust_type(*dtype))
        }
        FeatureSpec::VarLen { dtype } | FeatureSpec::Sequence { dtype, shape: None } => {
            format!(".{}::<{}>({key})", spec.name(), rust_type(*dtype))
        }
        FeatureSpec::DecodeRaw { dtype, little_endian: true, shape: Some(shape), fixed_length: None } => {
            format!(".decode_raw({key}, DType::{dtype:?}, {shape:?})")
        }
        FeatureSpec::DecodeRaw { dtype, little_endian, shape, fixed_length } => format!(
            ".with({key}, FeatureSpec::DecodeRaw {{ dtype: DType::{dtype:?}, little_endian: {little_endian}, \
             shape: {}, fixed_length: {fixed_length:?} }})",
            rust_shape(shape.as_deref()),
        ),
        FeatureSpec::Sequence { dtype, shape } => format!(
            ".with({key}, FeatureSpec::Sequence {{ dtype: DType::{dtype:?}, shape: {} }})",
            rust_shape(shape.as_deref()),
        ),
        FeatureSpec::Raw => format!(".with({key}, FeatureSpec::Raw)"),
    }
}

fn rust_shape(shape: Option<&[usize]>) -> String {
    shape.map_or("None".into(), |shape| format!("Some(vec!{shape:?})"))
}

fn rust_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Int64 => "i64",
        DType::Float32 => "f32",
        _ => "Vec<u8>",
    }
}

fn rust_default(default: &DefaultValue) -> String {
    let float = |value: &f32| match value {
        value if value.is_nan() => "f32::NAN".to_string(),
        &f32::INFINITY => "f32::INFINITY".into(),
        &f32::NEG_INFINITY => "f32::NEG_INFINITY".into(),
        value => format!("{value:?}_f32"),
    };
    match default {
        DefaultValue::Int64(values) => one_or_list(values, "vec!", |value| format!("{value}_i64")),
        DefaultValue::Float(values) => one_or_list(values, "vec!", float),
        DefaultValue::Bytes(values) => {
            one_or_list(values, "vec!", |value| format!("{}.to_vec()", bytes(value)))
        }
    }
}

fn one_or_list<T>(values: &[T], list: &str, word: impl Fn(&T) -> String) -> String {
    match values {
        [value] => word(value),
        _ => format!("{list}[{}]", values.iter().map(word).collect::<Vec<_>>().join(", ")),
    }
}

/// A text literal, or one of bytes where the key is not UTF-8; Rust and Python agree on both but for rare characters.
fn literal(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) => format!("{text:?}"),
        _ => bytes(key),
    }
}

fn bytes(value: &[u8]) -> String {
    format!("b\"{}\"", value.escape_ascii())
}

fn rust_image(spec: &ImageSpec) -> String {
    let default = ImageSpec::default();
    let (mut text, channels) = match spec.size {
        Some([height, width]) if spec.channels == 1 => (format!("ImageSpec::gray({height}, {width})"), 1),
        Some([height, width]) => (format!("ImageSpec::rgb({height}, {width})"), 3),
        None => ("ImageSpec::keep_size()".into(), 3),
    };
    let mut call = |name: &str, argument: String| {
        // Writing to a String cannot fail.
        let _ = write!(text, ".{name}({argument})");
    };
    if spec.channels != channels {
        call("channels", spec.channels.to_string());
    }
    if spec.method != default.method {
        call("method", format!("Method::{:?}", spec.method));
    }
    if spec.coordinates != default.coordinates {
        call("coordinates", format!("Coordinates::{:?}", spec.coordinates));
    }
    if spec.antialias != default.antialias {
        call("antialias", spec.antialias.to_string());
    }
    if spec.fit != default.fit {
        call("fit", format!("Fit::{:?}", spec.fit));
    }
    if let Some(short_side) = spec.short_side {
        call("short_side", short_side.to_string());
    }
    if spec.dtype != default.dtype {
        call("dtype", format!("PixelType::{:?}", spec.dtype));
    }
    if let Some(scale) = spec.scale {
        call("scale", format!("Scale::{scale:?}"));
    }
    if spec.mean.is_some() || spec.std.is_some() {
        let values = |values: &Option<Vec<f32>>, otherwise: f32| {
            let values = values.clone().unwrap_or(vec![otherwise; spec.channels.into()]);
            format!("&{values:?}")
        };
        call("normalize", format!("{}, {}", values(&spec.mean, 0.0), values(&spec.std, 1.0)));
    }
    if spec.layout != default.layout {
        call("layout", format!("Layout::{:?}", spec.layout));
    }
    if spec.dct != default.dct {
        call("dct", format!("Dct::{:?}", spec.dct));
    }
    if spec.damage != Damage::Strict {
        call("damage", format!("Damage::{:?}", spec.damage));
    }
    if let Some([y, x, height, width]) = spec.crop {
        call("crop", format!("{y}, {x}, {height}, {width}"));
    }
    if spec.exif {
        call("exif", "true".into());
    }
    if spec.is_augmented() {
        call("augment", format!("{:?}", spec.augment));
    }
    if spec.limits != Limits::default() {
        call("limits", format!("{:?}", spec.limits));
    }
    text
}

impl Features {
    /// The dictionary that gives the same columns to `tf.io.parse_single_example` (and a second one for
    /// `tf.io.parse_single_sequence_example`, where there are sequences), as Python source.
    pub fn to_tensorflow(&self) -> String {
        let mut text = String::from("features = {\n");
        let lists = |spec: &FeatureSpec| matches!(spec, FeatureSpec::Sequence { .. });
        for (key, spec) in self.iter().filter(|(_, spec)| !lists(spec)) {
            text += &format!("    {}\n", tensorflow_entry(key, spec));
        }
        text += "}\n";
        if self.iter().any(|(_, spec)| lists(spec)) {
            text += "sequence_features = {\n";
            for (key, spec) in self.iter().filter(|(_, spec)| lists(spec)) {
                text += &format!("    {}\n", tensorflow_entry(key, spec));
            }
            text += "}\n";
        }
        text
    }

    /// The dictionary that gives the same columns to DALI's `fn.readers.tfrecord`, as Python source. DALI has neither
    /// sequences nor checks; a default of 0 or the empty string stands where none was given, as it wants one.
    pub fn to_dali(&self) -> String {
        let mut text = String::from("features = {\n");
        for (key, spec) in self.iter() {
            text += &format!("    {}\n", dali_entry(key, spec));
        }
        text + "}\n"
    }
}

fn tensorflow_type(dtype: DType) -> String {
    match dtype {
        DType::Bytes => "tf.string".into(),
        dtype => format!("tf.{dtype}"),
    }
}

fn python_default(default: &DefaultValue) -> String {
    let float = |value: &f32| match value.is_finite() {
        true => format!("{value:?}"),
        false => format!("float(\"{value}\")"),
    };
    match default {
        DefaultValue::Int64(values) => one_or_list(values, "", i64::to_string),
        DefaultValue::Float(values) => one_or_list(values, "", float),
        DefaultValue::Bytes(values) => one_or_list(values, "", |value| bytes(value)),
    }
}

/// The default as many times as TensorFlow wants it: it fills no shape by itself.
fn filled(default: &DefaultValue, shape: &[usize]) -> String {
    let one = python_default(default);
    match shape.iter().product::<usize>() {
        count if default.len() == 1 && !shape.is_empty() => format!("[{one}] * {count}"),
        _ => one,
    }
}

fn tensorflow_entry(key: &[u8], spec: &FeatureSpec) -> String {
    let default = |default: &Option<DefaultValue>, shape: &[usize]| {
        default
            .as_ref()
            .map_or(String::new(), |default| format!(", default_value={}", filled(default, shape)))
    };
    let key_text = literal(key);
    match spec {
        FeatureSpec::Image(_) => {
            format!("{key_text}: tf.io.FixedLenFeature([], tf.string),  # tf.io.decode_image")
        }
        FeatureSpec::FixedLen { dtype, shape, default: value } => {
            let value = default(value, shape);
            format!("{key_text}: tf.io.FixedLenFeature({shape:?}, {}{value}),", tensorflow_type(*dtype))
        }
        FeatureSpec::VarLen { dtype } | FeatureSpec::Sequence { dtype, shape: None } => {
            format!("{key_text}: tf.io.VarLenFeature({}),", tensorflow_type(*dtype))
        }
        FeatureSpec::Padded { dtype, shape, default: value } => {
            let (dtype, value) = (tensorflow_type(*dtype), default(value, &[]));
            format!(
                "{key_text}: tf.io.FixedLenSequenceFeature({shape:?}, {dtype}, allow_missing=True{value}),"
            )
        }
        FeatureSpec::DecodeRaw { dtype, little_endian, .. } => {
            let order = if *little_endian { "" } else { ", little_endian=False" };
            let decode = format!("tf.io.decode_raw(.., tf.{dtype}{order})");
            format!("{key_text}: tf.io.FixedLenFeature([], tf.string),  # {decode}")
        }
        FeatureSpec::Sequence { dtype, shape: Some(shape) } => {
            let dtype = tensorflow_type(*dtype);
            format!("{key_text}: tf.io.FixedLenSequenceFeature({shape:?}, {dtype}, allow_missing=True),")
        }
        FeatureSpec::Raw => format!("# {}: the record itself", escape_key(key)),
    }
}

fn dali_entry(key: &[u8], spec: &FeatureSpec) -> String {
    let typed = |dtype: &DType| match dtype {
        DType::Bytes => ("tfrec.string", "\"\""),
        DType::Float32 => ("tfrec.float32", "0.0"),
        _ => ("tfrec.int64", "0"),
    };
    let key_text = literal(key);
    match spec {
        FeatureSpec::Image(_) | FeatureSpec::DecodeRaw { .. } => {
            format!("{key_text}: tfrec.FixedLenFeature([], tfrec.string, \"\"),")
        }
        FeatureSpec::FixedLen { dtype, shape, default } => {
            let (dtype, zero) = typed(dtype);
            let default = match default {
                Some(default) if default.len() == 1 => python_default(default),
                _ => zero.into(),
            };
            format!("{key_text}: tfrec.FixedLenFeature({shape:?}, {dtype}, {default}),")
        }
        FeatureSpec::VarLen { dtype } | FeatureSpec::Padded { dtype, .. } => {
            let (dtype, zero) = typed(dtype);
            format!("{key_text}: tfrec.VarLenFeature({dtype}, {zero}),")
        }
        FeatureSpec::Sequence { .. } => {
            format!("# {}: a feature list, which DALI does not read", escape_key(key))
        }
        FeatureSpec::Raw => format!("# {}: the record itself, which DALI does not give", escape_key(key)),
    }
}
