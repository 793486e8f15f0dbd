//! The difference between two texts: hunks for programs, a unified diff for people.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{DiffOp, DiffTag, TextDiff};

/// Number of lines of context around a change.
const CONTEXT: usize = 3;
/// Time limit after which a coarser, still correct, difference is given.
const DIFF_TIME: Duration = Duration::from_millis(250);
/// Maximum number of bytes of hunk lines; more are left out, and the result reports that.
const MAX_PATCH_BYTES: usize = 256 * 1024;
/// Maximum number of changed lines that are compared one by one.
const MAX_DIFF_LINES: usize = 200_000;

/// One changed region of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hunk {
    /// First line in the old text, from 1.
    pub old_start: usize,
    /// Number of lines of the old text.
    pub old_lines: usize,
    /// First line in the new text, from 1.
    pub new_start: usize,
    /// Number of lines of the new text.
    pub new_lines: usize,
    /// Each line after its mark: a blank (both), `-` (old only), `+` (new only), or
    /// `\` for the note that the line before has no line break.
    pub lines: Vec<String>,
}

/// All changed regions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patch {
    /// Regions in order.
    pub hunks: Vec<Hunk>,
    /// Number of added lines.
    pub added: usize,
    /// Number of removed lines.
    pub removed: usize,
    /// `true` if more regions exist than are kept here, because the change is too large to show.
    pub truncated: bool,
}

impl Patch {
    /// Compares two texts by lines. Memory and time are bounded: a huge change is reported coarser, or only by its
    /// counts.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let changed = ChangedPart::between(old.as_bytes(), new.as_bytes());
        let old = old.get(changed.old).unwrap_or_default();
        let new = new.get(changed.new).unwrap_or_default();
        let (removed, added) = (line_count(old), line_count(new));
        if removed + added > MAX_DIFF_LINES {
            return Self { hunks: Vec::new(), added, removed, truncated: true };
        }
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let mut config = TextDiff::configure();
        config.timeout(DIFF_TIME);
        let diff = config.diff_slices(&old, &new);
        let mut patch = Self::default();
        let mut room = MAX_PATCH_BYTES;
        for ops in diff.grouped_ops(CONTEXT) {
            patch.add_hunk(&ops, changed.line, (&old, &new), &mut room);
        }
        patch
    }

    /// Adds the hunk of `ops` over the lines of both sides, which `base` lines of the file precede.
    fn add_hunk(&mut self, ops: &[DiffOp], base: usize, sides: (&[&str], &[&str]), room: &mut usize) {
        let first = ops.first().map(|op| (op.old_range().start, op.new_range().start));
        let (old_start, new_start) = first.unwrap_or_default();
        let mut hunk = Hunk {
            old_start: base + old_start + 1,
            old_lines: 0,
            new_start: base + new_start + 1,
            new_lines: 0,
            lines: Vec::new(),
        };
        for op in ops {
            let (tag, before, after) = op.as_tag_tuple();
            let before = sides.0.get(before).unwrap_or_default();
            let after = sides.1.get(after).unwrap_or_default();
            hunk.old_lines += before.len();
            hunk.new_lines += after.len();
            if tag == DiffTag::Equal {
                hunk.push(' ', before, room);
            } else {
                self.removed += before.len();
                self.added += after.len();
                hunk.push('-', before, room);
                hunk.push('+', after, room);
            }
        }
        if *room == 0 {
            self.truncated = true;
        } else {
            self.hunks.push(hunk);
        }
    }

    /// Unified diff; empty when both sides are equal. `old_name` and `new_name` are the names in the two header lines,
    /// `/dev/null` for a missing file.
    #[must_use]
    pub fn unified(&self, old_name: &str, new_name: &str) -> String {
        if self.hunks.is_empty() && !self.truncated {
            return String::new();
        }
        let mut out = format!("--- {old_name}\n+++ {new_name}\n");
        for hunk in &self.hunks {
            let old = range(hunk.old_start, hunk.old_lines);
            let new = range(hunk.new_start, hunk.new_lines);
            let _ = writeln!(out, "@@ -{old} +{new} @@");
            for line in &hunk.lines {
                out.push_str(line);
                out.push('\n');
            }
        }
        if self.truncated {
            let _ = writeln!(
                out,
                "(the rest of this change is not shown: {} lines added and {} removed in all)",
                self.added, self.removed
            );
        }
        out
    }
}

impl Hunk {
    fn push(&mut self, mark: char, lines: &[&str], room: &mut usize) {
        for line in lines {
            *room = room.saturating_sub(line.len() + 2);
            if *room == 0 {
                return;
            }
            let text = line.strip_suffix('\n');
            let shown = text.unwrap_or(line);
            let shown = shown.strip_suffix('\r').unwrap_or(shown);
            self.lines.push(format!("{mark}{shown}"));
            if text.is_none() {
                self.lines.push("\\ No newline at end of file".to_owned());
            }
        }
    }
}

/// Differing part of two texts, in whole lines and with lines of context.
struct ChangedPart {
    old: Range<usize>,
    new: Range<usize>,
    /// Number of lines before it.
    line: usize,
}

impl ChangedPart {
    fn between(old: &[u8], new: &[u8]) -> Self {
        let same = |(a, b): &(&u8, &u8)| a == b;
        let head = old.iter().zip(new).take_while(same).count();
        let start = context_start(old.get(..head).unwrap_or_default());
        let limit = old.len().min(new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev()).take(limit).take_while(same).count();
        let tail = old.get(old.len() - tail..).unwrap_or_default();
        let end = tail.len() - context_end(tail);
        let before = old.get(..start).unwrap_or_default();
        Self {
            old: start..old.len() - end,
            new: start..new.len() - end,
            line: memchr::memchr_iter(b'\n', before).count(),
        }
    }
}

/// Start of the line `CONTEXT` lines before the last, unfinished one.
fn context_start(text: &[u8]) -> usize {
    memchr::memrchr_iter(b'\n', text).nth(CONTEXT).map_or(0, |at| at + 1)
}

/// End of the line `CONTEXT` lines after the first, begun one.
fn context_end(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).nth(CONTEXT).map_or(text.len(), |at| at + 1)
}

fn line_count(text: &str) -> usize {
    let unfinished = !text.is_empty() && !text.ends_with('\n');
    memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(unfinished)
}

/// Range in a header. A unified diff names an empty range by the line before it.
fn range(start: usize, lines: usize) -> String {
    match lines {
        0 => format!("{},0", start.saturating_sub(1)),
        1 => start.to_string(),
        _ => format!("{start},{lines}"),
    }
}

#[cfg(test)]
mod tests;
