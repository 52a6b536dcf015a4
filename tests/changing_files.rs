//! The fear: files that lose their name, their place or their permission while they are used, or clocks that jump, give wrong
//! records or an error that blames something else.
#![allow(unsafe_code)]

mod store_support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use store_support::*;
use tfrmap::{Access, Dataset, ErrorKind, Features, IndexBuilder, IndexState, OpenOptions, Store};

fn data_in(folder: &Path) -> PathBuf {
    let path = folder.join("data");
    fs::write(&path, framed(&payloads(200))).unwrap();
    path
}

/// All payloads of a data set by its batches.
fn by_batches(dataset: &Dataset) -> tfrmap::Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for batch in dataset.clone().with_features(Features::raw()).batches(7).threads(2) {
        let batch = batch?;
        let (_, column) = batch.columns().next().unwrap();
        all.extend(column.get::<Vec<u8>>()?.iter().map(<[u8]>::to_vec));
    }
    Ok(all)
}

#[test]
fn deleted_it_is_still_there_for_those_who_opened_it() {
    for access in [Access::Map, Access::Read] {
        let folder = tempfile::tempdir().unwrap();
        let path = data_in(folder.path());
        let dataset = Dataset::open_with(&OpenOptions::new().access(access), [&path]).unwrap();
        dataset.get(0).unwrap();
        fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(by_batches(&dataset).unwrap(), payloads(200));
    }
}

#[test]
fn deleted_before_its_first_read_it_is_missed_by_name() {
    for access in [Access::Map, Access::Read] {
        let folder = tempfile::tempdir().unwrap();
        let path = data_in(folder.path());
        let dataset = Dataset::open_with(&OpenOptions::new().access(access), [&path]).unwrap();
        fs::remove_file(&path).unwrap();
        for error in [dataset.get(0).unwrap_err(), by_batches(&dataset).unwrap_err()] {
            assert_eq!(*error.kind(), ErrorKind::Io(std::io::ErrorKind::NotFound), "{error}");
            assert_eq!(error.path(), Some(&*path));
        }
    }
}

#[test]
fn replaced_by_rename_under_a_live_map_a_run_reads_the_old_file_to_its_end() {
    for access in [Access::Map, Access::Read] {
        let folder = tempfile::tempdir().unwrap();
        let path = data_in(folder.path());
        let dataset = Dataset::open_with(&OpenOptions::new().access(access), [&path]).unwrap();
        let mut batches = dataset.clone().with_features(Features::raw()).batches(7).threads(2);
        let mut rows = batches.next().unwrap().unwrap().len();
        let new = folder.path().join("new");
        fs::write(&new, framed(&vec![b"other"; 9000])).unwrap();
        fs::rename(&new, &path).unwrap();
        rows += batches.map(|batch| batch.unwrap().len()).sum::<usize>();
        assert_eq!(rows, 200);
        assert_eq!(by_batches(&dataset).unwrap(), payloads(200));
        // Who opens it now is told that its index is of the old one.
        assert!(Store::open(&path).unwrap_err().is_stale_index());
    }
}

/// Not a test of its own: whoever may read everything must first become somebody else.
#[cfg(unix)]
#[test]
fn child_loses_the_permission() {
    use std::os::unix::fs::PermissionsExt;
    let Some(folder) = std::env::var_os("TFRMAP_TEST_TARGET").map(PathBuf::from) else { return };
    for access in [Access::Map, Access::Read] {
        let [used, fresh] = ["used", "fresh"].map(|name| {
            let path = folder.join(format!("{name}-{access:?}"));
            fs::write(&path, framed(&payloads(200))).unwrap();
            path
        });
        let options = OpenOptions::new().access(access);
        let used_set = Dataset::open_with(&options, [&used]).unwrap();
        let fresh_set = Dataset::open_with(&options, [&fresh]).unwrap();
        used_set.get(0).unwrap();
        for path in [&used, &fresh] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        if fs::File::open(&used).is_ok() {
            println!("MAY READ EVERYTHING");
            return;
        }
        // What is open stays open; what is not is refused by name, whoever asks.
        assert_eq!(by_batches(&used_set).unwrap(), payloads(200));
        for error in [fresh_set.get(0).unwrap_err(), by_batches(&fresh_set).unwrap_err()] {
            assert_eq!(*error.kind(), ErrorKind::Io(std::io::ErrorKind::PermissionDenied), "{error}");
            assert_eq!(error.path(), Some(&*fresh));
        }
        // Given back, the next read succeeds: nothing has remembered the refusal.
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(by_batches(&fresh_set).unwrap(), payloads(200));
    }
    println!("REFUSED");
}

#[cfg(unix)]
#[test]
fn permission_denied_in_the_middle_of_a_run_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Root becomes nobody, who must be able to run this program: a copy where everybody may look.
    let program = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let run = |as_nobody: bool| {
        let mut command = std::process::Command::new(&program);
        command.args(["child_loses_the_permission", "--exact", "--nocapture"]);
        command.env("TFRMAP_TEST_TARGET", folder.path()).current_dir("/");
        if as_nobody {
            command.uid(65534).gid(65534);
        }
        command.output().unwrap()
    };
    let mut output = run(false);
    if String::from_utf8_lossy(&output.stdout).contains("MAY READ EVERYTHING") {
        for entry in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                fs::remove_dir_all(entry).unwrap();
            } else if entry != program {
                fs::remove_file(entry).unwrap();
            }
        }
        output = run(true);
    }
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("REFUSED"), "{told}{}", String::from_utf8_lossy(&output.stderr));
}

fn set_time(path: &Path, time: SystemTime) {
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn clocks_may_say_anything() {
    let folder = tempfile::tempdir().unwrap();
    let path = data_in(folder.path());
    Store::open(&path).unwrap();
    let now = SystemTime::now();
    let decade = Duration::from_secs(3650 * 86_400);
    let times = [now + decade, now - decade, SystemTime::UNIX_EPOCH, now];
    // Neither the data's time nor the index's decides anything: contents do.
    for data_time in times {
        for index_time in times {
            set_time(&path, data_time);
            set_time(&sidecar(&path), index_time);
            assert_eq!(IndexState::of(&path, None).unwrap().name(), "fresh");
            assert_eq!(read_all(&Store::open(&path).unwrap()).unwrap(), payloads(200));
            assert_eq!(
                IndexBuilder::new().build(std::slice::from_ref(&path), |_| {})[0].status.name(),
                "fresh"
            );
        }
    }
    // Other data of the same length and time.
    let mut other = payloads(200);
    other.swap(3, 4);
    fs::write(&path, framed(&other)).unwrap();
    for time in times {
        set_time(&path, time);
        set_time(&sidecar(&path), time);
        let store = Store::open(&path);
        let found = store.and_then(|store| (0..200).try_for_each(|i| store.get(i).map(drop)));
        assert!(found.unwrap_err().is_stale_index());
    }
    assert_eq!(IndexBuilder::new().build(std::slice::from_ref(&path), |_| {})[0].status.name(), "rebuilt");
    assert_eq!(read_all(&Store::open(&path).unwrap()).unwrap(), other);
}

#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_and_its_parent_both_read_on() {
    for access in [Access::Map, Access::Read] {
        let folder = tempfile::tempdir().unwrap();
        let path = data_in(folder.path());
        let store = Store::open_with(&OpenOptions::new().access(access), &path).unwrap();
        let first = store.get(0).unwrap();
        // SAFETY: the child only reads, and leaves by _exit: no destructor and no exit handler of the parent's runs twice.
        let status = unsafe {
            let pid = libc::fork();
            assert!(pid >= 0);
            if pid == 0 {
                let read =
                    std::panic::catch_unwind(|| read_all(&store).is_ok_and(|all| all == payloads(200)));
                libc::_exit(i32::from(!read.unwrap_or(false)));
            }
            assert_eq!(read_all(&store).unwrap(), payloads(200));
            let mut status = 0;
            assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
            status
        };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
        assert_eq!(first.as_bytes(), payloads(200)[0]);
    }
}
