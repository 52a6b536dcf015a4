//! What Linux says of processes: the tree below one, its memory, and how busy the machine is.

use std::collections::HashMap;
use std::fs;

/// Clock ticks a second in `/proc` (USER_HZ, fixed by the kernel's interface).
const TICKS_PER_S: f64 = 100.0;

/// Resident memory of a process tree in MB (10^6 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Memory {
    /// Heap, stacks, and other memory without a file.
    pub anonymous: f64,
    /// Pages of mapped files and shared memory: the kernel can take most of them back.
    pub file: f64,
}

/// `root` and every process below it.
pub fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        found.extend(children(found[at]));
        at += 1;
    }
    found
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|p| p.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Memory of the processes `pids` together; those that ended count nothing. Of pages that several processes share, as workers
/// share what they were forked with, each has its part.
pub fn memory(pids: &[u32]) -> Memory {
    // The parts cost the kernel a walk over all pages; of one process alone they are the whole.
    let (file, anonymous, of_files) = match pids {
        [_] => ("status", "RssAnon", ["RssFile", "RssShmem"]),
        _ => ("smaps_rollup", "Pss_Anon", ["Pss_File", "Pss_Shmem"]),
    };
    let mut sum = Memory::default();
    for pid in pids {
        let Ok(text) = fs::read_to_string(format!("/proc/{pid}/{file}")) else { continue };
        let fields: HashMap<&str, f64> = text.lines().filter_map(kilobytes).collect();
        let mb = |key: &str| fields.get(key).copied().unwrap_or(0.0) * 1024.0 / 1e6;
        sum.anonymous += mb(anonymous);
        sum.file += of_files.iter().map(|key| mb(key)).sum::<f64>();
    }
    sum
}

fn kilobytes(line: &str) -> Option<(&str, f64)> {
    let (key, rest) = line.split_once(':')?;
    Some((key, rest.trim().strip_suffix(" kB")?.parse().ok()?))
}

/// CPU seconds of the process `pid` (or `self`), and of all its descendants that have ended and were waited for.
pub fn cpu_s(pid: &str) -> (f64, f64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Fields after the name in brackets: 12th and 13th are utime and stime, the next two those of waited-for children.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = after_name.split_whitespace().skip(11).take(4).flat_map(str::parse).collect();
    match ticks[..] {
        [user, system, children_user, children_system] => {
            ((user + system) / TICKS_PER_S, (children_user + children_system) / TICKS_PER_S)
        }
        _ => (0.0, 0.0),
    }
}

/// CPU seconds all cores together have been busy since boot.
pub fn busy_s() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = stat.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = first.split_whitespace().skip(1).take(8).flat_map(str::parse).collect();
    // user nice system idle iowait irq softirq steal
    ticks.iter().enumerate().filter(|(i, _)| *i != 3 && *i != 4).map(|(_, t)| t).sum::<f64>() / TICKS_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_a_tree() {
        let pid = std::process::id();
        assert!(tree(pid).contains(&pid));
        assert!(memory(&[pid]).anonymous > 0.0);
        assert!(busy_s() > 0.0);
    }
}
