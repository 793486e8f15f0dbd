//! The difference between two texts: hunks for programs, a unified diff for people.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use similar::{DiffTag, TextDiff};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// After this time a coarser, still correct, difference is given.
const DIFF_TIME: Duration = Duration::from_millis(250);
/// Bytes of hunk lines kept; what is beyond is left out and said.
const MAX_PATCH_BYTES: usize = 512 * 1024;

/// One changed region of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hunk {
    /// First line in the old text, from 1.
    pub old_start: usize,
    /// Lines of the old text.
    pub old_lines: usize,
    /// First line in the new text, from 1.
    pub new_start: usize,
    /// Lines of the new text.
    pub new_lines: usize,
    /// Each line after its mark: a blank (both), `-` (old only), `+` (new only), or
    /// `\` for the remark that the line before has no line break.
    pub lines: Vec<String>,
}

/// All changed regions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patch {
    /// The regions, in order.
    pub hunks: Vec<Hunk>,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// More regions exist than are kept here: the change is too large to show.
    pub truncated: bool,
}

impl Patch {
    /// Compares two texts by lines. Memory and time are bounded: a huge change is
    /// reported coarser, and beyond half a megabyte only its beginning.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let start = common(old.iter(), new.iter());
        let limit = old.len().min(new.len()) - start;
        let end = common(old.iter().rev(), new.iter().rev()).min(limit);
        let base = start.saturating_sub(CONTEXT);
        let cut = end.saturating_sub(CONTEXT);
        let old = window(&old, base, cut);
        let new = window(&new, base, cut);

        let mut config = TextDiff::configure();
        config.timeout(DIFF_TIME);
        let diff = config.diff_slices(old, new);
        let mut patch = Self::default();
        let mut room = MAX_PATCH_BYTES;
        for ops in diff.grouped_ops(CONTEXT) {
            let mut hunk = Hunk { old_start: 0, old_lines: 0, new_start: 0, new_lines: 0, lines: Vec::new() };
            if let Some(op) = ops.first() {
                hunk.old_start = base + op.old_range().start + 1;
                hunk.new_start = base + op.new_range().start + 1;
            }
            for op in &ops {
                hunk.old_lines += op.old_range().len();
                hunk.new_lines += op.new_range().len();
                let (tag, before, after) = op.as_tag_tuple();
                let before = old.get(before).unwrap_or_default();
                let after = new.get(after).unwrap_or_default();
                if tag == DiffTag::Equal {
                    hunk.push(' ', before, &mut room);
                } else {
                    patch.removed += before.len();
                    patch.added += after.len();
                    hunk.push('-', before, &mut room);
                    hunk.push('+', after, &mut room);
                }
            }
            if room == 0 {
                patch.truncated = true;
            } else {
                patch.hunks.push(hunk);
            }
        }
        patch
    }

    /// The unified diff text; empty when nothing differs. `old_name` and `new_name`
    /// are what the two header lines say, `/dev/null` for a file that is not there.
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

fn common<'a>(old: impl Iterator<Item = &'a &'a str>, new: impl Iterator<Item = &'a &'a str>) -> usize {
    old.zip(new).take_while(|(a, b)| a == b).count()
}

fn window<'a, 'b>(lines: &'a [&'b str], base: usize, cut: usize) -> &'a [&'b str] {
    lines.get(base..lines.len().saturating_sub(cut)).unwrap_or_default()
}

/// In a unified diff an empty range is named by the line before it.
fn range(start: usize, lines: usize) -> String {
    match lines {
        0 => format!("{},0", start.saturating_sub(1)),
        1 => start.to_string(),
        _ => format!("{start},{lines}"),
    }
}

#[cfg(test)]
mod tests;
