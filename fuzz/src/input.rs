//! Making valid inputs out of any bytes: what a fuzzer would hardly ever guess, a CRC above all.

use std::fs;
use std::path::{Path, PathBuf};

pub const HEADER: usize = 12;
pub const OVERHEAD: usize = 16;

/// The masked CRC of TFRecord.
pub fn masked(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A frame.
pub fn framed(payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u64).to_le_bytes();
    [&len[..], &masked(&len).to_le_bytes(), payload, &masked(payload).to_le_bytes()].concat()
}

/// Makes bytes a chain of whole frames, keeping lengths that fit and payloads; fewer bytes than a frame stay at the end.
pub fn mend_frames(bytes: &mut [u8]) {
    let mut rest = bytes;
    while rest.len() >= OVERHEAD {
        let room = (rest.len() - OVERHEAD) as u64;
        let claimed = rest.first_chunk().copied().map_or(0, u64::from_le_bytes);
        let len = if claimed <= room { claimed } else { claimed % (room + 1) } as usize;
        let (frame, after) = rest.split_at_mut(len + OVERHEAD);
        let whole = framed(&frame[HEADER..HEADER + len]);
        frame.copy_from_slice(&whole);
        rest = after;
    }
}

/// The frames of a chain as (offset, payload length), up to where it ends or is damaged, by a walk as plain as can be.
pub fn walk(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut frames = Vec::new();
    let mut at = 0;
    while bytes.len() - at >= HEADER {
        let here = &bytes[at..];
        let len = here.first_chunk().copied().map_or(0, u64::from_le_bytes);
        let stored = here[8..].first_chunk().copied().map_or(0, u32::from_le_bytes);
        if masked(&here[..8]) != stored || len > (here.len() as u64).saturating_sub(OVERHEAD as u64) {
            break;
        }
        if here.len() < OVERHEAD {
            break;
        }
        frames.push((at as u64, len));
        at += len as usize + OVERHEAD;
    }
    frames
}

/// Splits off a part whose length stands in the first two bytes.
pub fn split(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = data.split_first_chunk()?;
    Some(rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*len)))))
}

/// The opposite of [`split`].
pub fn join(head: &[u8], rest: &[u8]) -> Vec<u8> {
    [&u16::try_from(head.len()).unwrap().to_le_bytes(), head, rest].concat()
}

/// All files under a folder up to this size, in order of their names.
pub fn files(folder: &Path, largest: u64) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) if metadata.len() <= largest => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The bytes of all files under a folder up to this size.
pub fn contents(folder: &Path, largest: u64) -> Vec<Vec<u8>> {
    files(folder, largest).iter().map(|path| fs::read(path).unwrap()).collect()
}

/// The payloads of all whole records in the files under a folder.
pub fn payloads(folder: &Path, largest: u64) -> Vec<Vec<u8>> {
    let whole = |file: Vec<u8>| {
        let frames = walk(&file).into_iter();
        frames.map(|(at, len)| file[at as usize + HEADER..][..len as usize].to_vec()).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<u8>> = contents(folder, largest).into_iter().flat_map(whole).collect();
    all.sort();
    all.dedup();
    all
}
