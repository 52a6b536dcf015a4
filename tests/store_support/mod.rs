//! What the tests of records and indexes share.
#![allow(dead_code)]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tfrmap::{Access, Error, MissingIndex, OpenOptions, RecordReader, RecordWriter, Store};

/// A folder of test data: from the environment where set (the full collection), else the part in the repository.
pub fn data(variable: &str, name: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name),
    }
}

pub fn case(name: &str) -> PathBuf {
    data("TFRMAP_CASES", "cases").join(name)
}

pub fn case_bytes(name: &str) -> Vec<u8> {
    std::fs::read(case(name)).unwrap()
}

/// How often a test that tries at random does so: a few times, or `TFRMAP_STRESS` times.
pub fn rounds(few: usize) -> usize {
    std::env::var("TFRMAP_STRESS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// A TFRecord file in memory.
pub fn framed<P: AsRef<[u8]>>(payloads: &[P]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    payloads.iter().for_each(|payload| writer.write(payload.as_ref()).unwrap());
    writer.into_inner()
}

/// Payloads of many lengths, zero included.
pub fn payloads(n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|i| (0..i * 37 % 101).map(|j| (i * 31 + j * 7) as u8).collect()).collect()
}

pub fn in_memory(access: Access) -> OpenOptions {
    OpenOptions::new().access(access).missing_index(MissingIndex::InMemory)
}

pub fn only_sidecar(access: Access) -> OpenOptions {
    OpenOptions::new().access(access).missing_index(MissingIndex::Fail)
}

/// The name of an error's class.
pub fn class(error: &Error) -> &'static str {
    error.kind().name()
}

/// What a stream gives: its records, with the errors between and after them.
pub fn stream(bytes: &[u8]) -> Vec<Result<Vec<u8>, Error>> {
    RecordReader::new(bytes).collect()
}

/// All payloads of a store, or the first error.
pub fn read_all(store: &Store) -> Result<Vec<Vec<u8>>, Error> {
    (0..store.len()).map(|i| store.get(i).map(|record| record.to_vec())).collect()
}

/// The sidecar beside a data file.
pub fn sidecar(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap().to_os_string();
    name.push(".tfri");
    data.parent().unwrap().join(".tfrmap").join(name)
}

/// Starts the running test program anew as another process that does only the test of this name, with variables set.
pub fn again(test: &str, variables: &[(&str, &str)]) -> Child {
    again_with(test, variables, |_| {})
}

pub fn again_with(test: &str, variables: &[(&str, &str)], change: impl FnOnce(&mut Command)) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    change(&mut command);
    command.spawn().unwrap()
}

/// Waits until a child has printed a line READY. What it prints later can still be read.
pub fn wait_until_ready(child: &mut Child) {
    let output = child.stdout.as_mut().unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"READY\n") {
        let mut byte = [0];
        assert_eq!(output.read(&mut byte).unwrap(), 1);
        seen.push(byte[0]);
    }
}
