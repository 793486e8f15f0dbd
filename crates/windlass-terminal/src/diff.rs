//! Unified diffs as rows, with numbers and the changed words marked.

mod words;

use crate::layout::{Layout, plural};
use crate::text::{Line, safe_lines, wrap_exact};
use crate::theme::Role;
use words::{Pair, changed_words};

/// Kind of a row of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Context,
    Added,
    Removed,
}

/// A row of a hunk.
#[derive(Debug)]
struct DiffRow {
    kind: Kind,
    number: usize,
    text: String,
    /// Ranges of bytes in `text` that changed.
    words: Vec<(usize, usize)>,
}

/// A part of a unified diff.
#[derive(Debug)]
enum DiffPart {
    /// A file, with its added and removed rows.
    File {
        path: String,
        added: usize,
        removed: usize,
    },
    Hunk(Vec<DiffRow>),
}

/// Rows of a unified diff: a headline for each file, and the hunks with numbers of lines. Changed words of lines that stand for
/// each other are marked. At most `most` rows of hunks are laid out; the last row tells how many are left out.
#[must_use]
pub fn diff_rows(diff: &str, layout: &Layout<'_>, most: usize) -> Vec<Line> {
    let parts = parse(diff);
    let rows = parts.iter().map(|part| if let DiffPart::Hunk(rows) = part { rows.len() } else { 0 }).sum::<usize>();
    let digits = highest_number(&parts).to_string().len();
    let mut room = most;
    let mut lines = Vec::new();
    let mut is_behind_hunk = false;
    for part in &parts {
        match part {
            DiffPart::File { path, added, removed } => {
                is_behind_hunk = false;
                if room > 0 {
                    lines.push(headline(path, *added, *removed, layout));
                }
            }
            DiffPart::Hunk(rows) => {
                if is_behind_hunk && room > 0 {
                    lines.push(layout.line(format!("{:>digits$}", layout.glyphs.ellipsis), Role::Faint));
                }
                is_behind_hunk = true;
                for row in rows.iter().take(room) {
                    lines.extend(row_lines(row, digits, layout));
                }
                room = room.saturating_sub(rows.len());
            }
        }
    }
    if rows > most {
        let more = format!("{} {} more", layout.glyphs.ellipsis, plural(rows - most, "line"));
        lines.push(layout.line(more, Role::Faint));
    }
    lines
}

/// Numbers of added and removed lines of a unified diff.
#[must_use]
pub fn diff_counts(diff: &str) -> (usize, usize) {
    parse(diff).iter().fold((0, 0), |(added, removed), part| match part {
        DiffPart::File { .. } => (added, removed),
        DiffPart::Hunk(rows) => (added + count(rows, Kind::Added), removed + count(rows, Kind::Removed)),
    })
}

fn count(rows: &[DiffRow], kind: Kind) -> usize {
    rows.iter().filter(|row| row.kind == kind).count()
}

fn highest_number(parts: &[DiffPart]) -> usize {
    let rows = parts.iter().flat_map(|part| if let DiffPart::Hunk(rows) = part { rows.as_slice() } else { &[] });
    rows.map(|row| row.number).max().unwrap_or(0)
}

fn headline(path: &str, added: usize, removed: usize, layout: &Layout<'_>) -> Line {
    Line::new()
        .with(path, layout.style(Role::Text).bold())
        .with(format!(" +{added}"), layout.style(Role::Success))
        .with(format!(" -{removed}"), layout.style(Role::Error))
}

fn row_lines(row: &DiffRow, digits: usize, layout: &Layout<'_>) -> Vec<Line> {
    let (mark, role, word_role) = match row.kind {
        Kind::Context => (" ", Role::Faint, Role::Faint),
        Kind::Added => ("+", Role::Added, Role::AddedWord),
        Kind::Removed => ("-", Role::Removed, Role::RemovedWord),
    };
    let mut text = Line::new();
    let mut from = 0;
    for (start, end) in &row.words {
        text.push(layout.span(row.text.get(from..*start).unwrap_or_default(), role));
        text.push(layout.span(row.text.get(*start..*end).unwrap_or_default(), word_role));
        from = *end;
    }
    text.push(layout.span(row.text.get(from..).unwrap_or_default(), role));
    // The mark is in each row, so a copy and a reader without colours can tell them apart.
    let gutter = |number: String| {
        let mut line = layout.line(format!("{number:>digits$} "), Role::Faint);
        line.push(layout.span(mark, role));
        line
    };
    let room = layout.narrowed(digits + 2).columns;
    let rows = wrap_exact(&text, room);
    crate::layout::prefixed(rows, &gutter(row.number.to_string()), &gutter(String::new()))
}

fn parse(diff: &str) -> Vec<DiffPart> {
    let mut parser = Parser::default();
    for line in safe_lines(diff) {
        parser.line(&line);
    }
    parser.finish()
}

#[derive(Debug, Default)]
struct Parser {
    parts: Vec<DiffPart>,
    old_path: String,
    /// Lines of the hunk that are still to come, of the old and the new file.
    old_left: usize,
    new_left: usize,
    old_number: usize,
    new_number: usize,
    rows: Vec<DiffRow>,
}

impl Parser {
    fn line(&mut self, line: &str) {
        // Inside a hunk its counts tell what a line is: `--- x` may be a removed line.
        if self.old_left + self.new_left > 0 && self.row(line) {
            return;
        }
        if let Some(path) = line.strip_prefix("--- ") {
            self.end_hunk();
            self.old_path = short_path(path).to_owned();
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = if path.starts_with("/dev/null") { self.old_path.clone() } else { short_path(path).to_owned() };
            self.parts.push(DiffPart::File { path, added: 0, removed: 0 });
        } else if let Some((old, new)) = hunk_header(line) {
            self.end_hunk();
            (self.old_number, self.old_left) = old;
            (self.new_number, self.new_left) = new;
        }
    }

    /// Takes a row of a hunk. Returns `false` for a line that is none.
    fn row(&mut self, line: &str) -> bool {
        let mut rest = line.chars();
        let (kind, number) = match rest.next() {
            Some('+') if self.new_left > 0 => (Kind::Added, self.new_number),
            Some('-') if self.old_left > 0 => (Kind::Removed, self.old_number),
            Some(' ') | None => (Kind::Context, self.new_number),
            // "\ No newline at end of file"
            Some('\\') => return true,
            _ => return false,
        };
        if kind != Kind::Added {
            self.old_left = self.old_left.saturating_sub(1);
            self.old_number += 1;
        }
        if kind != Kind::Removed {
            self.new_left = self.new_left.saturating_sub(1);
            self.new_number += 1;
        }
        self.rows.push(DiffRow { kind, number, text: rest.as_str().to_owned(), words: Vec::new() });
        true
    }

    fn end_hunk(&mut self) {
        (self.old_left, self.new_left) = (0, 0);
        let mut rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return;
        }
        mark_words(&mut rows);
        let (more, less) = (count(&rows, Kind::Added), count(&rows, Kind::Removed));
        let file = self.parts.iter_mut().rev().find(|part| matches!(part, DiffPart::File { .. }));
        if let Some(DiffPart::File { added, removed, .. }) = file {
            *added += more;
            *removed += less;
        }
        self.parts.push(DiffPart::Hunk(rows));
    }

    fn finish(mut self) -> Vec<DiffPart> {
        self.end_hunk();
        self.parts
    }
}

/// The path without `a/` or `b/` and without a time behind it.
fn short_path(path: &str) -> &str {
    let path = path.split("    ").next().unwrap_or_default().trim_end();
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

type Range = (usize, usize);

/// First line and number of lines, of the old and the new file, of `@@ -1,2 +3,4 @@`.
fn hunk_header(line: &str) -> Option<(Range, Range)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<Range> {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some((range(old)?, range(new)?))
}

/// Marks the changed words where as many lines were added as were removed before them.
fn mark_words(rows: &mut [DiffRow]) {
    let mut at = 0;
    while at < rows.len() {
        let run = |from: usize, kind: Kind| rows.iter().skip(from).take_while(|row| row.kind == kind).count();
        let removed = run(at, Kind::Removed);
        let added = run(at + removed, Kind::Added);
        if removed == 0 || removed != added {
            at += (removed + added).max(1);
            continue;
        }
        let pairs: Vec<Option<Pair>> =
            (at..at + removed).map(|old| changed_words(&rows.get(old)?.text, &rows.get(old + removed)?.text)).collect();
        for (offset, pair) in pairs.into_iter().enumerate() {
            let Some(pair) = pair else { continue };
            if let Some(row) = rows.get_mut(at + offset) {
                row.words = pair.old;
            }
            if let Some(row) = rows.get_mut(at + removed + offset) {
                row.words = pair.new;
            }
        }
        at += removed + added;
    }
}

#[cfg(test)]
mod tests;
