//! Any bytes as a gzip or zlib stream of records: what another library inflates gives the same records.

use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use tfrmap::RecordReader;

use super::frames;
use super::input;

/// What is inflated at most: thousandfold of the input, and not more than a second's work.
const MOST: u64 = 4 << 20;

pub fn run(data: &[u8]) {
    let ours = items(data);
    // A header whose CRC holds is a record, whatever it looks like.
    if !data.starts_with(&[0x1f, 0x8b]) || !input::walk(data).is_empty() {
        return;
    }
    if let Ok(plain) = whole(MultiGzDecoder::new(data))
        && !frames::looks_compressed(&plain)
    {
        assert_eq!(ours, items(&plain), "what is whole is read whole");
    }
}

fn items(stream: &[u8]) -> Vec<Result<Vec<u8>, &'static str>> {
    RecordReader::new(stream).map(|item| item.map_err(|error| error.kind().name())).take(1000).collect()
}

fn whole(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(MOST).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == MOST { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let folders = [data.join("cases/fmt"), data.join("golden/framing/files")];
    let files: Vec<_> = folders.iter().flat_map(|folder| input::contents(folder, 3000)).collect();
    let packed = files.iter().take(20).flat_map(|file| [frames::gzip(file), frames::zlib(file)]);
    let compressed = |file: &&Vec<u8>| file.starts_with(&[0x1f, 0x8b]) || file.first() == Some(&0x78);
    files.iter().filter(compressed).cloned().chain(packed).collect()
}
