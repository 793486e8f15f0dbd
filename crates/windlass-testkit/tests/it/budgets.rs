//! Limits on the length of functions, and on the packages that a crate brings along.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum number of lines of code in the body of one function.
const LONGEST_FUNCTION: usize = 60;

/// Crates with a longer function, and the length of the longest.
const LONGER_FUNCTIONS: &[(&str, usize)] = &[("windlass-mcp", 64)];

/// Arguments of `cargo tree`, and the number of packages that are compiled into such a program, including the named
/// one. The budgets of whole programs are in `packages.rs`.
const PACKAGES: &[(&[&str], usize)] = &[
    // Answers of hosts to hooks are read like those of programs.
    (&["-p", "windlass-protocol"], 64),
    (&["-p", "windlass-types"], 12),
    (&["-p", "windlass-model"], 17),
    (&["-p", "windlass-core"], 28),
    // Three of them are rustix and its dependencies: names of private files are made durable with it.
    (&["-p", "windlass-runtime"], 57),
];

pub(crate) fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Returns the source files of a crate that are not tests.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns a source text without comments, quoted text, and the module of tests at its end.
pub(crate) fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_kept) = token(rest);
        let (taken, behind) = rest.split_at(length.max(first.len_utf8()));
        if is_kept {
            code.push_str(taken);
        } else {
            code.extend(taken.matches('\n'));
        }
        rest = behind;
    }
    code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Returns the length of the token at the beginning, and `true` if it is code.
fn token(text: &str) -> (usize, bool) {
    let upto = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), false);
    }
    if text.starts_with("/*") {
        return (upto("*/", 2), false);
    }
    let raw = text.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
    if let Some(hashes) = raw.filter(|hashes| text[1 + hashes..].starts_with('"')) {
        return (upto(&format!("\"{}", "#".repeat(hashes)), hashes + 2), false);
    }
    if let Some(inside) = text.strip_prefix('"') {
        return (1 + quoted(inside, '"').unwrap_or(inside.len()), false);
    }
    if let Some(inside) = text.strip_prefix('\'') {
        // A character: an escape, or one that is closed at once. Anything else is a lifetime.
        let is_escape = inside.starts_with('\\');
        let closed = inside.chars().nth(1) == Some('\'');
        return match quoted(inside, '\'') {
            Some(length) if is_escape || closed => (1 + length, false),
            _ => (1, true),
        };
    }
    // A whole word at a time, so that the `r` at its end does not begin a text.
    (text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()), true)
}

/// Returns the position after the closing quote.
fn quoted(inside: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Returns the functions of a text that have a body, with the number of its lines.
fn functions(code: &str) -> Vec<(String, usize)> {
    items(code, "fn ").map(|(name, body)| (name.to_owned(), lines(body))).collect()
}

/// Returns the names and bodies of items with a keyword.
fn items<'a>(code: &'a str, keyword: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code.match_indices(keyword).filter_map(move |(at, _)| {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let rest = &code[at + keyword.len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())?;
        Some((name, body(rest)?))
    })
}

/// Returns the text between the braces after a signature. A semicolon outside of brackets ends a signature without a
/// body.
fn body(rest: &str) -> Option<&str> {
    let (mut depth, mut start) = (0_i32, None);
    for (at, c) in rest.char_indices() {
        match c {
            ';' if depth == 0 => return None,
            '{' if depth == 0 => start = Some(at + 1),
            '}' if depth == 1 && start.is_some() => return rest.get(start?..at),
            _ => {}
        }
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
    }
    None
}

#[test]
fn functions_stay_short() {
    for entry in fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let most = LONGER_FUNCTIONS.iter().find(|(one, _)| *one == name).map_or(LONGEST_FUNCTION, |(_, most)| *most);
        for file in sources(&folder.join("src")) {
            for (function, lines) in functions(&code(&fs::read_to_string(&file).unwrap())) {
                assert!(lines <= most, "{function} in {} has {lines} lines, more than {most}", file.display());
            }
        }
    }
}

#[test]
fn crates_bring_few_packages_along() {
    for &(asked, most) in PACKAGES {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--locked", "-e", "normal", "--prefix", "none", "--format", "{p}"])
            .args(asked)
            .current_dir(crates())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let named = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
        let packages: BTreeSet<Vec<String>> = text.lines().filter(|line| !line.is_empty()).map(named).collect();
        assert!(packages.len() > 5, "{asked:?}: {text}");
        assert!(packages.len() <= most, "{asked:?} bring {} packages along, more than {most}", packages.len());
        println!("{asked:?}: {} packages", packages.len());
    }
}

#[test]
fn what_is_no_code_does_not_count() {
    let text = r##"
//! Doc.
fn short(a: &'static str) -> [u8; 2] { // {
    let quote = '"'; let escaped = '\''; let text = "}\" fn none() {";
    /* { */

    let raw = r#"fn other() { " "#;
}
trait Port { fn declared(&self); }
#[cfg(test)]
mod tests {
    fn test() {}
}
"##;
    let code = code(text);
    assert_eq!(lines(&code), 5, "{code}");
    assert_eq!(functions(&code), [("short".to_owned(), 2)], "{code}");
}
