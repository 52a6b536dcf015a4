//! Feature keys as text: UTF-8 as it stands; other keys (and those that begin so) as `hex:` and hexadecimal digits,
//! as in the JSON of `Features`.

use std::ffi::OsStr;

const HEX: &str = "hex:";

/// A key as text.
pub fn name(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.starts_with(HEX) => text.to_owned(),
        _ => format!("{HEX}{}", hex(key)),
    }
}

/// The key that an argument means: its bytes, or what follows `hex:`.
pub fn parse(argument: &OsStr) -> Vec<u8> {
    let bytes = argument.as_encoded_bytes();
    bytes.strip_prefix(HEX.as_bytes()).and_then(unhex).unwrap_or_else(|| bytes.to_vec())
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    digits
        .chunks(2)
        .map(|pair| match *pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_name_that_leads_back_to_it() {
        for key in [&b"image/encoded"[..], b"", b"\xff\xfe", b"hex:00", "\u{e9}".as_bytes()] {
            assert_eq!(parse(OsStr::new(&name(key))), key);
        }
    }
}
