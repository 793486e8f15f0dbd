//! Sinks that collect the matches of one file.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::line::{Line, LineKind, clip};

/// Maximum memory for the lines of one file, in bytes.
pub(super) const MAX_FILE_WEIGHT: usize = 8 * 1024 * 1024;

/// Detects the first match.
#[derive(Debug, Default)]
pub(super) struct FirstMatch {
    pub(super) found: bool,
}

impl Sink for FirstMatch {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.found = true;
        Ok(false)
    }
}

/// Counts matching lines; in multi-line searches, matches.
#[derive(Debug)]
pub(super) struct Count<'m> {
    matcher: &'m RegexMatcher,
    multiline: bool,
    pub(super) count: u64,
}

impl<'m> Count<'m> {
    pub(super) fn new(matcher: &'m RegexMatcher, multiline: bool) -> Self {
        Self { matcher, multiline, count: 0 }
    }
}

impl Sink for Count<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.multiline {
            each_match(self.matcher, found, |_, _| {
                self.count += 1;
                true
            });
        } else {
            self.count += 1;
        }
        Ok(true)
    }
}

/// Collects the lines, up to a limit.
#[derive(Debug)]
pub(super) struct Lines<'m> {
    matcher: &'m RegexMatcher,
    only_matching: bool,
    /// `true` if groups of lines are separated.
    grouped: bool,
    limit: usize,
    pub(super) lines: Vec<Line>,
    pub(super) weight: usize,
}

impl<'m> Lines<'m> {
    pub(super) fn new(matcher: &'m RegexMatcher, only_matching: bool, grouped: bool, limit: usize) -> Self {
        Self { matcher, only_matching, grouped, limit, lines: Vec::new(), weight: 0 }
    }

    /// `true` if the file may have more lines than were taken.
    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= self.limit || self.weight >= MAX_FILE_WEIGHT
    }

    fn push(&mut self, line: Line) -> bool {
        if self.is_full() {
            return false;
        }
        self.weight += line.weight();
        self.lines.push(line);
        !self.is_full()
    }

    /// Starts the group of a file with a separator, if groups are separated.
    fn open_group(&mut self) {
        if self.grouped && self.lines.is_empty() {
            self.push(Line::separator());
        }
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.open_group();
        let first = found.line_number().unwrap_or(1);
        if self.only_matching {
            let matcher = self.matcher;
            each_match(matcher, found, |line, text| {
                (first + line..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, part)| !part.is_empty()).all(
                    |(number, part)| self.push(Line { number, kind: LineKind::Match, text: clip(part, 0..part.len()) }),
                )
            });
            return Ok(!self.is_full());
        }
        for (number, line) in (first..).zip(found.lines()) {
            let focus = if line.len() > super::line::MAX_LINE {
                let found = self.matcher.find(line).map_err(io::Error::other)?;
                found.map_or(0..0, |found| found.start()..found.end())
            } else {
                0..0
            };
            let more = self.push(Line { number, kind: LineKind::Match, text: clip(line, focus) });
            if !more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.open_group();
        Ok(self.push(Line {
            number: line.line_number().unwrap_or(1),
            kind: LineKind::Context,
            text: clip(line.bytes(), 0..0),
        }))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        Ok(self.push(Line::separator()))
    }
}

/// Calls `visit` with the number of lines before each match that is not empty, and with its text, until `visit` returns
/// `false`.
fn each_match(matcher: &RegexMatcher, found: &SinkMatch<'_>, mut visit: impl FnMut(u64, &[u8]) -> bool) {
    // The text around the lines decides if `\b` and `^` match at their ends.
    let buffer = found.buffer();
    let range = found.bytes_range_in_buffer();
    let mut line = 0;
    let mut counted = range.start;
    let mut position = range.start;
    while position < range.end {
        let Ok(Some(next)) = matcher.find_at(buffer, position) else {
            return;
        };
        if next.start() >= range.end {
            return;
        }
        position = next.end().max(position + 1);
        if next.is_empty() {
            position = position.max(next.end() + 1);
            continue;
        }
        let passed = buffer.get(counted..next.start()).unwrap_or_default();
        line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        counted = next.start();
        let text = buffer.get(next.start()..next.end().min(range.end)).unwrap_or_default();
        if !visit(line, text) {
            return;
        }
    }
}
