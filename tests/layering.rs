//! Fear: the layers grow into each other until nothing can be changed alone.
//!
//! Reads the sources as text: a module may name only modules of lower layers, `image::jpeg` names nothing of ours, and each outside
//! crate stays in the modules listed here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lowest first. Modules on one line do not know each other.
const LAYERS: &[&[&str]] = &[
    &["error"],
    &["crc"],
    &["frame", "sniff", "file", "order"],
    &["index"],
    &["record"],
    &["image"],
    &["example"],
    &["dataset"],
    &["batch"],
];

/// Outside crates and the only files or folders (below `src/`) that may name them.
const CRATES: &[(&str, &[&str])] = &[
    ("memmap2", &["file.rs", "file/"]),
    ("libc", &["file.rs", "file/"]),
    ("crc32c", &["crc.rs"]),
    ("prost", &["example/"]),
    ("flate2", &["record/", "sniff.rs"]),
    ("image", &["image/"]),
    ("png", &["image/decode_png.rs", "image/save.rs"]),
];

/// A file without its comments, so that prose never counts as an import.
fn code_of(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    for line in source.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
        code.push_str(line.split(" // ").next().unwrap());
        code.push(' ');
    }
    code
}

fn is_ident(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn first_ident(text: &str) -> String {
    text.trim_start().chars().take_while(|c| is_ident(*c)).collect()
}

/// The first path segment after each `crate::`, with `crate::{a, b::{c, d}}` giving `a` and `b`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(first_ident(rest));
            continue;
        };
        let mut depth = 0;
        let mut start = 0;
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.insert(first_ident(&list[start..i]));
                    start = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    found.remove("");
    found
}

/// True where code names the outside crate: `name::` that is no tail of a longer path or word.
fn names_crate(code: &str, name: &str) -> bool {
    let path = format!("{name}::");
    code.match_indices(&path).any(|(at, _)| {
        let before = &code[..at];
        match before.strip_suffix("::") {
            // `::image::` names the crate; `crate::image::` and `super::image::` our module.
            Some(rest) => !rest.ends_with(is_ident),
            None => name != "image" && !before.ends_with(is_ident),
        }
    })
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// What is wrong with one file, by its path below `src/` and its text.
fn faults(relative: &str, source: &str) -> Vec<String> {
    let code = code_of(source);
    let module = relative.split('/').next().unwrap().trim_end_matches(".rs");
    let Some(own) = layer_of(module) else {
        return vec![format!("{relative}: module `{module}` has no layer in tests/layering.rs")];
    };
    let mut faults = Vec::new();
    if relative.starts_with("image/jpeg/") {
        if !imports(&code.replace("crate::image::jpeg", "")).is_empty() {
            faults.push(format!("{relative}: image::jpeg must stand alone"));
        }
    } else {
        for import in imports(&code) {
            match layer_of(&import) {
                // A re-export of the facade (`crate::Error`) would hide the layer it comes from.
                None => faults
                    .push(format!("{relative}: `crate::{import}` is no module; name the one it lives in")),
                Some(other) if other > own || (other == own && import != module) => {
                    faults.push(format!("{relative}: layer {own} names `crate::{import}` of layer {other}"));
                }
                Some(_) => {}
            }
        }
    }
    for (name, places) in CRATES {
        if names_crate(&code, name) && !places.iter().any(|place| relative.starts_with(place)) {
            faults.push(format!(
                "{relative}: names the crate `{name}`, which belongs in {}",
                places.join(", ")
            ));
        }
    }
    faults
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn no_module_names_a_higher_layer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 3, "no sources found under {}", root.display());
    let mut all = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        if relative != "lib.rs" {
            all.extend(faults(&relative, &fs::read_to_string(&file).unwrap()));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn the_check_itself_sees_planted_faults() {
    let planted = [
        ("index/scan.rs", "use crate::record::Store;"),
        ("order.rs", "use crate::file::DataFile;"),
        ("example/mod.rs", "use crate::{error::Result, batch::{Batch, State}};"),
        ("record/mod.rs", "use crate::Error;"),
        ("image/jpeg/idct.rs", "fn f() -> crate::error::Result<()> { Ok(()) }"),
        ("image/resize.rs", "fn f() { crate::dataset::open() }"),
        ("batch/mod.rs", "use memmap2::Mmap;"),
        ("dataset/mod.rs", "use ::image::RgbImage;"),
        ("surprise.rs", "fn f() {}"),
    ];
    for (file, source) in planted {
        assert_eq!(faults(file, source).len(), 1, "{file}: {source}");
    }
    let fine = [
        ("batch/mod.rs", "use crate::{dataset::Dataset, error::Result}; // crate::nothing"),
        ("image/jpeg/idct.rs", "use super::tables::ZIGZAG; use crate::image::jpeg::huffman;"),
        ("example/view.rs", "/// As `crate::batch::Batch`.\nuse crate::error::{Error, Result};"),
    ];
    for (file, source) in fine {
        assert_eq!(faults(file, source), Vec::<String>::new());
    }
}
