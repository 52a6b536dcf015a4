//! `batch`: one decoded batch as NumPy arrays.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tfrmap::{Batch, Column, DType, Features, Values};

use crate::atomic::{self, AtomicFile};
use crate::failure::{Exit, Failure, Result};
use crate::input::Input;
use crate::keys;
use crate::npz::NpzWriter;
use crate::output::{Output, Table, Tone};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tfr-index batch data/ --out b.npz --batch-size 10                       the first ten records
  tfr-index batch data/ --out b.npz --batch-size 64 --seed 7 --epoch 2    of a shuffled epoch
  tfr-index schema data/ --spec json > spec.json                          a spec to edit; then:
  tfr-index batch data/ --out b.npz --batch-size 10 --spec spec.json

In Python: b = numpy.load(\"b.npz\"); b[\"image/encoded\"], b[\"indices\"]. The same request gives the same bytes.";

/// Decode one batch and write it as an .npz that NumPy loads.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    input: Input,

    /// The .npz to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// How many records.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    batch_size: u64,

    /// Shuffle by this seed; without it records come in file order.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// The epoch of the shuffle.
    #[arg(long, value_name = "E", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..u64::MAX))]
    epoch: u64,

    /// Take the batch after K others.
    #[arg(long, value_name = "K", default_value_t = 0)]
    skip_batches: u64,

    /// What to read: a JSON file, such as `tfr-index schema --spec json` prints. Without it, it is inferred.
    #[arg(long, value_name = "F.json")]
    spec: Option<PathBuf>,

    /// Replace the output if it exists.
    #[arg(long)]
    force: bool,
}

/// Decodes and writes.
pub fn run(args: &Args, out: &mut Output) -> Result<Exit> {
    atomic::refuse_existing(&args.out, args.force)?;
    let mut dataset = args.input.dataset_for(&args.out)?;
    let features = match &args.spec {
        Some(path) => read_spec(path)?,
        None => dataset.features()?,
    };
    let first = args.skip_batches.saturating_mul(args.batch_size);
    if first >= dataset.len() {
        return Err(Failure::usage(format!(
            "there is no batch {}: {} make {} of {}",
            args.skip_batches,
            units::plural(dataset.len(), "record"),
            units::plural(dataset.len().div_ceil(args.batch_size), "batch").replace("batchs", "batches"),
            args.batch_size
        )));
    }
    if let Some(seed) = args.seed {
        dataset = dataset.shuffled(seed);
    }
    let rows = args.batch_size.min(dataset.len() - first);
    let size =
        usize::try_from(rows).map_err(|_| Failure::usage("the batch is too large for this machine"))?;
    let mut batches = dataset.epoch(args.epoch).skip(first).take(rows).with_features(features).batches(size);
    let Some(batch) = batches.next() else { return Err(Failure::data("the batch is empty")) };
    let batch = batch?;
    let mut npz = NpzWriter::new(AtomicFile::create(&args.out, args.force)?);
    write(&batch, &mut npz)?.map_err(|error| Failure::io(&args.out, error))?;
    npz.finish().map_err(|error| Failure::io(&args.out, error))?.finish()?;
    if out.is_json() {
        let columns: Map<String, Value> =
            batch.columns().map(|(key, column)| (keys::name(key), column_json(column))).collect();
        out.json(&json!({ "out": args.out.to_string_lossy(), "columns": columns, "rows": batch.len() }))?;
    } else {
        print(args, &batch, out)?;
    }
    Ok(Exit::Fine)
}

fn read_spec(path: &Path) -> Result<Features> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
    let at = |reason: String| Failure::usage(format!("{}: {reason}", path.display()));
    let json: Value = serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
    Features::from_json(&json).map_err(|error| at(error.to_string()))
}

/// Writes all arrays. The outer error is a name that two arrays would share.
fn write<W: Write>(batch: &Batch, npz: &mut NpzWriter<W>) -> Result<io::Result<()>> {
    let mut arrays: Vec<Array> =
        batch.columns().flat_map(|(key, column)| arrays(&keys::name(key), column)).collect();
    arrays.push(Array {
        name: "indices".to_owned(),
        descr: "<u8",
        shape: vec![batch.len()],
        data: bytes_of(batch.indices(), |value| value.to_le_bytes()),
    });
    let mut names = HashSet::new();
    if let Some(array) = arrays.iter().find(|array| !names.insert(array.name.as_str())) {
        return Err(Failure::usage(format!(
            "two arrays would have the name \"{}\"; leave one of the columns out with --spec",
            array.name
        )));
    }
    Ok(arrays.iter().try_for_each(|array| npz.array(&array.name, array.descr, &array.shape, &array.data)))
}

struct Array {
    name: String,
    descr: &'static str,
    shape: Vec<usize>,
    data: Vec<u8>,
}

/// The arrays of a column: one for a dense column, values and lengths for all others.
fn arrays(key: &str, column: &Column) -> Vec<Array> {
    let lengths = |name: &str, lengths: &mut dyn Iterator<Item = usize>| {
        let lengths: Vec<u64> = lengths.map(|length| length as u64).collect();
        Array {
            name: format!("{key}/{name}"),
            descr: "<i8",
            shape: vec![lengths.len()],
            data: bytes_of(&lengths, |length| length.to_le_bytes()),
        }
    };
    let mut arrays = Vec::new();
    let row_lengths = column.row_lengths();
    if let Values::Bytes(strings) = column.values() {
        let bytes = strings.as_bytes();
        arrays.push(Array {
            name: format!("{key}/values"),
            descr: "|u1",
            shape: vec![bytes.len()],
            data: bytes.to_vec(),
        });
        match row_lengths {
            Some(rows) => {
                arrays.push(lengths("row_lengths", &mut rows.iter().copied()));
                arrays.push(lengths("value_lengths", &mut strings.lengths()));
            }
            None if strings.len() == column.rows() => {
                arrays.push(lengths("row_lengths", &mut strings.lengths()))
            }
            None => {
                let each = strings.len().checked_div(column.rows()).unwrap_or(0);
                arrays.push(lengths("row_lengths", &mut std::iter::repeat_n(each, column.rows())));
                arrays.push(lengths("value_lengths", &mut strings.lengths()));
            }
        }
    } else {
        let (descr, data) = encode(column.values());
        match column {
            Column::Dense(dense) => {
                arrays.push(Array { name: key.to_owned(), descr, shape: dense.shape.clone(), data });
            }
            Column::Ragged(ragged) => {
                let element: usize = ragged.element.iter().product();
                let count = ragged.values.len().checked_div(element).unwrap_or(0);
                let shape = std::iter::once(count).chain(ragged.element.iter().copied()).collect();
                arrays.push(Array { name: format!("{key}/values"), descr, shape, data });
            }
            _ => {}
        }
        if let Some(rows) = row_lengths {
            arrays.push(lengths("row_lengths", &mut rows.iter().copied()));
        }
    }
    if let Column::Ragged(ragged) = column
        && let Some(steps) = &ragged.step_lengths
    {
        arrays.push(lengths("step_lengths", &mut steps.iter().copied()));
    }
    arrays
}

/// NumPy's name of the type, and the values as little-endian bytes.
fn encode(values: &Values) -> (&'static str, Vec<u8>) {
    match values {
        Values::UInt8(v) => ("|u1", v.to_vec()),
        Values::Int8(v) => ("|i1", bytes_of(v, |x| x.to_le_bytes())),
        Values::UInt16(v) => ("<u2", bytes_of(v, |x| x.to_le_bytes())),
        Values::Int16(v) => ("<i2", bytes_of(v, |x| x.to_le_bytes())),
        Values::Int32(v) => ("<i4", bytes_of(v, |x| x.to_le_bytes())),
        Values::Int64(v) => ("<i8", bytes_of(v, |x| x.to_le_bytes())),
        Values::Float16(v) => ("<f2", bytes_of(v, |x| x.0.to_le_bytes())),
        Values::Float32(v) => ("<f4", bytes_of(v, |x| x.to_le_bytes())),
        Values::Float64(v) => ("<f8", bytes_of(v, |x| x.to_le_bytes())),
        Values::Bool(v) => ("|b1", v.iter().map(|x| u8::from(*x)).collect()),
        Values::Complex64(v) => ("<c8", v.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()),
        Values::Complex128(v) => ("<c16", v.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()),
        Values::Bytes(v) => ("|u1", v.as_bytes().to_vec()),
        _ => ("|u1", Vec::new()),
    }
}

fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * N);
    values.iter().for_each(|value| out.extend_from_slice(&bytes(*value)));
    out
}

/// Type and shape; the unknown length of ragged rows is null.
fn column_json(column: &Column) -> Value {
    let shape = match column {
        Column::Ragged(ragged) => {
            let mut shape = vec![json!(column.rows()), Value::Null];
            shape.extend(ragged.element.iter().map(|size| json!(size)));
            Value::Array(shape)
        }
        _ => json!(column.shape()),
    };
    json!({ "dtype": column.dtype().name(), "shape": shape })
}

fn print(args: &Args, batch: &Batch, out: &mut Output) -> Result<()> {
    let rows = units::plural(batch.len() as u64, "record");
    out.text(out.paint(Tone::Bold, format_args!("{}: {rows}", args.out.display())))?;
    let mut table = Table::new(&[false, false, false]);
    for (key, column) in batch.columns() {
        let shape = match column.shape() {
            Some(shape) => format!("{shape:?}"),
            None if column.dtype() == DType::Bytes => format!("{} rows of byte strings", column.rows()),
            None => format!("{} ragged rows, {} values", column.rows(), column.values().len()),
        };
        table.row([keys::name(key), column.dtype().name().to_owned(), shape]);
    }
    table.row(["indices".to_owned(), "uint64".to_owned(), format!("[{}]", batch.len())]);
    out.text(table)
}
