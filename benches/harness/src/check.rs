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
    /// Reference values of the sampled records.
    pub values: Option<Vec<f32>>,
}

/// How far values are from the reference, in levels of 255.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// Largest difference.
    pub max: f64,
    /// Mean difference.
    pub mean: f64,
}

/// The distance of `values` (where 1.0 is full scale) from `reference`; `None` when the lengths differ or a value is not finite.
pub fn distance(values: &[f32], reference: &[f32]) -> Option<Distance> {
    if values.len() != reference.len() || values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let differences = || values.iter().zip(reference).map(|(a, b)| f64::from((a - b).abs()) * 255.0);
    Some(Distance {
        max: differences().fold(0.0, f64::max),
        mean: differences().sum::<f64>() / values.len() as f64,
    })
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
    let distance = distance(values, reference)
        .ok_or_else(|| format!("gave {} values where {} are sampled", values.len(), reference.len()))?;
    let tolerance = engine.tolerance.unwrap_or(Tolerance { max: 0.0, mean: 0.0 });
    if distance.max > tolerance.max || distance.mean > tolerance.mean {
        return Err(format!(
            "values up to {:.3} and on average {:.4} levels from the reference; at most {} and {} are stated",
            distance.max, distance.mean, tolerance.max, tolerance.mean
        ));
    }
    Ok(Some(distance))
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

    #[test]
    fn values_that_are_not_there_or_not_finite_have_no_distance() {
        assert_eq!(distance(&[0.5], &[0.5, 0.5]), None);
        assert_eq!(distance(&[f32::NAN], &[0.5]), None);
        assert_eq!(distance(&[0.0, 1.0], &[0.0, 0.0]), Some(Distance { max: 255.0, mean: 127.5 }));
    }
}
