//! Any text index beside any data: one that is taken is the data's own, and comes back as it was written.

use std::fs;
use std::path::Path;

use tfrmap::Index;

use super::input;
use super::scratch::scratch;

pub fn run(data: &[u8]) {
    let Some((text, rest)) = input::split(data) else { return };
    let mut file = rest.to_vec();
    if file.pop().is_some_and(|mode| mode & 1 != 0) {
        input::mend_frames(&mut file);
    }
    scratch(|folder| {
        let path = folder.join("data");
        fs::write(&path, &file).unwrap();
        let frames = input::walk(&file);
        if let Ok(index) = Index::from_text(text, &path) {
            let spans: Vec<_> = (0..index.len()).map(|i| index.get(i).unwrap()).collect();
            assert!(spans.iter().map(|span| (span.offset, span.payload_len)).eq(frames.iter().copied()));
            index.check(&path).unwrap();
        }
        if let Ok(index) = Index::build(&path) {
            let mut written = Vec::new();
            index.write_text(&mut written, 0..index.len()).unwrap();
            if !index.is_empty() {
                let again = Index::from_text(&written, &path).unwrap();
                assert_eq!(again.checksum().unwrap(), index.checksum().unwrap());
            }
            assert!(index.write_text(Vec::new(), [index.len()]).is_err());
        }
    });
}

pub fn seeds(data: &Path) -> Vec<Vec<u8>> {
    let files: Vec<_> = input::contents(&data.join("cases/fmt"), 400);
    let text = |file: &[u8]| -> Vec<u8> {
        input::walk(file).iter().flat_map(|(at, len)| format!("{at} {}\n", len + 16).into_bytes()).collect()
    };
    let mut seeds: Vec<_> =
        files.iter().map(|file| [&input::join(&text(file), file)[..], &[0]].concat()).collect();
    let own = &files[0];
    for other in input::contents(&data.join("cases/idx"), 20) {
        seeds.push([&input::join(&other, own)[..], &[1]].concat());
    }
    let crlf: Vec<u8> = text(own)
        .iter()
        .flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] })
        .collect();
    seeds.push([&input::join(&crlf, own)[..], &[0]].concat());
    seeds.push([&input::join(&text(own)[..7], own)[..], &[0]].concat());
    seeds
}
