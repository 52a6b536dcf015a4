//! Was it the right answer? Counts, checksums and values against what the definition expects.

use crate::definition::{Engine, Expect, Role, Tolerance};

/// CRC-32 (IEEE 802.3, the one of zlib) of `bytes`, continued from `crc` (0 to begin).
pub fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    static TABLE: [u32; 256] = table();
    let step = |c: u32, b: &u8| TABLE[usize::from((c as u8) ^ b)] ^ (c >> 8);
    !bytes.iter().fold(!crc, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut c = i as u32;
        let mut bit = 0;
        while bit < 8 {
            c = if c & 1 == 1 { 0xEDB8_8320 ^ (c >> 1) } else { c >> 1 };
            bit += 1;
        }
        table[i] = c;
        i += 1;
    }
    table
}

/// The checksum of delivered record numbers: CRC-32 over them sorted, each as 8 bytes little-endian, as 8 hex digits. Two lists
/// agree only if they hold the same numbers equally often.
pub fn ids_checksum(ids: &[u64]) -> String {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    format!("{:08x}", ids.iter().fold(0, |crc, id| crc32(crc, &id.to_le_bytes())))
}

/// The checksum of `records` records, each delivered `epochs` times.
pub fn expected_checksum(records: u64, epochs: u64) -> String {
    let repeated = (0..records).flat_map(|id| std::iter::repeat_n(id, epochs as usize));
    format!("{:08x}", repeated.fold(0, |crc, id| crc32(crc, &id.to_le_bytes())))
}

/// What the engine said, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Records delivered.
    pub delivered: Option<u64>,
    /// Its checksum.
    pub checksum: Option<String>,
    /// Payload bytes seen.
    pub bytes: Option<u64>,
    /// Values of the sampled records, in the order asked for.
    pub values: Option<Vec<f32>>,
}

/// What is right: the definition's expectation with the data set's own facts filled in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Truth {
    /// Records delivered.
    pub delivered: Option<u64>,
    /// Checksum of them.
    pub checksum: Option<String>,
    /// Payload bytes.
    pub bytes: Option<u64>,
    /// Reference values of the sampled records, one after the other.
    pub values: Option<Vec<f32>>,
    /// How many records are sampled.
    pub sampled: usize,
}

/// How far values are from the reference, in levels of 255.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// Largest difference.
    pub max: f64,
    /// Mean difference.
    pub mean: f64,
}

/// The distance of `values` (where 1.0 is full scale) from as many of `reference`.
fn distance(values: &[f32], reference: &[f32]) -> Distance {
    let differences = || values.iter().zip(reference).map(|(a, b)| f64::from((a - b).abs()) * 255.0);
    Distance {
        max: differences().fold(0.0, f64::max),
        mean: differences().sum::<f64>() / values.len().max(1) as f64,
    }
}

/// The distance over all `sampled` records, when none of them is beyond `tolerance`: one wrong picture among many right ones would be
/// lost in a mean over all.
///
/// # Errors
/// Values that are not comparable, or the record that is beyond.
fn compare(
    values: &[f32],
    reference: &[f32],
    sampled: usize,
    tolerance: Tolerance,
) -> Result<Distance, String> {
    if values.len() != reference.len() || values.is_empty() {
        return Err(format!("gave {} values instead of {}", values.len(), reference.len()));
    }
    if let Some(value) = values.iter().find(|v| !v.is_finite()) {
        return Err(format!("gave the value {value}"));
    }
    let row = (values.len() / sampled.max(1)).max(1);
    for (i, (ours, theirs)) in values.chunks(row).zip(reference.chunks(row)).enumerate() {
        let off = distance(ours, theirs);
        if off.max > tolerance.max || off.mean > tolerance.mean {
            return Err(format!(
                "values up to {:.3} and on average {:.4} levels from the reference in sampled record {i}; at most {} and {} are stated",
                off.max, off.mean, tolerance.max, tolerance.mean
            ));
        }
    }
    Ok(distance(values, reference))
}

/// Why `answer` is wrong, or how far its values are from the reference.
///
/// # Errors
/// The first disagreement, in words.
pub fn verdict(
    expect: &Expect,
    engine: &Engine,
    truth: &Truth,
    answer: &Answer,
) -> Result<Option<Distance>, String> {
    if let Some(want) = truth.delivered {
        match answer.delivered {
            Some(got) if got == want => {}
            Some(got) => return Err(format!("delivered {got} records instead of {want}")),
            None => return Err("did not say how many records it delivered".into()),
        }
    }
    if let Some(want) = truth.checksum.as_ref().filter(|_| !engine.uncounted) {
        match &answer.checksum {
            Some(got) if got == want => {}
            Some(got) => return Err(format!("checksum {got} instead of {want}")),
            None => return Err("gave no checksum".into()),
        }
    }
    if let Some(want) = truth.bytes.filter(|_| expect.bytes && !engine.uncounted) {
        match answer.bytes {
            Some(got) if got == want => {}
            got => return Err(format!("saw {got:?} payload bytes instead of {want}")),
        }
    }
    if !expect.values || engine.role == Role::Floor {
        return Ok(None);
    }
    let reference = truth.values.as_deref().ok_or("the reference values are missing")?;
    let values = answer.values.as_deref().ok_or("gave no values of the sampled records")?;
    let tolerance = engine.tolerance.unwrap_or(Tolerance { max: 0.0, mean: 0.0 });
    compare(values, reference, truth.sampled, tolerance).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_is_zlibs() {
        assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(crc32(0, b"1234"), b"56789"), 0xCBF4_3926);
    }

    #[test]
    fn a_lost_or_doubled_record_changes_the_checksum() {
        let all: Vec<u64> = (0..100).rev().collect();
        assert_eq!(ids_checksum(&all), expected_checksum(100, 1));
        let mut doubled = all.clone();
        doubled[3] = doubled[4];
        assert_ne!(ids_checksum(&doubled), expected_checksum(100, 1));
        let twice = [all.clone(), all].concat();
        assert_eq!(ids_checksum(&twice), expected_checksum(100, 2));
    }

    const LOOSE: Tolerance = Tolerance { max: 255.0, mean: 12.0 };

    #[test]
    fn values_that_are_not_there_or_not_finite_are_wrong() {
        assert_eq!(compare(&[0.5], &[0.5, 0.5], 1, LOOSE).unwrap_err(), "gave 1 values instead of 2");
        assert_eq!(compare(&[f32::NAN], &[0.5], 1, LOOSE).unwrap_err(), "gave the value NaN");
        assert_eq!(distance(&[0.0, 1.0], &[0.0, 0.0]), Distance { max: 255.0, mean: 127.5 });
    }

    #[test]
    fn one_wrong_record_is_not_lost_among_right_ones() {
        let right = vec![0.5f32; 32 * 100];
        let mut one_black = right.clone();
        one_black[300..400].fill(0.0);
        assert!(distance(&one_black, &right).mean < LOOSE.mean);
        assert!(compare(&one_black, &right, 32, LOOSE).unwrap_err().contains("in sampled record 3;"));
        assert!(compare(&right, &right, 32, LOOSE).is_ok());
    }
}
