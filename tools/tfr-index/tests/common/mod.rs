//! What the tests share: the real program, run in a folder of its own.
#![allow(dead_code)]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tfrmap::ExampleBuilder;

/// A folder that is gone afterwards, in which the program runs.
pub struct World {
    folder: TempDir,
}

/// How a run of the program ended.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
    pub bytes: Vec<u8>,
}

impl Run {
    fn new(output: Output) -> Run {
        Run {
            code: output.status.code().expect("the program must end by itself, not by a signal"),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            bytes: output.stdout,
        }
    }

    /// Checks the exit code; shows everything where it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Run {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Standard output as JSON Lines.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// The last line of standard output as JSON.
    #[track_caller]
    pub fn last(&self) -> Value {
        self.json().pop().unwrap_or_else(|| panic!("no output; stderr: {}", self.err))
    }
}

impl World {
    pub fn new() -> World {
        World { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and the folders to it.
    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    pub fn exists(&self, name: impl AsRef<Path>) -> bool {
        self.path(name).exists()
    }

    /// The names in a folder, sorted.
    pub fn names(&self, name: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tfr-index"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_remove("TFRMAP_INDEX_DIR")
            .stdin(Stdio::null());
        command
    }

    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run {
        Run::new(self.command(args).output().unwrap())
    }

    /// Runs a command line; words are split at spaces.
    pub fn tfr(&self, line: &str) -> Run {
        self.run(line.split(' ').filter(|word| !word.is_empty()))
    }

    /// Runs a command line of a shell, in which the word `tfr-index` is the program.
    pub fn shell(&self, line: &str) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", &line.replace("tfr-index ", "\"$TFR_INDEX\" ")]);
        command.current_dir(self.folder.path()).env_remove("TFRMAP_INDEX_DIR").stdin(Stdio::null());
        Run::new(command.env("TFR_INDEX", env!("CARGO_BIN_EXE_tfr-index")).output().unwrap())
    }

    /// Writes a TFRecord file of these payloads.
    pub fn tfrecord<P: AsRef<[u8]>>(
        &self,
        name: impl AsRef<Path>,
        payloads: impl IntoIterator<Item = P>,
    ) -> PathBuf {
        self.write(name, frames(payloads))
    }

    /// The payloads of a file, read as a stream.
    pub fn payloads(&self, name: impl AsRef<Path>) -> Vec<Vec<u8>> {
        let reader = tfrmap::RecordReader::open(self.path(name)).unwrap();
        reader.map(|record| record.unwrap()).collect()
    }

    /// Copies a folder of test data.
    pub fn copy_tree(&self, from: &Path, name: impl AsRef<Path>) {
        let to = self.path(name);
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
            let path = to.join(entry.file_name());
            if entry.path().is_dir() {
                self.copy_tree(&entry.path(), path);
            } else {
                fs::copy(entry.path(), path).unwrap();
            }
        }
    }
}

/// Payloads as frames, made here from the format's definition alone.
pub fn frames<P: AsRef<[u8]>>(payloads: impl IntoIterator<Item = P>) -> Vec<u8> {
    let masked =
        |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes();
    let mut out = Vec::new();
    for payload in payloads {
        let payload = payload.as_ref();
        let len = (payload.len() as u64).to_le_bytes();
        out.extend_from_slice(&len);
        out.extend_from_slice(&masked(&len));
        out.extend_from_slice(payload);
        out.extend_from_slice(&masked(payload));
    }
    out
}

/// An Example of two numbers.
pub fn numbered(id: u64) -> Vec<u8> {
    ExampleBuilder::new().int64("id", id as i64).int64("label", (id % 10) as i64).encode()
}

/// The id of an Example that [`numbered`] made.
pub fn id_of(payload: &[u8]) -> u64 {
    let example = tfrmap::Example::parse(payload).unwrap();
    example.get("id").unwrap().int64s().next().unwrap() as u64
}

/// A picture in one colour with a bright square in it, as PNG.
pub fn png(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    encode(&picture(width, height, colour), image::ImageFormat::Png)
}

/// The same as JPEG.
pub fn jpeg(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    encode(&picture(width, height, colour), image::ImageFormat::Jpeg)
}

fn picture(width: u32, height: u32, colour: [u8; 3]) -> image::RgbImage {
    image::RgbImage::from_fn(width, height, |x, y| {
        let inside = x > width / 4 && x < width / 2 && y > height / 4 && y < height / 2;
        image::Rgb(if inside { [250, 250, 250] } else { colour })
    })
}

fn encode(picture: &image::RgbImage, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// gzip of some bytes.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// zlib of some bytes.
pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
