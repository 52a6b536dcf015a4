//! Records in the order of the files: several files are read ahead at once, and handed over one after the other.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use tfrmap::Record;

use super::input::{Found, Input, Kind};
use crate::failure::{Exit, Failure, Result, exit_of};
use crate::problem::Problem;

/// What is handed over, in order.
pub enum Delivery<'a> {
    /// A payload.
    Record(&'a [u8]),
    /// A record that is lost.
    Lost(Problem),
    /// A frame inside a lost stretch of this file, at this offset.
    Unproven(&'a Input, u64),
}

/// Bytes of payloads that are sent at once.
const CHUNK: usize = 1 << 20;
/// Bytes read ahead, over all files.
const AHEAD: usize = 192 << 20;

/// A run of deliveries from one file.
enum Chunk {
    /// Slices of a map: nothing was copied.
    Records(Vec<Record>),
    /// Payloads one behind the other, and where each ends.
    Payloads(Vec<u8>, Vec<usize>),
    Lost(Problem),
    Unproven(u64),
    Failed(Failure),
}

/// Hands over the wanted records of each file (ranges of numbers within it, ascending) to `take`.
///
/// With `salvage` records that are lost are handed over as such; else the first one ends the run.
pub fn deliver(
    inputs: &[Input],
    wanted: &[Vec<Range<u64>>],
    salvage: bool,
    mut take: impl FnMut(Delivery<'_>) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(inputs.len()).max(1);
    // Files being read, files read that wait their turn, and the one that is handed over.
    let capacity = (AHEAD / CHUNK / (2 * threads + 1)).max(2);
    let (announce, announced) = sync_channel::<Receiver<Chunk>>(threads);
    let next = Mutex::new(0);
    let read = &|announce: SyncSender<Receiver<Chunk>>| {
        loop {
            let (number, sender) = {
                let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                if *next == inputs.len() {
                    return;
                }
                // Under the lock, so that files are announced in order.
                let (sender, receiver) = sync_channel(capacity);
                if announce.send(receiver).is_err() {
                    return;
                }
                *next += 1;
                (*next - 1, sender)
            };
            if !send_file(&inputs[number], &wanted[number], salvage, &sender) {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let announce = announce.clone();
            scope.spawn(move || read(announce));
        }
        drop(announce);
        // Dropped at the end of the run, or early: sending then fails, and the threads end.
        let announced = announced;
        for (input, chunks) in inputs.iter().zip(announced.iter()) {
            chunks.iter().try_for_each(|chunk| hand_over(input, chunk, &mut take))?;
        }
        Ok(())
    })
}

fn hand_over(input: &Input, chunk: Chunk, take: &mut impl FnMut(Delivery<'_>) -> Result<()>) -> Result<()> {
    match chunk {
        Chunk::Records(records) => records.iter().try_for_each(|record| take(Delivery::Record(record))),
        Chunk::Payloads(bytes, ends) => {
            let mut start = 0;
            ends.iter().try_for_each(|&end| {
                let payload = &bytes[start..end];
                start = end;
                take(Delivery::Record(payload))
            })
        }
        Chunk::Lost(problem) => take(Delivery::Lost(problem)),
        Chunk::Unproven(offset) => take(Delivery::Unproven(input, offset)),
        Chunk::Failed(failure) => Err(failure),
    }
}

/// Reads a file and sends its records; false once nobody listens.
fn send_file(input: &Input, wanted: &[Range<u64>], salvage: bool, sender: &SyncSender<Chunk>) -> bool {
    let sent = match &input.kind {
        Kind::Plain(store) => send_plain(store, wanted, salvage, sender),
        _ => send_walked(input, wanted, salvage, sender),
    };
    match sent {
        Ok(listening) => listening,
        Err(failure) => sender.send(Chunk::Failed(failure)).is_ok(),
    }
}

fn send_plain(
    store: &tfrmap::Store,
    wanted: &[Range<u64>],
    salvage: bool,
    sender: &SyncSender<Chunk>,
) -> Result<bool> {
    let mean = (store.data_len() / store.len().max(1)).max(1);
    let count = (CHUNK as u64 / mean).max(1);
    for range in wanted {
        let mut from = range.start;
        while from < range.end {
            let to = range.end.min(from + count);
            if let (Ok(first), Ok(last)) = (store.span(from), store.span(to - 1)) {
                let range = first.offset..last.offset + last.payload_len;
                store.advise_willneed(std::slice::from_ref(&range));
            }
            let mut records = Vec::with_capacity((to - from) as usize);
            for number in from..to {
                match store.get(number) {
                    Ok(record) => records.push(record),
                    Err(error) if salvage && exit_of(&error) == Exit::Wrong => {
                        let before = std::mem::take(&mut records);
                        let lost = Chunk::Lost(Problem::left_out(store.path(), &error));
                        if sender.send(Chunk::Records(before)).is_err() || sender.send(lost).is_err() {
                            return Ok(false);
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            if sender.send(Chunk::Records(records)).is_err() {
                return Ok(false);
            }
            from = to;
        }
    }
    Ok(true)
}

fn send_walked(
    input: &Input,
    wanted: &[Range<u64>],
    salvage: bool,
    sender: &SyncSender<Chunk>,
) -> Result<bool> {
    let Some(last) = wanted.last().map(|range| range.end) else { return Ok(true) };
    let mut listening = true;
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut range = 0;
    input.walk(salvage, |found| {
        let single = match found {
            Found::Record(number, payload) => {
                while wanted.get(range).is_some_and(|range| range.end <= number) {
                    range += 1;
                }
                if wanted.get(range).is_some_and(|range| range.contains(&number)) {
                    bytes.extend_from_slice(payload);
                    ends.push(bytes.len());
                }
                if bytes.len() >= CHUNK || ends.len() >= CHUNK / 16 {
                    let full = Chunk::Payloads(std::mem::take(&mut bytes), std::mem::take(&mut ends));
                    listening = sender.send(full).is_ok();
                }
                return listening && number + 1 < last;
            }
            Found::Lost(problem) => Chunk::Lost(problem),
            Found::Unproven(offset) => Chunk::Unproven(offset),
        };
        let before = Chunk::Payloads(std::mem::take(&mut bytes), std::mem::take(&mut ends));
        listening = sender.send(before).is_ok() && sender.send(single).is_ok();
        listening
    })?;
    Ok(listening && (ends.is_empty() || sender.send(Chunk::Payloads(bytes, ends)).is_ok()))
}
