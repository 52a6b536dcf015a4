//! Features made ready for reading: one walk of a payload gives the values of all columns.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::example::dtype::DType;
use crate::example::features::{DefaultValue, FeatureSpec, Features, elements};
use crate::example::found::{self, Found};
use crate::example::keys::KeyIndex;
use crate::example::kind::Kind;
use crate::example::row::{ColumnRows, Walked};
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

    /// True where every row has one value for each element of the shape.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.spec, FeatureSpec::FixedLen { .. } | FeatureSpec::Raw)
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

    /// Walks over a payload: checks all of it, and notes where each column's values are. Allocates nothing once `walked` has
    /// been used.
    ///
    /// An entry without a list counts as absent, so that an earlier one of the same key stands, as in TensorFlow.
    ///
    /// # Errors
    /// `MalformedProto` with the byte within the payload.
    pub(crate) fn walk(&self, payload: &[u8], walked: &mut Walked) -> Result<()> {
        walked.clear(self.columns.len());
        if !self.parses {
            return Ok(());
        }
        if self.lists.is_empty() {
            let mut visitor = FeaturesOnly { plan: self, found: &mut walked.found, lists: false };
            walk(payload, &mut visitor).map_err(|malformed| malformed.into_error())?;
            if visitor.lists {
                say_once_that_lists_are_not_seen();
            }
            return Ok(());
        }
        let mut visitor = WithLists { plan: self, found: &mut walked.found, lists: &mut walked.lists };
        walk(payload, &mut visitor).map_err(|malformed| malformed.into_error())
    }

    /// The place of the encoded picture of image column `i` in a payload that was walked over.
    ///
    /// # Errors
    /// `MissingFeature`, `WrongKind` and `WrongShape` with the key.
    pub(crate) fn image(&self, i: usize, payload: &[u8], walked: &Walked) -> Result<Range<usize>> {
        let column = &self.columns[i];
        let image = || match found(column, walked.found[i])? {
            Some(found) => one_value(&found, payload),
            None => Err(missing(column)),
        };
        image().map_err(|error| error.at_feature(&column.key))
    }

    /// Puts the values of fixed-length column `i` where they belong: as many as the column's shape has.
    ///
    /// # Errors
    /// As [`image`](Plan::image).
    #[inline]
    pub(crate) fn floats(&self, i: usize, payload: &[u8], walked: &Walked, out: &mut [f32]) -> Result<()> {
        let column = &self.columns[i];
        let mut left = out;
        let mut floats = || {
            if let Some(found) = fixed(column, walked.found[i])? {
                each_floats(&found, payload, |fours| {
                    let part = left.split_off_mut(..fours.len()).unwrap_or_default();
                    part.iter_mut().zip(fours).for_each(|(to, four)| *to = f32::from_le_bytes(*four));
                });
                return Ok(());
            }
            match default(column)? {
                DefaultValue::Int64(values) => repeat(left, values, |value| *value as f32),
                DefaultValue::Float(values) => repeat(left, values, |value| *value),
                DefaultValue::Bytes(_) => {}
            }
            Ok(())
        };
        floats().map_err(|error: Error| error.at_feature(&column.key))
    }

    /// As [`floats`](Plan::floats), for integers.
    ///
    /// # Errors
    /// As [`image`](Plan::image).
    #[inline]
    pub(crate) fn int64s(&self, i: usize, payload: &[u8], walked: &Walked, out: &mut [i64]) -> Result<()> {
        let column = &self.columns[i];
        let mut int64s = || {
            if let Some(found) = fixed(column, walked.found[i])? {
                let mut left = out.iter_mut();
                each_int64(&found, payload, |value| {
                    if let Some(to) = left.next() {
                        *to = value;
                    }
                });
            } else if let DefaultValue::Int64(values) = default(column)? {
                repeat(out, values, |value| *value);
            }
            Ok(())
        };
        int64s().map_err(|error: Error| error.at_feature(&column.key))
    }

    /// Puts the values of column `i` behind the rows of `rows`, as one more row; of a picture, its encoded bytes. Allocates
    /// nothing once `rows` has held as much. On error, values may be left behind that belong to no row.
    ///
    /// # Errors
    /// As [`image`](Plan::image).
    pub(crate) fn push(
        &self,
        i: usize,
        payload: &[u8],
        walked: &Walked,
        rows: &mut ColumnRows,
    ) -> Result<()> {
        let column = &self.columns[i];
        push_row(i, column, payload, walked, rows).map_err(|error| error.at_feature(&column.key))?;
        rows.end_row();
        Ok(())
    }
}

fn push_row(
    i: usize,
    column: &PlanColumn,
    payload: &[u8],
    walked: &Walked,
    rows: &mut ColumnRows,
) -> Result<()> {
    match &column.spec {
        FeatureSpec::Raw => rows.push_bytes(payload),
        FeatureSpec::Sequence { shape, .. } => {
            if let Some(list) = walked.lists[i] {
                fill_steps(column, shape.is_some(), &list, payload, rows)?;
            }
        }
        spec => {
            let Some(found) = found(column, walked.found[i])? else {
                return fill_missing(column, rows);
            };
            match spec {
                FeatureSpec::Image(_) => rows.push_bytes(&payload[one_value(&found, payload)?]),
                FeatureSpec::DecodeRaw { .. } => {
                    fill_raw(spec, column, one_value(&found, payload)?, payload, rows)?
                }
                FeatureSpec::FixedLen { .. } if found.count != column.elements => {
                    return Err(wrong_shape(found.count, column.elements));
                }
                FeatureSpec::Padded { .. } if !found.count.is_multiple_of(column.elements) => {
                    let whole = found.count.next_multiple_of(column.elements);
                    return Err(wrong_shape(found.count, whole));
                }
                _ => push_values(&found, payload, rows),
            }
        }
    }
    Ok(())
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

/// What a column is read from, if it is there.
#[inline]
fn found(column: &PlanColumn, found: Option<Found>) -> Result<Option<Found>> {
    let found = found.filter(|found| found.kind != Kind::None);
    if let Some(found) = &found {
        check_kind(column, found)?;
    }
    Ok(found)
}

/// As [`found`], of as many values as the column's shape has.
#[inline]
fn fixed(column: &PlanColumn, walked: Option<Found>) -> Result<Option<Found>> {
    match found(column, walked)? {
        Some(found) if found.count != column.elements => Err(wrong_shape(found.count, column.elements)),
        found => Ok(found),
    }
}

#[inline]
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

/// What a fixed-length column gets from a record that lacks its feature.
fn default(column: &PlanColumn) -> Result<&DefaultValue> {
    match &column.spec {
        FeatureSpec::FixedLen { default: Some(default), .. } if !default.is_empty() => Ok(default),
        _ => Err(missing(column)),
    }
}

/// The values, as often as they fit.
fn repeat<T, U>(out: &mut [U], values: &[T], convert: impl Fn(&T) -> U) {
    out.iter_mut().zip(values.iter().cycle()).for_each(|(to, value)| *to = convert(value));
}

/// What a column gets from a record that lacks its feature.
fn fill_missing(column: &PlanColumn, rows: &mut ColumnRows) -> Result<()> {
    if let FeatureSpec::VarLen { .. } | FeatureSpec::Padded { .. } = column.spec {
        return Ok(());
    }
    let (default, count) = (default(column)?, column.elements);
    match default {
        DefaultValue::Int64(values) if column.dtype() == DType::Float32 => {
            rows.floats.extend(values.iter().cycle().take(count).map(|&value| value as f32));
        }
        DefaultValue::Int64(values) => rows.int64s.extend(values.iter().cycle().take(count)),
        DefaultValue::Float(values) => rows.floats.extend(values.iter().cycle().take(count)),
        DefaultValue::Bytes(values) => {
            values.iter().cycle().take(count).for_each(|value| rows.push_bytes(value));
        }
    }
    Ok(())
}

fn push_values(found: &Found, payload: &[u8], rows: &mut ColumnRows) {
    match found.kind {
        Kind::Bytes => {
            for run in Runs::new(found, payload) {
                if let Run::Length(value) = run {
                    rows.push_bytes(value.rest());
                }
            }
        }
        Kind::Float => each_floats(found, payload, |fours| {
            rows.floats.extend(fours.iter().map(|four| f32::from_le_bytes(*four)));
        }),
        Kind::Int64 => each_int64(found, payload, |value| rows.int64s.push(value)),
        Kind::None => {}
    }
}

/// The floats of a feature, as many at a time as lie one behind the other.
#[inline]
fn each_floats(found: &Found, payload: &[u8], mut take: impl FnMut(&[[u8; 4]])) {
    for run in Runs::new(found, payload) {
        match run {
            Run::Length(packed) => take(packed.rest().as_chunks::<4>().0),
            Run::Fixed32(four) => take(&[four]),
            Run::Varint(_) => {}
        }
    }
}

#[inline]
fn each_int64(found: &Found, payload: &[u8], mut take: impl FnMut(i64)) {
    for run in Runs::new(found, payload) {
        match run {
            Run::Length(mut packed) => {
                while let (false, Ok(value)) = (packed.at_end(), packed.varint()) {
                    take(value.cast_signed());
                }
            }
            Run::Varint(value) => take(value.cast_signed()),
            Run::Fixed32(_) => {}
        }
    }
}

/// The steps of a list; a step without a list has no values.
fn fill_steps(
    column: &PlanColumn,
    fixed: bool,
    list: &FoundList,
    payload: &[u8],
    rows: &mut ColumnRows,
) -> Result<()> {
    for found in Steps::new(list, payload) {
        if found.kind != Kind::None {
            check_kind(column, &found)?;
        }
        if fixed && found.count != column.elements {
            return Err(wrong_shape(found.count, column.elements));
        }
        push_values(&found, payload, rows);
        rows.steps.push(found.count);
    }
    Ok(())
}

fn fill_raw(
    spec: &FeatureSpec,
    column: &PlanColumn,
    place: Range<usize>,
    payload: &[u8],
    rows: &mut ColumnRows,
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
    rows.push_bytes_padded(bytes, length);
    Ok(())
}
