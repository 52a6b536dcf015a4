//! Any payloads as a data set: whatever is inferred of them, each record becomes a row or an error, and the same one again.

use std::fs;
use std::path::Path;

use tfrmap::image::{Augment, ImageSpec, PixelType};
use tfrmap::{Dataset, Features, MissingIndex, OnError, OpenOptions};

use super::scratch::scratch;
use super::{input, pools};

/// After a mode byte: payloads, each with its length before it.
pub fn run(data: &[u8]) {
    let Some((&mode, mut rest)) = data.split_first() else { return };
    let mut file = Vec::new();
    let mut count = 0;
    while let Some((payload, after)) = input::split(rest)
        && count < 12
    {
        file.extend_from_slice(&input::framed(payload));
        (rest, count) = (after, count + 1);
    }
    if count == 0 {
        return;
    }
    pools::keep();
    scratch(|folder| {
        let path = folder.join("data");
        fs::write(&path, &file).unwrap();
        let options = OpenOptions::new().missing_index(MissingIndex::InMemory);
        let mut dataset = Dataset::open_with(&options, [&path]).unwrap();
        assert_eq!(dataset.len(), count);
        let spec = ImageSpec::rgb(6, 5).augment(Augment { crop: None, flip: 0.5 });
        let spec = if mode & 1 == 0 { spec } else { spec.dtype(PixelType::U8) };
        dataset = match mode >> 1 & 3 {
            0 => dataset.with_features(Features::raw()),
            1 => dataset.with_features(Features::new().image("i", spec).fixed_len::<i64>("l", [])),
            _ => dataset,
        };
        if mode & 8 != 0 {
            dataset = dataset.shuffled(3);
        }
        let on_error = if mode & 16 == 0 { OnError::Skip { limit: 99 } } else { OnError::Mask { limit: 99 } };
        let run = |threads| {
            let mut batches = dataset.clone().batches(5).threads(threads).on_error(on_error);
            let mut rows = Vec::new();
            let mut ended = None;
            for batch in batches.by_ref() {
                match batch {
                    Ok(batch) => {
                        rows.extend(batch.indices().iter().copied().zip(batch.valid().iter().copied()))
                    }
                    Err(error) => ended = Some(error.kind().name()),
                }
            }
            let bad = batches.bad_records().len() as u64;
            if ended.is_none() {
                let valid = rows.iter().filter(|row| row.1).count() as u64;
                assert_eq!(valid + bad, count);
                if mode & 16 != 0 {
                    assert_eq!(rows.len() as u64, count);
                }
            }
            (rows, ended, bad)
        };
        assert_eq!(run(1), run(2), "threads change nothing");
    });
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let payloads = input::payloads(&data.join("cases/parse"), 3000);
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for (i, some) in payloads.chunks(3).enumerate() {
        let joined = some.iter().fold(vec![[0, 2, 4, 12, 20, 3][i % 6]], |all, payload| {
            [all, input::join(payload, b"")].concat()
        });
        seeds.push(joined);
    }
    let pictures = input::contents(&data.join("cases/img"), 500);
    for (i, two) in pictures.chunks(2).enumerate() {
        let mut seed = vec![[2, 3, 4, 18][i % 4]];
        for picture in two {
            let example = tfrmap::ExampleBuilder::new().bytes("i", picture.as_slice()).int64("l", 7).encode();
            seed.extend(input::join(&example, b""));
        }
        seeds.push(seed);
    }
    seeds
}
