//! Fear: a command of the guide does not work when it is typed.

mod pictures;

use std::net::TcpListener;
use std::process::{Child, Command};

const GUIDE: &str = include_str!("../../../docs/guide.md");
const MARK: &str = "<!-- run by examples/candle/tests/guide.rs -->\n```sh\n";
const PROGRAM: &str = "cargo run --release --manifest-path examples/candle/Cargo.toml --bin train -- ";

#[test]
fn the_commands_of_the_guide_train_and_save() {
    let folder = tempfile::tempdir().unwrap();
    pictures::write(&folder.path().join("train.tfrecord"), 8, 1);
    pictures::write(&folder.path().join("test.tfrecord"), 2, 2);
    // Not the guide's own, which may be taken.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();

    let blocks = GUIDE.split(MARK).skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut background: Vec<Child> = Vec::new();
    let mut commands = 0;
    for line in blocks.flat_map(str::lines) {
        if line == "wait" {
            for mut child in background.drain(..) {
                assert!(child.wait().unwrap().success());
            }
            continue;
        }
        let (line, stays) = line.strip_suffix(" &").map_or((line, false), |line| (line, true));
        let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
        command.args(line.strip_prefix(PROGRAM).expect(line).split(' ')).current_dir(&folder);
        if line.contains("--rank") {
            command.args(["--meet", &free]);
        }
        let mut child = command.spawn().unwrap();
        if stays {
            background.push(child);
        } else {
            assert!(child.wait().unwrap().success(), "{line}");
        }
        commands += 1;
    }
    assert!(commands == 3 && background.is_empty());
    assert!(folder.path().join("run/last.json").exists() && folder.path().join("two/last.json").exists());
}
