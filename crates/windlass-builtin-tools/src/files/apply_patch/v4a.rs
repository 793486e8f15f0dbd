//! The format that begins with `*** Begin Patch`.

use super::patch::{Anchor, FileChange, FilePatch, Hunk, HunkLine, MAX_FILES, Mark, ParseError};

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, ParseError> {
    let mut reader = Reader { lines, at: 0 };
    while reader.peek().is_some_and(|line| line.trim().is_empty() || line.trim() == BEGIN) {
        let begins = reader.next_line().is_some_and(|(_, line)| !line.trim().is_empty());
        if begins {
            break;
        }
    }
    let mut files = Vec::new();
    while let Some((number, line)) = reader.next_line() {
        let line = line.trim_end();
        if line.trim() == END {
            return reader.expect_end().map(|()| files);
        }
        if line.trim().is_empty() {
            continue;
        }
        if files.len() >= MAX_FILES {
            return Err(ParseError::TooManyFiles);
        }
        files.push(reader.file(number, line)?);
    }
    Err(ParseError::NoEnd)
}

/// Reader of a patch's lines, from the first to the last.
struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// The next line and its number, from 1.
    fn next_line(&mut self) -> Option<(usize, &'a str)> {
        let line = self.peek()?;
        self.at += 1;
        Some((self.at, line))
    }

    fn expect_end(&mut self) -> Result<(), ParseError> {
        while let Some((number, line)) = self.next_line() {
            if !line.trim().is_empty() {
                return Err(ParseError::at(number, "nothing may follow `*** End Patch`", line));
            }
        }
        Ok(())
    }

    /// Change of one file whose header was read.
    fn file(&mut self, number: usize, header: &str) -> Result<FilePatch, ParseError> {
        let path = |prefix: &str| header.strip_prefix(prefix).map(|path| path.trim().to_owned());
        let (path, change) = if let Some(path) = path(ADD) {
            (path, FileChange::Add(self.added_content()?))
        } else if let Some(path) = path(DELETE) {
            (path, FileChange::Delete(None))
        } else if let Some(path) = path(UPDATE) {
            (path, self.update(number, header)?)
        } else {
            let problem = "expected `*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH` or \
                           `*** End Patch`";
            return Err(ParseError::at(number, problem, header));
        };
        if path.is_empty() {
            return Err(ParseError::at(number, "the path of the file is missing", header));
        }
        Ok(FilePatch { path, change })
    }

    fn added_content(&mut self) -> Result<String, ParseError> {
        let mut content = String::new();
        while let Some(line) = self.peek().filter(|line| !is_marker(line)) {
            let Some(text) = line.strip_prefix('+') else {
                if line.trim().is_empty() && self.only_blank_lines_until_marker() {
                    break;
                }
                let problem = "each line of an added file begins with `+`";
                return Err(ParseError::at(self.at + 1, problem, line));
            };
            content.push_str(text);
            content.push('\n');
            self.at += 1;
        }
        Ok(content)
    }

    fn only_blank_lines_until_marker(&self) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        rest.iter().find(|line| !line.trim().is_empty()).is_none_or(|line| is_marker(line))
    }

    fn update(&mut self, number: usize, header: &str) -> Result<FileChange, ParseError> {
        let mut move_to = None;
        if let Some(line) = self.peek().and_then(|line| line.trim_end().strip_prefix(MOVE)) {
            self.at += 1;
            if line.trim().is_empty() {
                return Err(ParseError::at(self.at, "the new path of the file is missing", MOVE));
            }
            move_to = Some(line.trim().to_owned());
        }
        let mut hunks = Vec::new();
        while let Some(line) = self.peek().filter(|line| !is_marker(line)) {
            if line.trim().is_empty() && self.only_blank_lines_until_marker() {
                break;
            }
            hunks.push(self.hunk()?);
        }
        if hunks.is_empty() && move_to.is_none() {
            return Err(ParseError::at(number, "no change follows: add a hunk that begins with `@@`", header));
        }
        Ok(FileChange::Update { move_to, hunks })
    }

    fn hunk(&mut self) -> Result<Hunk, ParseError> {
        let mut hunk = Hunk { line: self.at + 1, ..Hunk::default() };
        let mut headers = Vec::new();
        while let Some(header) = self.peek().and_then(|line| line.strip_prefix("@@")) {
            self.at += 1;
            // Positions of a unified diff are less specific than the lines below.
            let is_position = header.trim_start().starts_with('-') && header.contains('+') && header.contains("@@");
            if !header.trim().is_empty() && !is_position {
                headers.push(header.strip_prefix(' ').unwrap_or(header).to_owned());
            }
        }
        let mut at_end = false;
        // Number of unmarked lines at the end: they separate two hunks and belong to none.
        let mut unmarked = 0;
        while let Some(line) = self.peek().filter(|line| !line.starts_with("@@")) {
            if line.trim_end() == END_OF_FILE {
                self.at += 1;
                at_end = true;
                break;
            }
            if is_marker(line) {
                break;
            }
            let (mark, text) = split_mark(line).ok_or_else(|| {
                let problem = "each line of a hunk begins with a blank (kept), `-` (removed) or `+` (added)";
                ParseError::at(self.at + 1, problem, line)
            })?;
            unmarked = if line.is_empty() { unmarked + 1 } else { 0 };
            hunk.lines.push(HunkLine::new(mark, text));
            self.at += 1;
        }
        hunk.lines.truncate(hunk.lines.len() - unmarked);
        if hunk.lines.iter().all(|line| line.mark == Mark::Keep) {
            let (number, text) = (self.at.min(self.lines.len()), self.peek().unwrap_or_default());
            return Err(ParseError::at(number, "the hunk before it has no line with `-` or `+`", text));
        }
        hunk.anchor = Anchor::Below { headers, at_end };
        Ok(hunk)
    }
}

fn split_mark(line: &str) -> Option<(Mark, &str)> {
    let mark = match line.chars().next() {
        None => return Some((Mark::Keep, "")),
        Some(' ') => Mark::Keep,
        Some('-') => Mark::Remove,
        Some('+') => Mark::Add,
        Some(_) => return None,
    };
    line.get(1..).map(|text| (mark, text))
}

/// `true` if a line begins the next file or ends the patch.
fn is_marker(line: &str) -> bool {
    let line = line.trim_end();
    line == END || [ADD, DELETE, UPDATE].iter().any(|header| line.starts_with(header))
}
