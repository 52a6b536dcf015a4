//! The fear: a process that is killed at any moment cannot go on exactly where it was.

mod pipeline_support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pipeline_support::{all_ids, ids, write_ids};
use tfrmap::{Dataset, State};

const FOLDER: &str = "TFRMAP_TEST_KILLED_FOLDER";
const RECORDS: u64 = 5000;

fn dataset(folder: &Path) -> Dataset {
    Dataset::open(folder.join("ids-*")).unwrap().shuffled(77).epochs(2..4)
}

/// The state in the file, and all ids that were delivered up to it.
fn saved(folder: &Path) -> Option<(State, Vec<i64>)> {
    let text = std::fs::read_to_string(folder.join("state")).ok()?;
    let (state, ids) = text.split_once('\n').unwrap();
    let ids = ids.split_whitespace().map(|id| id.parse().unwrap()).collect();
    Some((State::from_json(state).unwrap(), ids))
}

/// Not a test of its own: what the killed processes do. State and output are replaced together, by rename.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let before = saved(folder);
    let mut batches = dataset(folder).batches(16);
    let mut delivered = Vec::new();
    if let Some((state, ids)) = before {
        batches = batches.resume(&state).unwrap();
        delivered = ids;
    }
    while let Some(batch) = batches.next() {
        delivered.extend(ids(&batch.unwrap()));
        let text: Vec<String> = delivered.iter().map(i64::to_string).collect();
        std::fs::write(folder.join("new"), format!("{}\n{}", batches.state().to_json(), text.join(" ")))
            .unwrap();
        std::fs::rename(folder.join("new"), folder.join("state")).unwrap();
        println!("batch");
    }
    println!("end");
}

fn start(folder: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads", "1"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Reads until a line ends with `word`; false at the end of the output.
fn wait_for(output: &mut impl BufRead, word: &str) -> bool {
    output.lines().any(|line| line.is_ok_and(|line| line.ends_with(word)))
}

#[test]
fn killed_again_and_again_every_record_still_comes_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_ids(folder, RECORDS, 5);
    let whole = all_ids(dataset(folder).batches(16)).concat();
    let mut restarts = Vec::new();
    for kill in 0..12 {
        let since = Instant::now();
        let (mut child, mut output) = start(folder);
        assert!(wait_for(&mut output, "batch"), "the process did not go on");
        restarts.push(since.elapsed());
        for _ in 0..kill * 3 {
            wait_for(&mut output, "batch");
        }
        // On Unix this is SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, delivered) = saved(folder).unwrap();
        assert_eq!(delivered[..], whole[..delivered.len()], "after kill {kill}");
    }
    let (mut child, mut output) = start(folder);
    assert!(wait_for(&mut output, "end"));
    assert!(child.wait().unwrap().success());
    assert_eq!(saved(folder).unwrap().1, whole);
    restarts.sort_unstable();
    println!("from restart to the next batch: median {:?}, most {:?}", restarts[6], restarts[11]);
    // The promise is 0.2 s; a busy machine is given ten times that.
    assert!(restarts[6] < Duration::from_secs(2), "{restarts:?}");
}
