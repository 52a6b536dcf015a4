//! Any pattern over any names: files that exist, each once, the same each time.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use tfrmap::OpenOptions;

use super::scratch::scratch;

/// The first line is the pattern, the others are names.
pub fn run(data: &[u8]) {
    if names_many(data) {
        return;
    }
    let mut lines = data.split(|byte| *byte == b'\n');
    let Some(pattern) = lines.next().and_then(inside) else { return };
    scratch(|folder| {
        for name in lines.filter_map(inside).take(24) {
            let path = folder.join(name);
            let _ = path.parent().map(fs::create_dir_all);
            let _ = fs::write(path, b"");
        }
        let pattern = folder.join(pattern);
        for allow in [false, true] {
            let options = OpenOptions::new().allow_missing_shards(allow);
            let Ok(files) = options.files(&pattern) else { continue };
            assert!(!files.is_empty());
            assert!(files.iter().all(|file| file.starts_with(folder) && file.exists()), "{files:?}");
            assert_eq!(files.iter().collect::<HashSet<_>>().len(), files.len());
            assert_eq!(options.files(&pattern).unwrap(), files);
            if pattern.is_file() {
                assert_eq!(files, [pattern.as_path()]);
            }
            for file in &files {
                assert_eq!(options.files(file).unwrap(), [file.as_path()], "a path that exists is literal");
            }
        }
    });
}

/// Whether a name is one of so many that looking for the others takes the time of a thousand inputs. (Sets of still more files
/// are none, so that their names cost nothing.)
fn names_many(data: &[u8]) -> bool {
    let counts = data.windows(4).enumerate().filter(|(_, part)| part == b"-of-").map(|(at, _)| {
        let digits = data[at + 4..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0u64, |count, digit| count.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
    });
    counts.into_iter().any(|count| (1000..=1_000_000).contains(&count))
}

/// A path that stays inside the folder it is joined to.
fn inside(line: &[u8]) -> Option<&Path> {
    let path = Path::new(OsStr::from_bytes(line));
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

pub fn seeds(_data: &Path) -> Vec<Vec<u8>> {
    let seeds: [&[u8]; 12] = [
        b"\nx.tfrecord",
        b"train-*\ntrain-00000-of-00002\ntrain-00001-of-00002",
        b"train\ntrain-00000-of-00003\ntrain-00002-of-00003\nval-00000-of-00001",
        b"{a,b}-*.tfrecord\na-1.tfrecord\nb-10.tfrecord\nb-9.tfrecord\nc.tfrecord",
        b"**/x?\nd/x1\nd/e/x2\nx3",
        b"[a-c]*[!0-9]\nab\nb1\ncx",
        b"d\nd/part-r-00000\nd/part-r-00001\nd/_SUCCESS\nd/.part-r-00000.crc",
        b"foo\nfoo.tfrecord-00000-of-00001\nfoo_bar.tfrecord-00000-of-00001",
        b"a[1].tfrecord\na[1].tfrecord\na1.tfrecord",
        b"a-0-*\na-0-of-9999999\na-1-of-10000001",
        b"\xff*\n\xff\xfe\n\xff-00000-of-00001",
        b"x-{1,2{3,4}}\nx-1\nx-23\nx-24",
    ];
    seeds.iter().map(|seed| seed.to_vec()).collect()
}
