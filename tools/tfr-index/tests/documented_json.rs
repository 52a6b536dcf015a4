//! Fear: `docs/cli.md` promises a field that is not printed, or keeps one silent.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{World, frames, jpeg, numbered};
use serde_json::Value;
use tfrmap::{ExampleBuilder, SequenceExampleBuilder, proto};

const DOCS: &str = include_str!("../../../docs/cli.md");

/// Objects whose members are named by the data: `*` stands for them.
const NAMED_BY_DATA: [&str; 6] = ["features", "feature_lists", "kinds", "formats", "columns", "spec"];

/// The fields of a line, as paths such as `shards[].path` and `features.*.kind`.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let last = path.rsplit('.').next().unwrap_or("");
    match value {
        Value::Object(_) if last == "spec" => {
            found.insert(path.to_owned());
        }
        Value::Object(members) => {
            if members.is_empty() {
                found.insert(path.to_owned());
            }
            for (name, member) in members {
                let name = if NAMED_BY_DATA.contains(&last) { "*" } else { name };
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                fields(member, &path, found);
            }
        }
        Value::Array(items) => {
            if items.is_empty() {
                found.insert(format!("{path}[]"));
            }
            items.iter().for_each(|item| fields(item, &format!("{path}[]"), found));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// The fields in the tables of each section of the docs, by the section's heading.
fn documented() -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut sections: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut section = "";
    let mut table_of_fields = false;
    for line in DOCS.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading;
        }
        if !line.starts_with('|') {
            table_of_fields = false;
        }
        if line.starts_with("| field |") {
            table_of_fields = true;
        } else if table_of_fields && let Some((field, _)) = line[1..].split_once('|') {
            let field = field.trim().trim_matches('`');
            if field.starts_with('-') {
                continue;
            }
            let words = field.replace("KEY", "*").replace("KIND", "*").replace("FORMAT", "*");
            sections.entry(section).or_default().insert(words);
        }
    }
    sections
}

/// A field that only opens a table of others, or is null where they are missing.
fn opens(documented: &BTreeSet<String>, field: &str) -> bool {
    let inside = [format!("{field}."), format!("{field}[]")];
    documented.iter().any(|other| inside.iter().any(|inside| other.starts_with(inside.as_str())))
}

fn compare(section: &str, lines: impl IntoIterator<Item = Value>) {
    let mut printed = BTreeSet::new();
    lines
        .into_iter()
        .filter(|line| {
            section == "What holds for all commands" || line.get("error").is_none_or(|e| !e.is_object())
        })
        .for_each(|line| fields(&line, "", &mut printed));
    let documented = documented().remove(section).unwrap_or_else(|| panic!("no section {section}"));
    for field in &printed {
        // Lists of features are documented as "the same, for each step".
        let step = field.strip_prefix("feature_lists.*").map(|rest| rest.trim_start_matches("[]"));
        let step = step.map(|rest| format!("features.*{rest}"));
        let parts: Vec<String> = [Some(field.clone()), step].into_iter().flatten().collect();
        let known = parts.iter().any(|part| documented.contains(part) || opens(&documented, part));
        assert!(known, "{section}: `{field}` is printed but not documented");
    }
    for field in &documented {
        let seen = printed.contains(field) || opens(&printed, field);
        assert!(seen, "{section}: `{field}` is documented but was not printed");
    }
}

#[test]
fn every_field_is_documented_and_every_documented_field_is_printed() {
    let world = World::new();
    let picture = |label: i64| {
        ExampleBuilder::new()
            .image(jpeg(20, 10, [9, 9, 9]), "JPEG", 10, 20)
            .label(label)
            .text("fish")
            .floats("scores", [0.5, f32::NAN])
            .ints_or_nothing(label)
            .encode()
    };
    world.tfrecord("pics", [picture(1), picture(2)]);
    let sequence = SequenceExampleBuilder::new()
        .context(ExampleBuilder::new().int64("id", 5))
        .list("words", [1, 2].map(|word| proto::Feature::int64_list([word])))
        .list("raw", [proto::Feature::bytes_list([b"\xff\x00".to_vec()])]);
    world.tfrecord("sequences", [sequence.encode()]);
    world.tfrecord("text", ["just a text"]);
    world.tfrecord("blob", [[0xffu8; 40]]);
    world.write("bad", &frames((0..3).map(numbered))[..70]);
    world.write("photos/a/x.jpg", jpeg(20, 10, [9, 9, 9]));
    world.write("photos/a/odd.jpg", "odd");
    let run = |lines: &[&str]| -> Vec<Value> {
        lines.iter().flat_map(|line| world.tfr(&format!("{line} --json")).json()).collect()
    };
    compare("build", run(&["build pics bad"]));
    compare("info", run(&["info pics bad"]));
    compare("schema", run(&["schema pics", "schema sequences", "schema text"]));
    compare("preview", run(&["preview pics --out s.png"]));
    compare("get", run(&["get pics 0", "get sequences 0", "get text 0", "get blob 0"]));
    compare("verify", run(&["verify pics bad"]));
    compare("batch", run(&["batch pics --batch-size 2 --out b.npz"]));
    compare("export", run(&["export pics --format dali"]));
    let copy = run(&["copy bad --out c --skip-bad"]);
    compare("copy", copy.into_iter().filter(|line| line.get("written").is_some()));
    compare("pack", run(&["pack photos --out t"]));
    compare("What holds for all commands", run(&["get pics 99", "get nothing 0", "copy bad --out d"]));
}

#[test]
fn every_command_and_every_kind_of_form_is_in_the_docs() {
    let world = World::new();
    let help = world.tfr("--help").exits(0).out;
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in
        commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|c| !c.is_empty())
    {
        assert!(
            DOCS.contains(&format!("tfr-index {command}")) || DOCS.contains(&format!("`{command}`")),
            "{command}"
        );
    }
}

trait IntsOrNothing {
    fn ints_or_nothing(self, label: i64) -> Self;
}

impl IntsOrNothing for ExampleBuilder {
    /// A feature that only some records have.
    fn ints_or_nothing(self, label: i64) -> ExampleBuilder {
        if label == 1 { self.int64s("few", [1, 2, 3]) } else { self }
    }
}
