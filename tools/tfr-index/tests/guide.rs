//! Fear: a command of the guide does not work when it is typed.

mod common;

use common::{World, png};

const GUIDE: &str = include_str!("../../../docs/guide.md");
const MARK: &str = "<!-- run by tools/tfr-index/tests/guide.rs -->\n```sh\n";

#[test]
fn the_commands_of_the_guide_work_one_after_the_other() {
    let world = World::new();
    for class in 0..3 {
        for part in ["train", "test"] {
            for i in 0..2 {
                world.write(format!("digits/{part}/{class}/{i}.png"), png(8, 8, [80 * class, i, 0]));
            }
        }
    }
    let blocks = GUIDE.split(MARK).skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() >= 6, "{lines:?}");
    for line in lines {
        world.tfr(line.strip_prefix("tfr-index ").expect(line)).exits(0);
    }
    for name in ["train.tfrecord", "test.tfrecord", "sheet.png", "whole.tfrecord"] {
        assert!(world.exists(name), "{name}");
    }
}
