//! A `Features` spec in the words of other programs: Rust, TensorFlow and DALI.

use std::fmt::Write;

use tfrmap::{DType, FeatureSpec, Features};

/// The languages a spec can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A chain of calls of this library.
    Rust,
    /// The file that `batch --spec` takes.
    Json,
    /// A dictionary for `tf.io.parse_single_example`.
    Tensorflow,
    /// A dictionary for `fn.readers.tfrecord`.
    Dali,
}

impl Form {
    /// All of them, in the order they are shown.
    pub const ALL: [Form; 4] = [Form::Rust, Form::Json, Form::Tensorflow, Form::Dali];

    /// A heading.
    pub fn title(self) -> &'static str {
        match self {
            Form::Rust => "Rust",
            Form::Json => "JSON (for --spec)",
            Form::Tensorflow => "TensorFlow",
            Form::Dali => "DALI",
        }
    }

    /// The spec as text, ending in a newline.
    pub fn text(self, features: &Features) -> String {
        match self {
            Form::Rust => format!("{features}\n"),
            Form::Json => json(features),
            Form::Tensorflow => tensorflow(features),
            Form::Dali => dali(features),
        }
    }
}

/// One column a line.
fn json(features: &Features) -> String {
    let value = features.to_json();
    let columns: Vec<String> = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, spec)| format!("  {}: {spec}", serde_json::Value::from(key.as_str())))
        .collect();
    format!("{{\n{}\n}}\n", columns.join(",\n"))
}

fn tensorflow(features: &Features) -> String {
    let (mut context, mut lists) = (String::new(), String::new());
    for (key, spec) in features.iter() {
        let key = literal(key);
        let line = match spec {
            FeatureSpec::Image(_) => format!("    {key}: tf.io.FixedLenFeature([], tf.string),"),
            FeatureSpec::FixedLen { dtype, shape, .. } => {
                format!("    {key}: tf.io.FixedLenFeature({shape:?}, {}),", tf_type(*dtype))
            }
            FeatureSpec::VarLen { dtype } => format!("    {key}: tf.io.VarLenFeature({}),", tf_type(*dtype)),
            FeatureSpec::Sequence { dtype, .. } => {
                let _ = writeln!(lists, "    {key}: tf.io.RaggedFeature({}),", tf_type(*dtype));
                continue;
            }
            FeatureSpec::Raw => {
                return "# the records are no Examples: parse the bytes yourself\n".to_owned();
            }
            other => format!("    # {key}: {}", other.name()),
        };
        let _ = writeln!(context, "{line}");
    }
    if lists.is_empty() {
        format!("features = {{\n{context}}}\n")
    } else {
        format!("context_features = {{\n{context}}}\nsequence_features = {{\n{lists}}}\n")
    }
}

fn tf_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Int64 => "tf.int64",
        DType::Float32 => "tf.float32",
        _ => "tf.string",
    }
}

fn dali(features: &Features) -> String {
    let mut text = "features = {\n".to_owned();
    for (key, spec) in features.iter() {
        let key = literal(key);
        let line = match spec {
            FeatureSpec::Image(_) => format!("{key}: tfrec.FixedLenFeature((), tfrec.string, \"\"),"),
            FeatureSpec::FixedLen { dtype, shape, .. } => {
                let shape: Vec<usize> = if shape.is_empty() { vec![1] } else { shape.clone() };
                format!("{key}: tfrec.FixedLenFeature({shape:?}, {}),", dali_type(*dtype))
            }
            FeatureSpec::VarLen { dtype: DType::Bytes } => {
                format!("# {key}: DALI reads one byte string a record, this feature may hold more")
            }
            FeatureSpec::VarLen { dtype } => format!("{key}: tfrec.VarLenFeature({}),", dali_type(*dtype)),
            FeatureSpec::Raw => return "# DALI reads Examples only\n".to_owned(),
            other => format!("# {key}: DALI has no counterpart of {}", other.name()),
        };
        let _ = writeln!(text, "    {line}");
    }
    text + "}\n"
}

fn dali_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Int64 => "tfrec.int64, 0",
        DType::Float32 => "tfrec.float32, 0.0",
        _ => "tfrec.string, \"\"",
    }
}

/// A literal of Python: of text, or of bytes for a key that is not UTF-8.
fn literal(key: &[u8]) -> String {
    let quoted = |inner: String| format!("\"{inner}\"");
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) => {
            quoted(text.replace('\\', "\\\\").replace('"', "\\\""))
        }
        _ => "b".to_owned() + &quoted(key.escape_ascii().to_string()),
    }
}
