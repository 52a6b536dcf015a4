//! Fear: two files need each other, so that neither can be understood, tested or changed alone.
//!
//! Reads the sources as text: who imports whom, file by file, through the re-exports of the folders between them. Tests at the
//! end of a file do not count. The classes of the Python package are left out: they make each other, as a data set does its batches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A file by the names of its modules: `src/image/jpeg/mod.rs` is `["image", "jpeg"]`.
type Module = Vec<String>;

/// What a file takes from elsewhere: where it is said to be, and whether it is handed on.
struct Import {
    path: Module,
    is_handed_on: bool,
}

fn sources(folder: &Path, module: &Module, into: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let within = [&module[..], std::slice::from_ref(&name)].concat();
        if path.is_dir() {
            sources(&path, &within, into);
        } else if path.extension().is_some_and(|e| e == "rs") && name != "tests" {
            let is_face = matches!(name.as_str(), "mod" | "lib");
            into.insert(if is_face { module.clone() } else { within }, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The code without comments and without the tests at its end.
fn code_of(source: &str) -> String {
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines
        .take_while(|line| !(line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test")))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The paths of a tree of imports such as `a::{b, c::{d, e}}`.
fn spread(tree: &str, before: &[String], into: &mut Vec<Module>) {
    let tree = tree.trim();
    let Some((path, list)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let names = path.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        into.push(before.iter().cloned().chain(names).collect());
        return;
    };
    let names = path.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let before: Vec<String> = before.iter().cloned().chain(names).collect();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in list.char_indices() {
        let ends = depth == 0 && matches!(c, ',' | '}');
        if ends && !list[start..i].trim().is_empty() {
            spread(&list[start..i], &before, into);
        }
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if ends {
            start = i + 1;
        }
    }
}

/// What a file imports from files of ours, by whole paths.
fn imports(module: &Module, source: &str, all: &BTreeSet<Module>) -> Vec<Import> {
    let mut found = Vec::new();
    for statement in code_of(source).split(';') {
        let Some(at) = statement.rfind("use ") else { continue };
        let before = &statement[..at];
        if !(before.is_empty() || before.ends_with([' ', '\n'])) {
            continue;
        }
        let mut paths = Vec::new();
        spread(&statement[at + 4..], &[], &mut paths);
        for path in paths {
            let (mut from, mut rest) = (module.clone(), &path[..]);
            match rest.first().map(String::as_str) {
                Some("crate") => (from, rest) = (Vec::new(), &rest[1..]),
                Some("self") => rest = &rest[1..],
                Some("super") => {
                    while rest.first().is_some_and(|name| name == "super") {
                        from.pop();
                        rest = &rest[1..];
                    }
                }
                // A folder's face names its files directly.
                Some(first) if all.contains(&[&module[..], &[first.to_owned()]].concat()) => {}
                _ => continue,
            }
            let is_handed_on = before.trim_end().rsplit('\n').next().is_some_and(|line| line.contains("pub"));
            found.push(Import { path: [&from[..], rest].concat(), is_handed_on });
        }
    }
    found
}

/// The file that has what a path names.
fn file_of(path: &Module, all: &BTreeSet<Module>) -> Module {
    let longest = (0..=path.len()).rev().find(|len| all.contains(&path[..*len]));
    path[..longest.unwrap_or(0)].to_vec()
}

/// Which files import which, re-exports followed to where things are.
fn arrows(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let all: BTreeSet<Module> = files.keys().cloned().collect();
    let mut handed_on: BTreeMap<Module, Module> = BTreeMap::new();
    let mut taken = Vec::new();
    for (module, source) in files {
        for import in imports(module, source, &all) {
            if import.is_handed_on {
                let name = import.path.last().cloned().unwrap_or_default();
                handed_on.insert([&module[..], &[name]].concat(), import.path);
            } else {
                taken.push((module.clone(), import.path));
            }
        }
    }
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, mut path) in taken {
        while let Some(further) = handed_on.get(&path) {
            path = further.clone();
        }
        let to = file_of(&path, &all);
        if to != module {
            arrows.entry(module).or_default().insert(to);
        }
    }
    arrows
}

/// The files that reach themselves.
fn in_circles(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Module> {
    let reaches_itself = |start: &&Module| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*start]);
        while let Some(module) = next.pop() {
            for to in arrows.get(module).into_iter().flatten() {
                if to == *start {
                    return true;
                }
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        false
    };
    arrows.keys().filter(reaches_itself).cloned().collect()
}

#[test]
fn no_files_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "tools/tfr-index/src", "benches/harness/src"] {
        let mut files = BTreeMap::new();
        sources(&root.join(folder), &Vec::new(), &mut files);
        let arrows = arrows(&files);
        assert!(arrows.len() > 3, "{folder}: only {} files import another", arrows.len());
        let circles: Vec<String> = in_circles(&arrows).iter().map(|module| module.join("/")).collect();
        assert!(circles.is_empty(), "{folder}: these files import each other: {}", circles.join(", "));
    }
}

#[test]
fn the_check_itself_sees_planted_circles() {
    let files = |texts: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let path = |name: &str| name.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        texts.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect()
    };
    let circle = |texts: &[(&str, &str)]| !in_circles(&arrows(&files(texts))).is_empty();
    // Two files; by `super`; in a list; through a folder's face; three files.
    assert!(circle(&[("a", "use crate::b::B;"), ("b", "use crate::a::A;")]));
    assert!(circle(&[("d/a", "use super::b::B;"), ("d/b", "fn f() {}\nuse super::a;")]));
    assert!(circle(&[("a", "use crate::{c::C, b::{self, B}};"), ("b", "use crate::a::A;"), ("c", "")]));
    assert!(circle(&[
        ("d", "mod a;\npub use a::A;"),
        ("d/a", "use crate::b::B;"),
        ("b", "use crate::d::A;")
    ]));
    assert!(circle(&[("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", "use crate::a::A;")]));
    // A face that hands on, prose, and tests are none.
    assert!(!circle(&[("d", "mod a;\npub use a::A;\nmod b;"), ("d/a", ""), ("d/b", "use crate::d::A;")]));
    assert!(!circle(&[("a", "use crate::b::B;"), ("b", "// use crate::a::A;")]));
    let tests = "fn b() {}\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
    assert!(!circle(&[("a", "use crate::b::B;"), ("b", tests)]));
}
