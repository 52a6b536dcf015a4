//! One engine, once: started, watched, ended when it takes too long.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::proc::{self, Memory};

/// How often memory is looked at: often at the start, so that short runs are seen too, then seldom enough to cost nothing; where
/// there are several processes, more seldom still, since what they share is costly to find out.
const SAMPLE: [Duration; 3] =
    [Duration::from_millis(4), Duration::from_millis(100), Duration::from_millis(500)];
/// How long the start is.
const START: Duration = Duration::from_millis(250);
/// How long what an engine printed is waited for after its end: a process that it left behind may hold its pipe for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Shorter runs are told nothing of other load: the system counts time in hundredths of a second.
const LOAD_SEEN: f64 = 0.25;

/// What is known of a run from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Standard output, whole.
    pub stdout: String,
    /// The end of standard error.
    pub stderr: String,
    /// How it ended; `None` when it was ended for taking too long.
    pub status: Option<ExitStatus>,
    /// Seconds from start to end.
    pub wall_s: f64,
    /// CPU seconds of its whole tree.
    pub cpu_s: f64,
    /// Cores kept busy by anything else meanwhile; `None` for a run too short to tell.
    pub other_load_cores: Option<f64>,
    /// Largest memory seen, by kind; and the largest sum.
    pub peak: Memory,
    /// Largest sum of both kinds seen at one time, MB.
    pub peak_rss_mb: f64,
}

/// Runs `command` to its end or to `timeout`.
///
/// # Errors
/// When it could not be started.
pub fn run(command: &mut Command, timeout: Duration) -> std::io::Result<Outcome> {
    let (self_before, children_before) = proc::cpu_s("self");
    let busy_before = proc::busy_s();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let pid = child.id();
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());

    let (ended, watch) = mpsc::channel::<()>();
    let watcher = thread::spawn(move || {
        let (mut peak, mut peak_rss_mb, mut overdue) = (Memory::default(), 0f64, false);
        let mut cpu_s: HashMap<u32, f64> = HashMap::new();
        loop {
            let tree = proc::tree(pid);
            let now = proc::memory(&tree);
            let several = tree.len() > 1;
            for pid in tree {
                let seen = cpu_s.entry(pid).or_default();
                *seen = seen.max(proc::cpu_s(&pid.to_string()).0);
            }
            peak.anonymous = peak.anonymous.max(now.anonymous);
            peak.file = peak.file.max(now.file);
            peak_rss_mb = peak_rss_mb.max(now.anonymous + now.file);
            if start.elapsed() > timeout {
                overdue = true;
                end(pid);
            }
            let pause = SAMPLE[if several { 2 } else { usize::from(start.elapsed() > START) }];
            match watch.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => return (peak, peak_rss_mb, overdue, cpu_s.values().sum::<f64>()),
            }
        }
    });
    let status = child.wait();
    let wall_s = start.elapsed().as_secs_f64();
    drop(ended);
    let (peak, peak_rss_mb, overdue, cpu_seen_s) = watcher.join().unwrap_or_default();
    // Nothing of the engine may run on into the next one's time.
    end_group(pid);

    let (self_after, children_after) = proc::cpu_s("self");
    // Workers that an engine left behind were never waited for: of them only what was seen is known.
    let cpu_s = (children_after - children_before).max(cpu_seen_s);
    let own = cpu_s + self_after - self_before;
    let others_s = proc::busy_s() - busy_before - own;
    let other_load_cores = (wall_s >= LOAD_SEEN).then(|| (others_s / wall_s).max(0.0));
    Ok(Outcome {
        stdout: said(&stdout),
        stderr: tail(&said(&stderr)),
        status: if overdue { None } else { Some(status?) },
        wall_s,
        cpu_s,
        other_load_cores,
        peak,
        peak_rss_mb,
    })
}

/// Reads `pipe` on a thread of its own, so that an engine never waits for the harness; the pieces come through the channel.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (pieces, read) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = pipe.read(&mut piece) {
            if pieces.send(piece[..n].to_vec()).is_err() {
                return;
            }
        }
    });
    read
}

/// All that was read, to the end of the pipe or to [`LAST_WORDS`] after the last piece.
fn said(pieces: &Receiver<Vec<u8>>) -> String {
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(LAST_WORDS) {
        bytes.extend(piece);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Ends exactly the processes of one engine: the tree below `pid`, then its group.
fn end(pid: u32) {
    let pids = proc::tree(pid).into_iter().map(|p| p.to_string());
    let _ = Command::new("kill").arg("-KILL").args(pids).stderr(Stdio::null()).status();
    end_group(pid);
}

fn end_group(pid: u32) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{pid}")]).stderr(Stdio::null()).status();
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" | ")
}
