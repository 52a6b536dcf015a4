//! What the names of files tell: which are data, which belong to one set, and in which order they come.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};

/// The largest set there is. A name alone may not cost more than looking for so many others.
pub(super) const MOST_SHARDS: u64 = 1_000_000;

/// A name `PREFIX-00003-of-00010SUFFIX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbered<'a> {
    pub(super) prefix: &'a OsStr,
    pub(super) number: u64,
    pub(super) count: u64,
    pub(super) suffix: &'a OsStr,
    /// The digits of the number and of the count.
    digits: (usize, usize),
}

impl<'a> Numbered<'a> {
    /// Takes a name apart; `None` where it is none of a set, or where its number is not below its count.
    pub(super) fn parse(name: &'a OsStr) -> Option<Numbered<'a>> {
        let bytes = name.as_encoded_bytes();
        let of = (0..bytes.len()).rev().find(|&at| bytes[at..].starts_with(b"-of-"))?;
        let number_len = bytes[..of].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let count_len = bytes[of + 4..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let dash = of.checked_sub(number_len + 1)?;
        if bytes[dash] != b'-' {
            return None;
        }
        let value = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<u64>().ok();
        let (number, count) = (value(&bytes[dash + 1..of])?, value(&bytes[of + 4..of + 4 + count_len])?);
        if number >= count || count > MOST_SHARDS {
            return None;
        }
        let (prefix, suffix) = (part(name, 0, dash), part(name, of + 4 + count_len, bytes.len()));
        Some(Numbered { prefix, number, count, suffix, digits: (number_len, count_len) })
    }

    /// The name of another file of the set.
    pub(super) fn of_number(&self, number: u64) -> OsString {
        let (number_len, count_len) = self.digits;
        self.with(&format!("-{number:0number_len$}-of-{:0count_len$}", self.count))
    }

    /// A pattern for all files of the set.
    pub(super) fn any(&self) -> OsString {
        let count_len = self.digits.1;
        self.with(&format!("-*-of-{:0count_len$}", self.count))
    }

    fn with(&self, middle: &str) -> OsString {
        let mut name = self.prefix.to_os_string();
        name.push(middle);
        name.push(self.suffix);
        name
    }
}

/// A part of a name, cut next to ASCII characters.
fn part(name: &OsStr, from: usize, to: usize) -> &OsStr {
    #[cfg(unix)]
    {
        std::os::unix::ffi::OsStrExt::from_bytes(&name.as_encoded_bytes()[from..to])
    }
    #[cfg(not(unix))]
    {
        OsStr::new(name.to_str().and_then(|name| name.get(from..to)).unwrap_or_default())
    }
}

/// Endings of files that are written next to data and are never data.
const STRAY_ENDINGS: &[&str] = &[
    "crc",
    "index",
    "idx",
    "tfindex",
    "tfri",
    "txt",
    "json",
    "jsonl",
    "tmp",
    "temp",
    "md",
    "rst",
    "csv",
    "tsv",
    "log",
    "yaml",
    "yml",
    "xml",
    "html",
    "pbtxt",
    "py",
    "sh",
    "sha256",
    "md5",
    "lock",
    "part",
    "partial",
    "crdownload",
    "bak",
    "spec",
    "parquet",
    "npz",
    "npy",
    "swp",
];

/// Names without an ending that are no data.
const STRAY_NAMES: &[&str] = &["README", "LICENSE", "LICENCE", "NOTICE", "CHANGELOG", "MANIFEST", "Makefile"];

/// True for names of files that are never data: markers of other tools, notes, half-written files.
pub(super) fn is_stray(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    let is = |a: &[u8], b: &str| a.eq_ignore_ascii_case(b.as_bytes());
    bytes.starts_with(b".")
        || bytes.starts_with(b"_")
        || bytes.ends_with(b"~")
        || STRAY_NAMES.iter().any(|stray| is(bytes, stray))
        || ending(bytes).is_some_and(|ending| STRAY_ENDINGS.iter().any(|stray| is(ending, stray)))
}

/// Endings that name TFRecord data.
const KNOWN_ENDINGS: &[&str] =
    &["tfrecord", "tfrecords", "tfrec", "tfr", "record", "records", "recordio", "tfevents"];

/// True for names that are known for TFRecord data: by their ending, as a shard of a set, as a part of a Spark job.
pub(super) fn is_known(name: &OsStr) -> bool {
    let bytes = uncompressed(name.as_encoded_bytes());
    Numbered::parse(name).is_some()
        || is_spark_part(bytes)
        || bytes.windows(9).any(|window| window == b".tfevents")
        || ending(bytes).is_some_and(|ending| {
            let ending = ending.split(|&byte| byte == b'-' || byte == b'_').next_back().unwrap_or_default();
            KNOWN_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known.as_bytes()))
        })
}

fn ending(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    Some(&name[dot + 1..])
}

fn uncompressed(name: &[u8]) -> &[u8] {
    [&b".gz"[..], b".zz", b".zlib", b".zst", b".bz2", b".snappy", b".deflate"]
        .iter()
        .find_map(|ending| name.strip_suffix(*ending))
        .unwrap_or(name)
}

/// `part-00000`, `part-r-00000`, `part-00000-UUID-c000.tfrecord`.
fn is_spark_part(name: &[u8]) -> bool {
    name.strip_prefix(b"part-").is_some_and(|rest| {
        let rest = rest.strip_prefix(b"r-").or_else(|| rest.strip_prefix(b"m-")).unwrap_or(rest);
        rest.first().is_some_and(u8::is_ascii_digit)
    })
}

/// Equal for the files of one set: the name without its numbers.
pub(super) fn set_key(name: &OsStr) -> Vec<u8> {
    if let Some(shard) = Numbered::parse(name) {
        // Generations of a set are told apart later, with a better message.
        return [shard.prefix.as_encoded_bytes(), b"-#-of-#", shard.suffix.as_encoded_bytes()].concat();
    }
    if is_spark_part(name.as_encoded_bytes()) {
        return b"part-#".to_vec();
    }
    without_numbers(name.as_encoded_bytes(), b'#')
}

/// A pattern that matches the files of a name's set.
pub(super) fn set_pattern(name: &OsStr) -> String {
    let pattern = match Numbered::parse(name) {
        Some(shard) => shard.any().into_encoded_bytes(),
        None if is_spark_part(name.as_encoded_bytes()) => b"part-*".to_vec(),
        None => without_numbers(name.as_encoded_bytes(), b'*'),
    };
    String::from_utf8_lossy(&pattern).into_owned()
}

fn without_numbers(name: &[u8], instead: u8) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len());
    for (i, &byte) in name.iter().enumerate() {
        if !byte.is_ascii_digit() {
            key.push(byte);
        } else if i == 0 || !name[i - 1].is_ascii_digit() {
            key.push(instead);
        }
    }
    key
}

/// Natural order: runs of digits by their value, all else by bytes; ties by bytes.
pub(super) fn natural(a: &OsStr, b: &OsStr) -> Ordering {
    let (a, b) = (a.as_encoded_bytes(), b.as_encoded_bytes());
    let (mut left, mut right) = (a, b);
    loop {
        let (Some(&x), Some(&y)) = (left.first(), right.first()) else {
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (x, y) = (digits(left), digits(right));
            let value = |run: &[u8]| run.iter().position(|&byte| byte != b'0').unwrap_or(run.len());
            let (p, q) = (&x[value(x)..], &y[value(y)..]);
            // Of numbers without leading zeros the longer is the greater.
            let order = p.len().cmp(&q.len()).then_with(|| p.cmp(q));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (&left[x.len()..], &right[y.len()..]);
        } else {
            if x != y {
                return x.cmp(&y);
            }
            (left, right) = (&left[1..], &right[1..]);
        }
    }
}

fn digits(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    &bytes[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_order() {
        let mut names =
            ["a10", "a9", "a09", "a", "b1", "a9b", "a1-2", "a1-10", "a18446744073709551617", "a2"];
        names.sort_by(|a, b| natural(OsStr::new(a), OsStr::new(b)));
        let sorted = ["a", "a1-2", "a1-10", "a2", "a09", "a9", "a9b", "a10", "a18446744073709551617", "b1"];
        assert_eq!(names, sorted);
    }

    #[test]
    fn numbered_names() {
        let parse = |name| Numbered::parse(OsStr::new(name)).map(|n| (n.number, n.count));
        assert_eq!(parse("x-00003-of-00010"), Some((3, 10)));
        assert_eq!(parse("a-of-b-1-of-2.tfrecord.gz"), Some((1, 2)));
        for name in [
            "x-3-of-3",
            "x3-of-10",
            "-of-",
            "x--of-5",
            "x-1-of-",
            "x-1-of-99999999999999999999",
            "x-1-of-1000001",
            "train",
        ] {
            assert_eq!(parse(name), None, "{name}");
        }
        let name = OsStr::new("x.tfrecord-00003-of-00010.gz");
        assert_eq!(Numbered::parse(name).unwrap().of_number(7), "x.tfrecord-00007-of-00010.gz");
    }
}
