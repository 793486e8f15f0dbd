//! Unified diffs as pairs of old and new text.

use serde_json::{Value, json};
use std::path::Path;

/// Name of a file that is not there.
const NOTHING: &str = "/dev/null";

/// One hunk of a file.
#[derive(Debug, Default)]
struct Hunk {
    old: String,
    new: String,
    line: Option<u64>,
}

/// Contents and locations that a unified diff becomes.
#[derive(Debug, Default)]
pub(crate) struct Diffs {
    /// One entry for each hunk.
    pub(crate) content: Vec<Value>,
    /// First line of each hunk.
    pub(crate) locations: Vec<Value>,
}

/// Reads a unified diff. Paths are taken relative to `cwd`; lines that belong to no hunk are left out.
pub(crate) fn read(diff: &str, cwd: &Path) -> Diffs {
    let (mut diffs, mut names) = (Diffs::default(), (NOTHING.to_owned(), NOTHING.to_owned()));
    let mut hunk: Option<Hunk> = None;
    let (mut old_left, mut new_left) = (0, 0);
    let mut last = None;
    for line in diff.lines() {
        if old_left == 0 && new_left == 0 {
            if let Some((old, new)) = counts(line) {
                diffs.push(hunk.take(), &names, cwd);
                (old_left, new_left) = (old, new);
                hunk = Some(Hunk { line: start(line), ..Hunk::default() });
                continue;
            }
            if let Some(name) = line.strip_prefix("--- ") {
                diffs.push(hunk.take(), &names, cwd);
                names.0 = name.to_owned();
            } else if let Some(name) = line.strip_prefix("+++ ") {
                names.1 = name.to_owned();
            } else if line.starts_with('\\') {
                strip_end(hunk.as_mut(), last);
            }
            continue;
        }
        let Some(open) = &mut hunk else { continue };
        let mark = line.chars().next().unwrap_or(' ');
        let text = line.get(mark.len_utf8()..).unwrap_or_default();
        match mark {
            '\\' => strip_end(Some(open), last),
            '-' => {
                push_line(&mut open.old, text);
                old_left = u64::saturating_sub(old_left, 1);
            }
            '+' => {
                push_line(&mut open.new, text);
                new_left = u64::saturating_sub(new_left, 1);
            }
            _ => {
                push_line(&mut open.old, text);
                push_line(&mut open.new, text);
                (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
            }
        }
        if mark != '\\' {
            last = Some(mark);
        }
    }
    diffs.push(hunk, &names, cwd);
    diffs
}

impl Diffs {
    fn push(&mut self, hunk: Option<Hunk>, names: &(String, String), cwd: &Path) {
        let Some(Hunk { old, new, line }) = hunk else { return };
        let name = if names.1 == NOTHING { &names.0 } else { &names.1 };
        let path = cwd.join(name);
        let path = path.to_string_lossy();
        let old = (names.0 != NOTHING).then_some(old);
        self.content.push(json!({ "type": "diff", "path": path, "oldText": old, "newText": new }));
        self.locations.push(json!({ "path": path, "line": line }));
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Removes the line end that the last line does not have.
fn strip_end(hunk: Option<&mut Hunk>, last: Option<char>) {
    let Some(hunk) = hunk else { return };
    if last != Some('+') {
        hunk.old.pop();
    }
    if last != Some('-') {
        hunk.new.pop();
    }
}

/// Numbers of old and new lines that the header of a hunk names.
fn counts(line: &str) -> Option<(u64, u64)> {
    let (old, new) = ranges(line)?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

/// First new line of a hunk.
fn start(line: &str) -> Option<u64> {
    let (_, new) = ranges(line)?;
    new.split(',').next()?.parse().ok()
}

fn ranges(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix("@@ -")?;
    let (ranges, _) = inner.split_once(" @@")?;
    ranges.split_once(" +")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_become_old_and_new_text() {
        let text = "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n@@ -9 +9,2 @@\n--- x\n+y\n+z\n\
                    --- /dev/null\n+++ new.txt\n@@ -0,0 +1 @@\n+c\n--- /w/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n\
                    (the rest of this change is not shown)\n";
        let diffs = read(text, Path::new("/w"));
        let expected = [
            json!({ "type": "diff", "path": "/w/a.txt", "oldText": "a\nb", "newText": "a\nb\n" }),
            json!({ "type": "diff", "path": "/w/a.txt", "oldText": "-- x\n", "newText": "y\nz\n" }),
            json!({ "type": "diff", "path": "/w/new.txt", "oldText": null, "newText": "c\n" }),
            json!({ "type": "diff", "path": "/w/old.txt", "oldText": "d\n", "newText": "" }),
        ];
        assert_eq!(diffs.content, expected);
        assert_eq!(diffs.locations[1], json!({ "path": "/w/a.txt", "line": 9 }));
    }

    #[test]
    fn what_is_no_diff_gives_nothing() {
        for text in ["", "hello\nworld", "@@ nonsense @@\n-a", "--- a\n+++ b\n"] {
            assert!(read(text, Path::new("/w")).content.is_empty(), "{text}");
        }
    }
}
