//! Features made ready for reading: one walk of a payload gives the values of all columns.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::example::dtype::DType;
use crate::example::features::{DefaultValue, FeatureSpec, Features, elements};
use crate::example::found::{self, Found, Kind};
use crate::example::keys::KeyIndex;
use crate::example::row::RowValues;
use crate::example::runs::{Run, Runs};
use crate::example::view::say_once_that_lists_are_not_seen;
use crate::example::walk::{FoundList, Steps, Visitor, walk};
use crate::example::wire::{Cursor, Parse};

/// [`Features`] made ready for reading.
#[derive(Debug)]
pub(crate) struct Plan {
    columns: Vec<PlanColumn>,
    keys: KeyIndex,
    lists: KeyIndex,
    /// False where all columns are the payload itself.
    parses: bool,
}

/// A column of a [`Plan`].
#[derive(Debug)]
pub(crate) struct PlanColumn {
    key: Vec<u8>,
    spec: FeatureSpec,
    /// The number of elements of the spec's shape; 1 where it has none.
    elements: usize,
}

impl PlanColumn {
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(crate) fn spec(&self) -> &FeatureSpec {
        &self.spec
    }

    /// The number of elements of the spec's shape; 1 where it has none.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// The dtype of the values that rows hold for this column.
    pub(crate) fn dtype(&self) -> DType {
        match self.spec {
            FeatureSpec::FixedLen { dtype, .. }
            | FeatureSpec::VarLen { dtype }
            | FeatureSpec::Padded { dtype, .. }
            | FeatureSpec::Sequence { dtype, .. } => dtype,
            FeatureSpec::DecodeRaw { .. } | FeatureSpec::Image(_) | FeatureSpec::Raw => DType::Bytes,
        }
    }

    /// The kind of feature that this column is read from.
    fn kind(&self) -> Kind {
        match self.dtype() {
            DType::Int64 => Kind::Int64,
            DType::Float32 => Kind::Float,
            _ => Kind::Bytes,
        }
    }
}

impl Plan {
    /// Makes features ready.
    ///
    /// # Errors
    /// Those of [`Features::check`].
    pub(crate) fn new(features: &Features) -> Result<Plan> {
        features.check()?;
        let columns: Vec<PlanColumn> = features
            .iter()
            .map(|(key, spec)| {
                let shape: &[usize] = match spec {
                    FeatureSpec::FixedLen { shape, .. } | FeatureSpec::Padded { shape, .. } => shape,
                    FeatureSpec::DecodeRaw { shape: Some(shape), .. }
                    | FeatureSpec::Sequence { shape: Some(shape), .. } => shape,
                    _ => &[],
                };
                Ok(PlanColumn { key: key.to_vec(), spec: spec.clone(), elements: elements(shape)? })
            })
            .collect::<Result<_>>()?;
        let of = |wanted: fn(&FeatureSpec) -> bool| {
            let keys = columns.iter().enumerate().filter(|(_, column)| wanted(&column.spec));
            KeyIndex::new(keys.map(|(i, column)| (column.key.as_slice(), i)))
        };
        let keys = of(|spec| !matches!(spec, FeatureSpec::Sequence { .. } | FeatureSpec::Raw));
        let lists = of(|spec| matches!(spec, FeatureSpec::Sequence { .. }));
        let parses = !(keys.is_empty() && lists.is_empty());
        Ok(Plan { keys, lists, parses, columns })
    }

    /// The columns, in the order of the features.
    pub(crate) fn columns(&self) -> &[PlanColumn] {
        &self.columns
    }

    /// Reads a payload: checks all of it, and puts the values of each column into `row`. Pictures stay where they are,
    /// see [`RowValues::image`]. Allocates nothing once `row` has held records as large.
    ///
    /// An entry without a list counts as absent, so that an earlier one of the same key stands, as in TensorFlow.
    ///
    /// # Errors
    /// `MalformedProto` with the byte within the payload; `MissingFeature`, `WrongKind` and `WrongShape` with the key.
    pub(crate) fn extract(&self, payload: &[u8], row: &mut RowValues) -> Result<()> {
        row.clear(self.columns.len());
        if self.parses {
            if self.lists.is_empty() {
                let mut visitor = FeaturesOnly { plan: self, found: &mut row.found, lists: false };
                walk(payload, &mut visitor).map_err(|malformed| malformed.into_error())?;
                if visitor.lists {
                    say_once_that_lists_are_not_seen();
                }
            } else {
                let mut visitor = WithLists { plan: self, found: &mut row.found, lists: &mut row.lists };
                walk(payload, &mut visitor).map_err(|malformed| malformed.into_error())?;
            }
        }
        for (i, column) in self.columns.iter().enumerate() {
            self.fill(i, column, payload, row).map_err(|error| error.at_feature(&column.key))?;
        }
        Ok(())
    }

    fn fill(&self, i: usize, column: &PlanColumn, payload: &[u8], row: &mut RowValues) -> Result<()> {
        match &column.spec {
            FeatureSpec::Raw => row.push_bytes(payload),
            FeatureSpec::Sequence { shape, .. } => {
                if let Some(list) = row.lists[i] {
                    fill_steps(column, shape.is_some(), &list, payload, row)?;
                }
            }
            spec => {
                let found = row.found[i].filter(|found| found.kind != Kind::None);
                let Some(found) = found else {
                    fill_missing(column, row)?;
                    row.end_column(i);
                    return Ok(());
                };
                check_kind(column, &found)?;
                match spec {
                    FeatureSpec::Image(_) => row.set_image(i, one_value(&found, payload)?),
                    FeatureSpec::DecodeRaw { .. } => {
                        fill_raw(spec, column, one_value(&found, payload)?, payload, row)?
                    }
                    FeatureSpec::FixedLen { .. } if found.count != column.elements => {
                        return Err(wrong_shape(found.count, column.elements));
                    }
                    FeatureSpec::Padded { .. } if !found.count.is_multiple_of(column.elements) => {
                        let whole = found.count.next_multiple_of(column.elements);
                        return Err(wrong_shape(found.count, whole));
                    }
                    _ => push_values(&found, payload, row),
                }
            }
        }
        row.end_column(i);
        Ok(())
    }
}

struct FeaturesOnly<'r> {
    plan: &'r Plan,
    found: &'r mut [Option<Found>],
    lists: bool,
}

impl<'a> Visitor<'a> for FeaturesOnly<'_> {
    const LISTS: bool = false;

    #[inline]
    fn entry(&mut self, entry: Cursor<'a>) -> Parse<()> {
        note(self.plan, self.found, entry)
    }

    fn lists_skipped(&mut self) {
        self.lists = true;
    }
}

struct WithLists<'r> {
    plan: &'r Plan,
    found: &'r mut [Option<Found>],
    lists: &'r mut [Option<FoundList>],
}

impl<'a> Visitor<'a> for WithLists<'_> {
    const LISTS: bool = true;

    fn entry(&mut self, entry: Cursor<'a>) -> Parse<()> {
        note(self.plan, self.found, entry)
    }

    fn list(&mut self, key: &'a [u8], list: FoundList) {
        if let Some(i) = self.plan.lists.get(key) {
            self.lists[i] = Some(list);
        }
    }
}

#[inline]
fn note(plan: &Plan, slots: &mut [Option<Found>], entry: Cursor<'_>) -> Parse<()> {
    let (key, found) = found::entry(entry)?;
    if let Some(i) = plan.keys.get(key)
        && (found.kind != Kind::None || slots[i].is_none())
    {
        slots[i] = Some(found);
    }
    Ok(())
}

fn check_kind(column: &PlanColumn, found: &Found) -> Result<()> {
    let expected = column.kind();
    match found.kind == expected {
        true => Ok(()),
        false => Err(wrong_kind(expected, found.kind)),
    }
}

fn wrong_kind(expected: Kind, found: Kind) -> Error {
    let (expected, found) = (expected.name(), found.name());
    let reason = format!("the feature is of kind {found} where {expected} is asked for");
    Error::new(ErrorKind::WrongKind { expected, found }, reason)
        .with_help("say what the records hold with `with_features`")
}

fn wrong_shape(found: usize, expected: usize) -> Error {
    let kind = ErrorKind::WrongShape { found: found as u64, expected: expected as u64 };
    Error::new(kind, format!("{found} values where {expected} are asked for")).with_help(
        "read a varying number of values by var_len or padded, or say otherwise with `with_features`",
    )
}

fn missing(column: &PlanColumn) -> Error {
    let help = match column.spec {
        FeatureSpec::FixedLen { .. } => "give it a default_value or read it by var_len, with `with_features`",
        _ => "leave it out with `with_features`",
    };
    Error::new(ErrorKind::MissingFeature, "the record has no such feature").with_help(help)
}

/// The place of the only value of a bytes feature.
fn one_value(found: &Found, payload: &[u8]) -> Result<Range<usize>> {
    if found.count == 1
        && let Some(Run::Length(value)) = Runs::new(found, payload).next()
    {
        return Ok(value.pos()..value.end());
    }
    Err(wrong_shape(found.count, 1))
}

/// What a column gets from a record that lacks its feature.
fn fill_missing(column: &PlanColumn, row: &mut RowValues) -> Result<()> {
    match &column.spec {
        FeatureSpec::VarLen { .. } | FeatureSpec::Padded { .. } => Ok(()),
        FeatureSpec::FixedLen { dtype, default: Some(default), .. } if !default.is_empty() => {
            let repeat = if default.len() == column.elements { 1 } else { column.elements };
            for _ in 0..repeat {
                match default {
                    DefaultValue::Int64(values) if *dtype == DType::Float32 => {
                        row.floats.extend(values.iter().map(|&value| value as f32));
                    }
                    DefaultValue::Int64(values) => row.int64s.extend_from_slice(values),
                    DefaultValue::Float(values) => row.floats.extend_from_slice(values),
                    DefaultValue::Bytes(values) => values.iter().for_each(|value| row.push_bytes(value)),
                }
            }
            Ok(())
        }
        _ => Err(missing(column)),
    }
}

fn push_values(found: &Found, payload: &[u8], row: &mut RowValues) {
    let runs = Runs::new(found, payload);
    match found.kind {
        Kind::Bytes => {
            for run in runs {
                if let Run::Length(value) = run {
                    row.push_bytes(value.rest());
                }
            }
        }
        Kind::Float => {
            for run in runs {
                match run {
                    Run::Length(packed) => {
                        let (fours, _) = packed.rest().as_chunks::<4>();
                        row.floats.extend(fours.iter().map(|four| f32::from_le_bytes(*four)));
                    }
                    Run::Fixed32(four) => row.floats.push(f32::from_le_bytes(four)),
                    Run::Varint(_) => {}
                }
            }
        }
        Kind::Int64 => {
            for run in runs {
                match run {
                    Run::Length(mut packed) => {
                        while let (false, Ok(value)) = (packed.at_end(), packed.varint()) {
                            row.int64s.push(value.cast_signed());
                        }
                    }
                    Run::Varint(value) => row.int64s.push(value.cast_signed()),
                    Run::Fixed32(_) => {}
                }
            }
        }
        Kind::None => {}
    }
}

/// The steps of a list; a step without a list has no values.
fn fill_steps(
    column: &PlanColumn,
    fixed: bool,
    list: &FoundList,
    payload: &[u8],
    row: &mut RowValues,
) -> Result<()> {
    for found in Steps::new(list, payload) {
        if found.kind != Kind::None {
            check_kind(column, &found)?;
        }
        if fixed && found.count != column.elements {
            return Err(wrong_shape(found.count, column.elements));
        }
        push_values(&found, payload, row);
        row.steps.push(found.count);
    }
    Ok(())
}

fn fill_raw(
    spec: &FeatureSpec,
    column: &PlanColumn,
    place: Range<usize>,
    payload: &[u8],
    row: &mut RowValues,
) -> Result<()> {
    let FeatureSpec::DecodeRaw { dtype, shape, fixed_length, .. } = spec else { return Ok(()) };
    let size = dtype.size().unwrap_or(1);
    let bytes = &payload[place];
    let length = fixed_length.unwrap_or(bytes.len());
    if !length.is_multiple_of(size) {
        let kind =
            ErrorKind::WrongShape { found: length as u64, expected: length.next_multiple_of(size) as u64 };
        let reason = format!("{length} bytes are no whole number of {dtype}, which have {size}");
        return Err(
            Error::new(kind, reason).with_help("give another dtype or a fixed_length, with `with_features`")
        );
    }
    if shape.is_some() && length / size != column.elements {
        return Err(wrong_shape(length / size, column.elements));
    }
    row.push_bytes_padded(bytes, length);
    Ok(())
}
