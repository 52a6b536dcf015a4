//! The fear: a path that is odd is misread, or one that is no file at all hangs us.

mod store_support;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use store_support::*;
use tfrmap::{Access, DatasetWriter, ErrorKind, FileVerifier, OpenOptions, RecordReader, Salvage, Store};

fn odd_names() -> Vec<OsString> {
    let mut names: Vec<OsString> = [
        "with space",
        "star*",
        "what?",
        "[0-9]",
        "{a,b}",
        "per%20cent",
        "hash#",
        "-dash",
        "--force",
        "\u{6570}\u{636e}",
        "a\\b",
        "quote'\"",
        "tab\there",
        "new\nline",
        "$HOME",
        "~",
        "ends.",
        "e\u{301}",
    ]
    .map(OsString::from)
    .into();
    #[cfg(unix)]
    names.push(std::os::unix::ffi::OsStringExt::from_vec(b"latin\xff1".to_vec()));
    names
}

#[test]
fn odd_names_are_literal() {
    let folder = tempfile::tempdir().unwrap();
    // What the odd names would match, were they patterns.
    for decoy in ["starfish", "whats", "7", "a", "b"] {
        fs::write(folder.path().join(decoy), framed(&["decoy"])).unwrap();
    }
    for name in odd_names() {
        for path in [folder.path().join(&name), folder.path().join(&name).join("inside").join(&name)] {
            let path = if path.ends_with("inside") { path } else { path.with_extension("tfrecord") };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut writer = DatasetWriter::create(&path).unwrap();
            writer.write(b"one").unwrap();
            writer.finish().unwrap();
            assert_eq!(OpenOptions::new().files(&path).unwrap(), std::slice::from_ref(&path));
            let store = Store::open_with(&only_sidecar(Access::Auto), &path).unwrap();
            assert_eq!(store.get(0).unwrap().as_bytes(), b"one");
            assert!(sidecar(&path).is_file());
            assert!(Store::open(path.join("no")).unwrap_err().to_string().is_ascii() || !name.is_ascii());
        }
        // As a folder, with a pattern behind it.
        let inside = folder.path().join(&name).join("inside");
        assert_eq!(OpenOptions::new().files(&inside).unwrap().len(), 1, "{name:?}");
        let found = OpenOptions::new().files(inside.join("*.tfrecord")).unwrap();
        assert_eq!(found.len(), 1, "{name:?}");
    }
}

#[test]
fn long_names_have_an_index() {
    let folder = tempfile::tempdir().unwrap();
    // The sidecar's name is five bytes longer: up to 250 it fits, beyond that the index stays in memory.
    for len in [200, 250, 255] {
        let path = folder.path().join("n".repeat(len));
        let mut writer = DatasetWriter::create(&path).unwrap();
        writer.write(b"one").unwrap();
        writer.finish().unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get(0).unwrap().as_bytes(), b"one");
        assert_eq!(sidecar(&path).is_file(), len <= 250);
    }
}

#[test]
fn relative_paths_work() {
    // Another process, since the working folder is the whole process's.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("set-00000-of-00001"), framed(&["one"])).unwrap();
    let child = again_with("child_in_a_folder", &[("TFRMAP_TEST_TARGET", "here")], |command| {
        command.current_dir(folder.path());
    });
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(folder.path().join(".tfrmap/set-00000-of-00001.tfri").is_file());
}

/// Not a test of its own.
#[test]
fn child_in_a_folder() {
    if std::env::var_os("TFRMAP_TEST_TARGET").is_none() {
        return;
    }
    let file = PathBuf::from("set-00000-of-00001");
    for path in ["set-00000-of-00001", "set-*", "set"] {
        assert_eq!(OpenOptions::new().files(path).unwrap(), std::slice::from_ref(&file), "{path}");
    }
    assert_eq!(OpenOptions::new().files(".").unwrap(), [Path::new(".").join(&file)]);
    assert_eq!(Store::open(&file).unwrap().len(), 1);
    assert!(sidecar(&file).is_file());
}

#[test]
fn what_is_no_file_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases = vec![(folder.path().to_path_buf(), std::io::ErrorKind::IsADirectory)];
    #[cfg(unix)]
    {
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let link = folder.path().join("dangling");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let around = folder.path().join("loop");
        std::os::unix::fs::symlink("loop", &around).unwrap();
        cases.push((fifo, std::io::ErrorKind::InvalidInput));
        cases.push((link, std::io::ErrorKind::NotFound));
        cases.push((around, std::io::ErrorKind::Other));
        cases.push(("/dev/null".into(), std::io::ErrorKind::InvalidInput));
        cases.push(("/dev/zero".into(), std::io::ErrorKind::InvalidInput));
    }
    for (path, kind) in cases {
        let errors = [
            Store::open(&path).unwrap_err(),
            RecordReader::open(&path).err().unwrap(),
            FileVerifier::new().verify(&path, |_| {}).unwrap_err(),
            Salvage::open(&path).err().unwrap(),
            DatasetWriter::append(&path).unwrap_err(),
        ];
        for error in errors {
            assert!(error.is_io(), "{error}");
            assert_eq!(error.path(), Some(&*path));
            // The kind of a loop of links has no stable name yet.
            if kind != std::io::ErrorKind::Other {
                assert_eq!(error.kind(), &ErrorKind::Io(kind), "{error}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, framed(&["one"])).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        eprintln!("SKIPPED: this user may read everything");
        return;
    }
    let error = Store::open(&path).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Io(std::io::ErrorKind::PermissionDenied));
}
