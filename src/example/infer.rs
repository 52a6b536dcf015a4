//! Features for a set that nobody described.

use crate::error::{Error, ErrorKind, Result, escape_key};
use crate::example::dtype::DType;
use crate::example::features::{FeatureSpec, Features};
use crate::example::kind::Kind;
use crate::example::profile::{KeyProfile, Profile};
use crate::image::ImageSpec;

/// How many records are looked at.
const SAMPLE: u64 = 64;

impl Profile {
    /// The records to look at in a set of `len`: all of up to 64, else 64 spread evenly from the first to the last.
    pub fn sample(len: u64) -> impl Iterator<Item = u64> {
        let count = len.min(SAMPLE);
        (0..count).map(move |i| match len > SAMPLE {
            true => (u128::from(i) * u128::from(len - 1) / u128::from(SAMPLE - 1)) as u64,
            false => i,
        })
    }

    /// Features that read what was seen.
    ///
    /// A key with one picture by content (in more than half of the records; others are errors when they are read)
    /// becomes an image column; a number that is once in every record a scalar column; anything else a ragged one, lists
    /// of sequences too. A key whose kind changes is left out, which is said through `log`. Where no payload is an
    /// Example with features, it is [`Features::raw`].
    pub fn features(&self) -> Features {
        let examples = self.examples();
        let mut features = Features::new();
        for (key, profile) in self.keys() {
            let Some(dtype) = dtype_of(key, profile) else { continue };
            let once = profile.present - profile.unset == examples
                && profile.count.is_some_and(|count| count.min == 1 && count.max == 1);
            let spec = match dtype {
                DType::Bytes if once && profile.image().is_some() => FeatureSpec::Image(ImageSpec::default()),
                DType::Int64 | DType::Float32 if once => {
                    FeatureSpec::FixedLen { dtype, shape: Vec::new(), default: None }
                }
                dtype => FeatureSpec::VarLen { dtype },
            };
            features = features.with(key, spec);
        }
        for (key, profile) in self.lists() {
            if features.get(key).is_some() {
                log::warn!("feature list {:?} has the key of a context feature: left out", escape_key(key));
            } else if let Some(dtype) = dtype_of(key, &profile.step) {
                features = features.with(key, FeatureSpec::Sequence { dtype, shape: None });
            }
        }
        if features.is_empty() { Features::raw() } else { features }
    }
}

fn dtype_of(key: &[u8], profile: &KeyProfile) -> Option<DType> {
    match profile.kind() {
        Some(Kind::Bytes) => Some(DType::Bytes),
        Some(Kind::Float) => Some(DType::Float32),
        Some(Kind::Int64) => Some(DType::Int64),
        Some(Kind::None) | None => {
            let kinds: Vec<_> = profile
                .kinds()
                .iter()
                .map(|(kind, records)| format!("{} in {records}", kind.name()))
                .collect();
            let seen = if kinds.is_empty() { "no values".to_string() } else { kinds.join(", ") };
            log::warn!("feature {:?} is left out of the inferred features: {seen}", escape_key(key));
            None
        }
    }
}

impl Features {
    /// Features that read these payloads: see [`Profile::features`].
    pub fn infer<P: AsRef<[u8]>>(payloads: impl IntoIterator<Item = P>) -> Features {
        let mut profile = Profile::new();
        payloads.into_iter().for_each(|payload| profile.add(payload.as_ref()));
        profile.features()
    }

    /// The key of the labels: a column of int64 scalars that is named `image/class/label`; else the only one whose last
    /// path part is `label`; else the only one.
    ///
    /// # Errors
    /// `InvalidArgument` that lists the candidates, where there is none or more than one.
    pub fn label_key(&self) -> Result<&[u8]> {
        let scalars: Vec<&[u8]> = self.keys_where(|spec| {
            matches!(spec, FeatureSpec::FixedLen { dtype: DType::Int64, shape, .. } if shape.is_empty())
        });
        if let Some(key) = scalars.iter().find(|key| **key == b"image/class/label") {
            return Ok(key);
        }
        let named: Vec<&[u8]> = scalars
            .iter()
            .copied()
            .filter(|key| key.rsplit(|byte| *byte == b'/').next() == Some(b"label"))
            .collect();
        only(
            if named.is_empty() { scalars } else { named },
            "column of int64 scalars that could be the labels",
        )
    }

    /// The key of the pictures: the only image column.
    ///
    /// # Errors
    /// `InvalidArgument` that lists the candidates, where there is none or more than one.
    pub fn image_key(&self) -> Result<&[u8]> {
        only(self.keys_where(|spec| matches!(spec, FeatureSpec::Image(_))), "image column")
    }

    fn keys_where(&self, wanted: impl Fn(&FeatureSpec) -> bool) -> Vec<&[u8]> {
        self.iter().filter(|(_, spec)| wanted(spec)).map(|(key, _)| key).collect()
    }
}

fn only<'k>(keys: Vec<&'k [u8]>, what: &str) -> Result<&'k [u8]> {
    match keys[..] {
        [key] => Ok(key),
        [] => Err(Error::new(ErrorKind::InvalidArgument, format!("there is no {what}"))),
        _ => {
            let keys: Vec<_> = keys.iter().map(|key| format!("\"{}\"", escape_key(key))).collect();
            Err(Error::invalid(format!("there is more than one {what}: {}", keys.join(", ")))
                .with_help("take the one you mean by its name, with `column` or `take`"))
        }
    }
}
