//! Fear: a snippet in the docs no longer compiles, or says other than the code.
//!
//! A Rust snippet in `docs/` is one of two things: a documentation test of this crate (the guide is one, see `src/lib.rs`), or, under a
//! line `<!-- FILE: REGION -->` and marked `ignore`, the text between `// region: REGION` and `// endregion` of a compiled example.
//! `TFRMAP_WRITE_DOCS=1` writes the latter anew.

use std::fs;
use std::path::{Path, PathBuf};

/// The documents whose Rust snippets are documentation tests.
const TESTED: &[&str] = &["guide.md"];

struct Snippet {
    /// The lines within the fences.
    begin: usize,
    end: usize,
    /// What follows the three ticks.
    info: String,
    /// The line above the fence.
    above: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn snippets(lines: &[&str]) -> Vec<Snippet> {
    let mut found = Vec::new();
    let mut open: Option<Snippet> = None;
    for (number, line) in lines.iter().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                let above = lines[..number].last().unwrap_or(&"").to_string();
                open = Some(Snippet { begin: number + 1, end: 0, info: info.to_owned(), above });
            }
            (Some(_), Some(snippet)) => {
                snippet.end = number;
                found.extend(open.take());
            }
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    found
}

/// The text of a region, moved to the left.
fn region(source: &str, name: &str) -> Option<String> {
    let mark = format!("// region: {name}");
    let lines: Vec<&str> = source.lines().skip_while(|line| line.trim() != mark).skip(1).collect();
    let end = lines.iter().position(|line| line.trim() == "// endregion")?;
    let lines = &lines[..end];
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.is_empty()).map(|line| indent(&line)).min()?;
    let moved: Vec<&str> = lines.iter().map(|line| line.get(least..).unwrap_or("")).collect();
    Some(moved.join("\n"))
}

fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    found
}

/// The document as it ought to be, and what is wrong with it.
fn checked(path: &Path, text: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut new: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    let mut copied = 0;
    for Snippet { begin, end, info, above } in snippets(&lines) {
        let place = format!("docs/{name}:{begin}");
        let source = above.strip_prefix("<!-- ").and_then(|text| text.strip_suffix(" -->")?.split_once(": "));
        if info == "rust,ignore" {
            let Some((file, mark)) = source else {
                wrong.push(format!("{place} is not compiled, and names no example"));
                continue;
            };
            let code = fs::read_to_string(root().join(file)).unwrap_or_default();
            let Some(expected) = region(&code, mark) else {
                wrong.push(format!("{place}: {file} has no region {mark}"));
                continue;
            };
            if lines[begin..end].join("\n") != expected {
                wrong.push(format!("{place} is not what {file} says in its region {mark}"));
            }
            new.extend(lines[copied..begin].iter().map(|line| line.to_string()));
            new.push(expected);
            copied = end;
        } else if info.starts_with("rust") && !TESTED.contains(&name) {
            wrong.push(format!("{place} is neither an example's region nor in a document that is tested"));
        }
    }
    new.extend(lines[copied..].iter().map(|line| line.to_string()));
    (new.join("\n") + "\n", wrong)
}

#[test]
fn rust_in_the_docs_is_compiled_or_what_an_example_says() {
    let mut wrong = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let (new, found) = checked(&path, &text);
        if std::env::var_os("TFRMAP_WRITE_DOCS").is_some() && new != text {
            fs::write(&path, new).unwrap();
        }
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{}\nTFRMAP_WRITE_DOCS=1 copies the regions anew", wrong.join("\n"));
}

#[test]
fn each_document_that_is_tested_is_included_in_the_crate() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for name in TESTED {
        assert!(
            lib.contains(&format!("include_str!(\"../docs/{name}\")")),
            "src/lib.rs does not test docs/{name}"
        );
    }
}
