//! The fear: a run that is given up goes on, a fork hangs, or somebody waits for ever.
#![allow(unsafe_code)]

mod pipeline_support;

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pipeline_support::{all_ids, sorted, write_ids};
use tfrmap::{Dataset, ErrorKind};

/// Threads of pipelines are counted and processes forked: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The number of the process's threads that are the pipelines'.
fn own_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let is_ours = |task: &std::path::PathBuf| {
        std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.starts_with("tfrmap-"))
    };
    tasks.filter_map(|task| Some(task.ok()?.path())).filter(is_ours).count()
}

fn set(folder: &Path) -> Dataset {
    write_ids(folder, 1000, 4).shuffled(1)
}

#[test]
#[cfg(target_os = "linux")]
fn a_dropped_run_ends_and_so_do_its_threads() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let dataset = set(folder.path());
    for threads in [1, 3, 16] {
        let slow = dataset.clone().epochs(0..).map(|record| {
            std::thread::sleep(Duration::from_millis(2));
            Ok(record.index())
        });
        let mut batches = slow.batches(10).threads(threads);
        batches.next().unwrap().unwrap();
        assert!(own_threads() >= threads);
        let since = Instant::now();
        drop(batches);
        while own_threads() > 0 {
            assert!(since.elapsed() < Duration::from_secs(1), "threads are left after a second");
            std::thread::yield_now();
        }
    }
    // A run that is never begun starts nothing.
    let never = dataset.batches(10).threads(3);
    assert_eq!(own_threads(), 0);
    drop(never);
}

#[test]
fn a_slip_in_the_number_of_threads_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut batches = set(folder.path()).batches(10).threads(1_000_000);
    let error = batches.next().unwrap().err().unwrap();
    assert_eq!(*error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert!(batches.next().is_none());
}

#[test]
fn runs_share_their_threads_and_do_not_disturb_each_other() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let dataset = set(folder.path());
    let mut runs: Vec<_> = (0..5).map(|epoch| dataset.clone().epoch(epoch).batches(7).threads(2)).collect();
    let mut counts = [0; 5];
    loop {
        let mut ended = 0;
        for (run, count) in runs.iter_mut().zip(&mut counts) {
            match run.next() {
                Some(batch) => *count += batch.unwrap().len(),
                None => ended += 1,
            }
        }
        if ended == 5 {
            break;
        }
    }
    assert_eq!(counts, [1000; 5]);
    #[cfg(target_os = "linux")]
    assert_eq!(own_threads(), 2);
}

#[test]
fn a_run_can_move_to_another_thread_and_its_batches_too() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let mut batches = set(folder.path()).batches(10);
    let first = batches.next().unwrap().unwrap();
    let rest = std::thread::spawn(move || all_ids(batches).concat()).join().unwrap();
    assert_eq!(rest.len() + std::thread::spawn(move || first.len()).join().unwrap(), 1000);
}

/// Runs `child` in a forked process; true where it gives true within ten seconds.
#[cfg(target_os = "linux")]
fn in_a_fork(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs only what is written here for it, and leaves by _exit: no destructor and no exit handler
    // of the parent's runs twice. The C library's allocator can be used after a fork.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0);
        if pid == 0 {
            let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false);
            libc::_exit(i32::from(!passed));
        }
        let since = Instant::now();
        let mut status = 0;
        while libc::waitpid(pid, &mut status, libc::WNOHANG) == 0 {
            if since.elapsed() > Duration::from_secs(10) {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, &mut status, 0);
                return false;
            }
            std::thread::yield_now();
        }
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_forked_child_begins_anew_or_is_refused_at_once() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let dataset = set(folder.path());
    let mut begun = dataset.clone().batches(10).threads(2);
    let batch = begun.next().unwrap().unwrap();
    let child = || {
        let anew = all_ids(dataset.clone().batches(10).threads(2)).concat();
        let error = begun.next().unwrap().unwrap_err();
        let refused = *error.kind() == ErrorKind::InvalidArgument && begun.next().is_none();
        drop((begun, batch));
        refused && sorted(anew) == (0..1000).collect::<Vec<_>>()
    };
    assert!(in_a_fork(child), "the child failed or hung");
}

#[test]
fn a_callers_pool_is_not_needed() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let dataset = set(folder.path());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // All threads of the caller's pool read at once.
    let counts: Vec<usize> = pool.broadcast(|_| all_ids(dataset.clone().batches(10)).concat().len());
    assert_eq!(counts, [1000, 1000]);
}
