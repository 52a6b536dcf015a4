//! One engine, once: started, watched, ended when it takes too long.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::proc::{self, Memory};

/// How often memory is looked at: often at the start, so that short runs are seen too, then seldom enough to cost nothing.
const SAMPLE: [Duration; 2] = [Duration::from_millis(4), Duration::from_millis(100)];
/// How long the start is.
const START: Duration = Duration::from_millis(250);

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
    /// Cores kept busy by anything else meanwhile.
    pub other_load_cores: f64,
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
            let pause = SAMPLE[usize::from(start.elapsed() > START)];
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
    let other_load_cores = ((proc::busy_s() - busy_before - own) / wall_s).max(0.0);
    Ok(Outcome {
        stdout: stdout.join().unwrap_or_default(),
        stderr: tail(&stderr.join().unwrap_or_default()),
        status: if overdue { None } else { Some(status?) },
        wall_s,
        cpu_s,
        other_load_cores,
        peak,
        peak_rss_mb,
    })
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
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
