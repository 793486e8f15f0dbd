//! The part of a memory that a model reads when a session begins.

use super::index::MemoryEntry;
use std::time::Duration;
use windlass_context::{FileInstructions, Relevance, foreign_text};
use windlass_types::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits for the part of the index that a model reads, and the age from which a memory is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryBudget {
    /// Maximum number of lines. Default: 200.
    pub lines: usize,
    /// Maximum number of characters. Default: 25,000.
    pub characters: usize,
    /// From how many days on a memory is marked as old. Default: 90.
    pub old_after_days: u32,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { lines: 200, characters: 25_000, old_after_days: 90 }
    }
}

/// The part of a memory that a model reads, and the size of the omitted part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownMemory {
    /// The lines that it reads.
    pub lines: Vec<String>,
    /// The memories that have no line.
    pub hidden: Vec<MemoryEntry>,
    /// Number of omitted characters.
    pub left_out: usize,
}

impl ShownMemory {
    /// Returns the index within a budget. If all of it fits, its order is kept. Otherwise the text that people wrote
    /// comes first, then the memories that were changed last.
    #[must_use]
    pub fn new(entries: &[MemoryEntry], words: &str, budget: &MemoryBudget, now: Timestamp) -> Self {
        let listed = |entry: &MemoryEntry| format!("{}{}", entry.listed(), age(entry, budget, now));
        let mut remaining = RemainingBudget { lines: budget.lines, characters: budget.characters };
        let all: Vec<String> = words.lines().map(str::to_owned).chain(entries.iter().map(listed)).collect();
        if all.iter().all(|line| remaining.takes(line)) {
            return Self { lines: all, ..Self::default() };
        }
        // Half of the room is for the memories, and a line for the note on omissions.
        let mut remaining = RemainingBudget { lines: budget.lines / 2, characters: budget.characters / 2 };
        let mut shown = Self::default();
        for line in words.lines() {
            if remaining.takes(line) {
                shown.lines.push(line.to_owned())
            } else {
                shown.left_out += line.chars().count()
            }
        }
        let (lines, used) = (shown.lines.len(), shown.lines.iter().map(|line| line.chars().count() + 1).sum());
        let mut remaining = RemainingBudget {
            lines: budget.lines.saturating_sub(lines).saturating_sub(1),
            characters: budget.characters.saturating_sub(used),
        };
        let mut newest: Vec<(usize, &MemoryEntry)> = entries.iter().enumerate().collect();
        newest.sort_by_key(|(index, entry)| std::cmp::Reverse((entry.updated, *index)));
        for (_, entry) in newest {
            let line = listed(entry);
            if remaining.takes(&line) {
                shown.lines.push(line);
            } else {
                shown.left_out += line.chars().count();
                shown.hidden.push(entry.clone());
            }
        }
        if !shown.hidden.is_empty() {
            shown.lines.push(format!("- and {} more, which a search finds", shown.hidden.len()));
        }
        shown
    }

    /// Returns at most `limit` of the memories without a line that have a word of a text, the best first.
    #[must_use]
    pub fn fitting(&self, text: &str, limit: usize) -> Vec<&MemoryEntry> {
        let mut relevance = Relevance::default();
        for entry in &self.hidden {
            relevance.add([(2.0, entry.name.as_str()), (1.0, &entry.description)]);
        }
        relevance.search(text, limit).iter().filter_map(|hit| self.hidden.get(hit.document)).collect()
    }

    /// Returns the text about these memories for a model, given with a prompt that they match. `None` for none.
    #[must_use]
    pub fn recalled(found: &[&MemoryEntry]) -> Option<String> {
        if found.is_empty() {
            return None;
        }
        let lines: Vec<String> = found.iter().map(|entry| entry.listed()).collect();
        let lines = foreign_text(&lines.join("\n"));
        Some(format!("Notes of earlier sessions that may matter here, beside those of the index:\n{lines}"))
    }

    /// Returns the text for the model, with the name of the tool that reads a memory. `None` if there is no line.
    #[must_use]
    pub fn for_model(&self, tool: &str, directory: &str) -> Option<FileInstructions> {
        let mut text = FileInstructions::memory(tool, directory, &self.lines.join("\n"))?;
        text.left_out = self.left_out;
        Some(text)
    }
}

/// Remaining budget.
struct RemainingBudget {
    lines: usize,
    characters: usize,
}

impl RemainingBudget {
    /// Subtracts a line from the budget and returns `true`, if the line fits.
    fn takes(&mut self, line: &str) -> bool {
        let characters = line.chars().count().saturating_add(1);
        let (Some(lines), Some(left)) = (self.lines.checked_sub(1), self.characters.checked_sub(characters)) else {
            return false;
        };
        (self.lines, self.characters) = (lines, left);
        true
    }
}

/// Returns the mark of an old memory. It changes once, so that the index of a session stays the same from day to day.
pub(super) fn age(entry: &MemoryEntry, budget: &MemoryBudget, now: Timestamp) -> String {
    let max_age = DAY.saturating_mul(budget.old_after_days);
    match entry.updated {
        Some(updated) if now.since(updated) >= max_age => {
            format!(" [older than {} days: check it before you rely on it]", budget.old_after_days)
        }
        _ => String::new(),
    }
}
