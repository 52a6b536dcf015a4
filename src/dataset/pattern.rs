//! Patterns for paths: `*`, `?`, `[a-z]`, `[!a-z]` within a name, and `{a,b}` anywhere.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};

/// More alternatives than this are a mistake.
const MAX_ALTERNATIVES: usize = 10_000;

/// A pattern for paths. What exists of it under its very name is literal, whatever characters it has.
pub(super) struct Pattern {
    base: PathBuf,
    /// What the rest stands for, with its braces resolved.
    rest: Vec<PathBuf>,
}

impl Pattern {
    /// Takes a path that does not exist for a pattern; `None` where it holds no character that means something in one.
    ///
    /// # Errors
    /// `InvalidArgument` where it has too many alternatives.
    pub(super) fn parse(path: &Path) -> Result<Option<Pattern>> {
        if !has_meaning(path) {
            return Ok(None);
        }
        let mut base = PathBuf::new();
        let mut components = path.components();
        for component in components.clone() {
            let next = base.join(component);
            if next.symlink_metadata().is_err() {
                break;
            }
            base = next;
            components.next();
        }
        let rest = alternatives(components.as_path())?;
        Ok(Some(Pattern { base, rest }))
    }

    /// The files that match, in no particular order. A name that begins with a dot is matched only by a pattern that
    /// does too.
    ///
    /// # Errors
    /// `Io` where a folder that exists cannot be read.
    pub(super) fn expand(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for rest in &self.rest {
            let mut places = vec![self.base.clone()];
            for component in rest.components() {
                let mut next = Vec::new();
                for place in places {
                    step(place, component, &mut next)?;
                }
                places = next;
            }
            found.extend(places.into_iter().filter(|place| !place.is_dir()));
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// True where a path matches, whether it exists or not.
    pub(super) fn matches(&self, path: &Path) -> bool {
        let Ok(path) = path.strip_prefix(&self.base) else { return false };
        self.rest.iter().any(|rest| {
            let (mut a, mut b) = (rest.components(), path.components());
            loop {
                match (a.next(), b.next()) {
                    (None, None) => return true,
                    (Some(pattern), Some(name)) => {
                        let (pattern, name) = (pattern.as_os_str(), name.as_os_str());
                        if pattern != name
                            && !name_matches(pattern.as_encoded_bytes(), name.as_encoded_bytes())
                        {
                            return false;
                        }
                    }
                    _ => return false,
                }
            }
        })
    }
}

/// True where a path holds a character that means something in a pattern.
fn has_meaning(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{".contains(byte))
}

/// What one component of a pattern leads to from one place.
fn step(place: PathBuf, component: Component<'_>, next: &mut Vec<PathBuf>) -> Result<()> {
    let name = component.as_os_str();
    let literal = place.join(name);
    let Component::Normal(_) = component else {
        next.push(literal);
        return Ok(());
    };
    // What exists under the very name is meant, whatever characters it has.
    if literal.symlink_metadata().is_ok() {
        next.push(literal);
        return Ok(());
    }
    if !has_meaning(Path::new(name)) {
        return Ok(());
    }
    let folder = if place.as_os_str().is_empty() { Path::new(".") } else { &place };
    if !folder.is_dir() {
        return Ok(());
    }
    let at = |error| Error::io(folder, error);
    for entry in fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?.file_name();
        if name_matches(name.as_encoded_bytes(), entry.as_encoded_bytes()) {
            next.push(place.join(entry));
        }
    }
    Ok(())
}

/// The paths that a path with `{a,b}` stands for. Braces that hold no comma, or are not closed, are literal.
fn alternatives(path: &Path) -> Result<Vec<PathBuf>> {
    let mut open = vec![path.as_os_str().as_encoded_bytes().to_vec()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        if open.len() + done.len() > MAX_ALTERNATIVES {
            return Err(Error::invalid("the pattern has too many alternatives").at_path(path));
        }
        match braces(&text) {
            Some((start, end, commas)) => {
                let bounds: Vec<_> = [start].into_iter().chain(commas).chain([end]).collect();
                for pair in bounds.windows(2) {
                    open.push([&text[..start], &text[pair[0] + 1..pair[1]], &text[end + 1..]].concat());
                }
            }
            None => done.push(PathBuf::from(os_string(text))),
        }
    }
    Ok(done)
}

/// The first `{` with commas in it, its `}`, and the commas at its own level.
fn braces(text: &[u8]) -> Option<(usize, usize, Vec<usize>)> {
    for start in (0..text.len()).filter(|&at| text[at] == b'{') {
        let (mut depth, mut commas) = (0, Vec::new());
        for (at, byte) in text.iter().enumerate().skip(start) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b',' if depth == 1 => commas.push(at),
                _ => {}
            }
            if depth == 0 {
                if commas.is_empty() {
                    break;
                }
                return Some((start, at, commas));
            }
        }
    }
    None
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// True where a name matches a pattern of `*`, `?` and `[..]`. `?` and `[..]` stand for one character.
fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.starts_with(b".") && !pattern.starts_with(b".") {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    // Where to go on when the last star has to take one character more.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if n == name.len() && pattern[p..].iter().all(|&byte| byte == b'*') {
            return true;
        }
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p, n));
            p += 1;
            continue;
        }
        if n < name.len()
            && let Some((pattern_len, name_len)) = one_matches(&pattern[p..], &name[n..])
        {
            p += pattern_len;
            n += name_len;
            continue;
        }
        match retry {
            Some((star, taken)) if taken < name.len() => {
                retry = Some((star, taken + 1));
                (p, n) = (star + 1, taken + 1);
            }
            _ => return false,
        }
    }
}

/// How many bytes of the pattern's first element and of the name's first character belong together.
fn one_matches(pattern: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let char_len = char_len(name);
    match *pattern.first()? {
        b'?' => Some((1, char_len)),
        b'[' => match class(&pattern[1..], &name[..char_len]) {
            Some((len, true)) => Some((1 + len, char_len)),
            Some((_, false)) => None,
            None => (name[0] == b'[').then_some((1, 1)),
        },
        byte => (byte == name[0]).then_some((1, 1)),
    }
}

fn char_len(name: &[u8]) -> usize {
    (1..=name.len().min(4)).find(|&len| std::str::from_utf8(&name[..len]).is_ok()).unwrap_or(1)
}

/// For a class after its `[`: how long it is with its `]`, and whether the character is in it; `None` where it is not
/// closed, so that the bracket is literal.
fn class(pattern: &[u8], character: &[u8]) -> Option<(usize, bool)> {
    let negated = matches!(pattern.first(), Some(b'!' | b'^'));
    let start = usize::from(negated);
    // A closing bracket in the first place is a member.
    let len = start + 1 + pattern.get(start + 1..)?.iter().position(|&byte| byte == b']')?;
    let members = String::from_utf8_lossy(&pattern[start..len]);
    let members: Vec<char> = members.chars().collect();
    let character = std::str::from_utf8(character).ok().and_then(|text| text.chars().next());
    let mut at = 0;
    let mut inside = false;
    while at < members.len() {
        let last = match members.get(at + 1..at + 3) {
            Some(&['-', last]) => last,
            _ => members[at],
        };
        inside |= character.is_some_and(|c| (members[at]..=last).contains(&c));
        at += if members.get(at + 1) == Some(&'-') && at + 2 < members.len() { 3 } else { 1 };
    }
    Some((len + 1, inside != negated))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, name: &str) -> bool {
        let rest = alternatives(Path::new(pattern)).unwrap();
        Pattern { base: PathBuf::new(), rest }.matches(Path::new(name))
    }

    #[test]
    fn patterns() {
        let yes = [
            ("a*", "abc"),
            ("*", "abc"),
            ("a*c*e", "abcde"),
            ("?b?", "äbc"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[]]x", "]x"),
            ("[x", "[x"),
            ("{a,b}-*", "b-1"),
            ("{a,{b,c}}{1,2}", "c2"),
            ("d{/x,}/y", "d/y"),
            ("{a}", "{a}"),
            ("[0-9][0-9]", "42"),
            ("[a-]", "-"),
            ("d/*/y", "d/x/y"),
        ];
        for (pattern, name) in yes {
            assert!(check(pattern, name), "{pattern} {name}");
        }
        let no = [
            ("a*", "ba"),
            ("*", ".a"),
            ("a?", "a"),
            ("[a-c]x", "dx"),
            ("*", "a/b"),
            ("{a,b}", "{a,b}"),
            ("", "a"),
        ];
        for (pattern, name) in no {
            assert!(!check(pattern, name), "{pattern} {name}");
        }
        assert!(!name_matches("a*a*a*a*a*a*a*a*a*b".as_bytes(), &[b'a'; 200]));
    }

    #[test]
    fn alternatives_are_bounded() {
        let path = "{a,b}".repeat(40);
        assert!(alternatives(Path::new(&path)).is_err());
        assert_eq!(alternatives(Path::new("{,a}b")).unwrap().len(), 2);
    }
}
