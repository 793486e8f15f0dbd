//! Unified diffs, including those of git.

use super::patch::{Anchor, FileChange, FilePatch, Hunk, HunkLine, MAX_FILES, Mark, ParseError};

/// `true` if a line can be the first of a unified diff.
pub(super) fn is_header(line: &str) -> bool {
    ["--- ", "diff --git ", "diff -", "Index: "].iter().any(|start| line.starts_with(start))
}

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, ParseError> {
    let mut reader = Reader { lines, at: 0 };
    let mut files = Vec::new();
    while let Some(line) = reader.peek() {
        if line.trim().is_empty() {
            reader.at += 1;
            continue;
        }
        if files.len() >= MAX_FILES {
            return Err(ParseError::TooManyFiles);
        }
        files.extend(reader.file()?);
    }
    Ok(files)
}

/// Lines before the hunks of a file.
#[derive(Debug, Default)]
struct Head {
    /// Line of the patch, from 1.
    line: usize,
    /// Names after `---` and `+++`; `None` for `/dev/null`.
    names: Option<(Option<String>, Option<String>)>,
    /// Path after `diff --git`, if both are the same.
    git: Option<String>,
    renamed: (Option<String>, Option<String>),
    created: bool,
    deleted: bool,
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// Change of the next file. `None` if git names one without a change.
    fn file(&mut self) -> Result<Option<FilePatch>, ParseError> {
        let head = self.head()?;
        let mut hunks = Vec::new();
        if head.names.is_some() {
            while self.peek().is_some_and(|line| line.starts_with("@@ ")) {
                hunks.push(self.hunk()?);
            }
        }
        let line = head.line;
        let missing_name = || ParseError::at(line, "no file is named: add `--- a/PATH` and `+++ b/PATH`", "");
        let has_names = head.names.is_some();
        let (old, new) = match (head.names, head.renamed, head.git) {
            (Some((old, new)), ..) => (old, new),
            (None, (Some(old), Some(new)), _) => (Some(old), Some(new)),
            (None, _, Some(path)) => (Some(path.clone()), Some(path)),
            _ => return Err(missing_name()),
        };
        if has_names && hunks.is_empty() {
            return Err(ParseError::at(self.at, "no hunk follows: expected `@@ -LINE,COUNT +LINE,COUNT @@`", ""));
        }
        Ok(match (old, new) {
            (None, None) => return Err(missing_name()),
            (None, Some(path)) => Some(FilePatch { path, change: FileChange::Add(added_content(&hunks)?) }),
            (Some(path), None) => Some(FilePatch { path, change: FileChange::Delete(Some(hunks)) }),
            (Some(path), Some(_)) if head.created => {
                Some(FilePatch { path, change: FileChange::Add(added_content(&hunks)?) })
            }
            (Some(path), Some(_)) if head.deleted => Some(FilePatch { path, change: FileChange::Delete(Some(hunks)) }),
            (Some(path), Some(new)) => {
                let move_to = (new != path).then_some(new);
                let changes = move_to.is_some() || !hunks.is_empty();
                changes.then_some(FilePatch { path, change: FileChange::Update { move_to, hunks } })
            }
        })
    }

    fn head(&mut self) -> Result<Head, ParseError> {
        let mut head = Head { line: self.at + 1, ..Head::default() };
        let start = self.at;
        while let Some(line) = self.peek() {
            let number = self.at + 1;
            if let Some(old) = line.strip_prefix("--- ") {
                let new = self.lines.get(self.at + 1).and_then(|line| line.strip_prefix("+++ "));
                let Some(new) = new else {
                    return Err(ParseError::at(number, "a `+++` line must follow the `---` line", line));
                };
                head.names = Some(names(old, new));
                self.at += 2;
                return Ok(head);
            }
            if self.at > start && line.starts_with("diff ") {
                break;
            }
            if let Some(paths) = line.strip_prefix("diff --git ") {
                head.git = same_path(paths);
            } else if let Some(problem) = unsupported_change(line) {
                return Err(ParseError::at(number, problem, line));
            } else if let Some(path) = line.strip_prefix("rename from ") {
                head.renamed.0 = Some(unquote(path));
            } else if let Some(path) = line.strip_prefix("rename to ") {
                head.renamed.1 = Some(unquote(path));
            } else if line.starts_with("new file mode ") {
                head.created = true;
            } else if line.starts_with("deleted file mode ") {
                head.deleted = true;
            } else if !is_remark(line) {
                let problem = "expected the head of a file: `--- a/PATH` and `+++ b/PATH`";
                return Err(ParseError::at(number, problem, line));
            }
            self.at += 1;
        }
        Ok(head)
    }

    fn hunk(&mut self) -> Result<Hunk, ParseError> {
        let (number, header) = (self.at + 1, self.peek().unwrap_or_default());
        let Some((start, mut old, mut new)) = parse_ranges(header) else {
            return Err(ParseError::at(number, "expected `@@ -LINE,COUNT +LINE,COUNT @@`", header));
        };
        self.at += 1;
        let mut hunk = Hunk { line: number, anchor: Anchor::Line(start), lines: Vec::new() };
        while old > 0 || new > 0 {
            let Some(line) = self.peek() else {
                return Err(ParseError::at(
                    self.at,
                    "the hunk ends before it has the lines that its head counts",
                    header,
                ));
            };
            let (mark, text) = match (line.chars().next(), line.get(1..)) {
                // Some programs cut blanks at the end of lines.
                (None, _) => (Mark::Keep, ""),
                (Some(' '), Some(text)) => (Mark::Keep, text),
                (Some('-'), Some(text)) => (Mark::Remove, text),
                (Some('+'), Some(text)) => (Mark::Add, text),
                (Some('\\'), _) => {
                    self.mark_unended(&mut hunk);
                    continue;
                }
                _ => {
                    let problem = "the hunk has fewer lines than its head counts, or a line without a mark";
                    return Err(ParseError::at(self.at + 1, problem, line));
                }
            };
            let (from_old, from_new) = (usize::from(mark != Mark::Add), usize::from(mark != Mark::Remove));
            if from_old > old || from_new > new {
                return Err(ParseError::at(self.at + 1, "the hunk has more lines than its head counts", line));
            }
            (old, new) = (old - from_old, new - from_new);
            hunk.lines.push(HunkLine::new(mark, text));
            self.at += 1;
        }
        if self.peek().is_some_and(|line| line.starts_with('\\')) {
            self.mark_unended(&mut hunk);
        }
        if hunk.lines.iter().all(|line| line.mark == Mark::Keep) {
            return Err(ParseError::at(number, "the hunk has no line with `-` or `+`", header));
        }
        Ok(hunk)
    }

    /// Reads `\ No newline at end of file`, which refers to the line before.
    fn mark_unended(&mut self, hunk: &mut Hunk) {
        if let Some(last) = hunk.lines.last_mut() {
            last.unended = true;
        }
        self.at += 1;
    }
}

/// Unsupported change that a line of the head requests.
fn unsupported_change(line: &str) -> Option<&'static str> {
    let mode = ["old mode ", "new mode ", "new file mode "].iter().find_map(|head| line.strip_prefix(head));
    match mode {
        Some(_) if line.starts_with("old mode") || line.starts_with("new mode") => {
            return Some("modes of files are not changed here: leave it out, and use chmod through Bash");
        }
        Some(mode) if mode.trim() != "100644" => {
            return Some("a new file has the usual mode here: leave the line out, and use chmod or ln through Bash");
        }
        _ => {}
    }
    if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
        return Some("binary files cannot be patched as text");
    }
    let copies = line.starts_with("copy from ") || line.starts_with("copy to ");
    copies.then_some("copies are not made here: add the new file with its whole content")
}

/// `true` for lines before the hunks that change nothing.
fn is_remark(line: &str) -> bool {
    const REMARKS: [&str; 7] =
        ["index ", "Index: ", "similarity index ", "dissimilarity index ", "====", "diff -", "Only in "];
    line.trim().is_empty() || REMARKS.iter().any(|start| line.starts_with(start))
}

/// `@@ -start,count +start,count @@`: the old start, and both counts.
fn parse_ranges(header: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    Some((start, old, new))
}

/// Names after `---` and `+++`, without the `a/` and `b/` of git.
fn names(old: &str, new: &str) -> (Option<String>, Option<String>) {
    let read = |name: &str| {
        let name = if name.starts_with('"') { name } else { name.split('\t').next().unwrap_or_default() };
        let name = unquote(name.trim_end());
        (name != "/dev/null").then_some(name)
    };
    let (old, new) = (read(old), read(new));
    let marked = |name: &Option<String>, mark: &str| name.as_deref().is_none_or(|name| name.starts_with(mark));
    if marked(&old, "a/") && marked(&new, "b/") {
        let without_mark = |name: String| name.get(2..).unwrap_or_default().to_owned();
        return (old.map(without_mark), new.map(without_mark));
    }
    (old, new)
}

/// The path of `a/PATH b/PATH`, if both are the same.
fn same_path(paths: &str) -> Option<String> {
    if let Some(rest) = paths.strip_prefix('"') {
        let (old, _) = rest.split_once("\" ")?;
        return unquote(&format!("\"{old}\"")).strip_prefix("a/").map(str::to_owned);
    }
    let half = paths.len().checked_sub(1)? / 2;
    let (old, new) = (paths.get(..half)?, paths.get(half + 1..)?);
    let old = old.strip_prefix("a/")?;
    (new.strip_prefix("b/") == Some(old)).then(|| old.to_owned())
}

/// Unquotes a path of git: in double quotes, with escapes as in C.
fn unquote(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some(escaped) = rest.next() else { break };
        bytes.push(match escaped {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'0'..=b'3' => {
                let mut value = escaped - b'0';
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|digit| (b'0'..=b'7').contains(digit)) else { break };
                    value = value.wrapping_mul(8).wrapping_add(digit - b'0');
                }
                value
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Content of a file that a diff adds.
fn added_content(hunks: &[Hunk]) -> Result<String, ParseError> {
    let mut content = String::new();
    if let [_, second, ..] = hunks {
        return Err(ParseError::at(second.line, "a new file has one hunk", ""));
    }
    for hunk in hunks {
        for line in &hunk.lines {
            if line.mark != Mark::Add {
                return Err(ParseError::at(hunk.line, "a new file has only lines with `+`", &line.text));
            }
            content.push_str(&line.text);
            if !line.unended {
                content.push('\n');
            }
        }
    }
    Ok(content)
}
