//! A folder with stub engines and one definition, and the program run on it.

// Each test file uses another part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Records of the data set in these tests, and the checksum of one epoch of them.
pub const RECORDS: u64 = 100;
/// CRC-32 over 0..100 as u64, little-endian, by zlib.
pub const CHECKSUM: &str = "71e7c202";

/// Definitions, data and results of one test.
pub struct Bench {
    pub dir: TempDir,
    engines: String,
    head: String,
}

impl Bench {
    /// A bench on the data set `data`; `expect` goes into the definition's expectation beside count and checksum.
    pub fn new(data: &str, expect: &str) -> Bench {
        // The usual number of records of the set: the program scales it to the number asked for.
        let usual = if data == "tensor" { 100_000 } else { 1_000_000 };
        let head = format!(
            "place = 1\ntitle = \"A test\"\nabout = \"Nothing.\"\ntask = \"batches\"\ndata = \"{data}\"\ncache = \"warm\"\n\
             figure = \"records_per_s\"\nbetter = \"higher\"\nrepetitions = 3\ntimeout_s = 2\n[job]\nepochs = 1\n\
             [expect]\ndelivered = {usual}\nchecksum = \"00000000\"\n{expect}\n"
        );
        Bench { dir: TempDir::new().unwrap(), engines: String::new(), head }
    }

    /// Adds an engine that is a shell script.
    pub fn engine(mut self, name: &str, role: &str, script: &str) -> Bench {
        let path = self.path(&format!("{name}.sh"));
        fs::write(&path, script).unwrap();
        self.engines += &format!(
            "[[engine]]\nname = \"{name}\"\npeer = \"none\"\nrole = \"{role}\"\ncommand = [\"sh\", {path:?}]\n\
             tolerance = {{ max = 1.0, mean = 0.1 }}\n"
        );
        self
    }

    /// Adds an engine of a peer.
    pub fn peer(mut self, name: &str, peer: &str) -> Bench {
        self.engines +=
            &format!("[[engine]]\nname = \"{name}\"\npeer = \"{peer}\"\nscript = \"tfdata.py\"\n");
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the definition; the table that is printed.
    pub fn run(&self) -> String {
        let definitions = self.path("definitions");
        fs::create_dir_all(&definitions).unwrap();
        fs::write(definitions.join("main.toml"), format!("{}{}", self.head, self.engines)).unwrap();
        self.program(&["run", "main", "--records", &RECORDS.to_string()])
    }

    /// Runs the program; its output.
    pub fn program(&self, arguments: &[&str]) -> String {
        let place = |flag: &str, name: &str| [flag.to_owned(), self.path(name).display().to_string()];
        let output = Command::new(env!("CARGO_BIN_EXE_tfrmap-bench"))
            .args(arguments)
            .args(place("--definitions", "definitions"))
            .args(place("--data", "data"))
            .args(place("--work", "work"))
            .args(place("--results", "results.jsonl"))
            .args(place("--peers", "peers"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A script that gives the right answer at `rate`.
pub fn right(rate: &str) -> String {
    format!("echo '{{\"delivered\": {RECORDS}, \"checksum\": \"{CHECKSUM}\", \"records_per_s\": {rate}}}'\n")
}

/// The row of `engine` in a table.
pub fn row<'a>(table: &'a str, engine: &str) -> &'a str {
    table
        .lines()
        .find(|line| line.starts_with(&format!("| {engine} |")))
        .unwrap_or_else(|| panic!("no row: {table}"))
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
