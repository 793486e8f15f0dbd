//! The index of a memory: `MEMORY.md`, one line for each memory, and whatever else people write there.

use super::note::{MemoryNote, day, day_of};
use super::{MemoryKind, MemoryName};
use crate::markdown::one_line;
use std::collections::BTreeSet;
use windlass_types::Timestamp;

/// The name of the file.
pub(super) const FILE: &str = "MEMORY.md";
/// Maximum number of bytes of the file.
pub(super) const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of characters of a line's description.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// Entry of a memory in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryEntry {
    /// Name of the memory.
    pub name: MemoryName,
    /// Description in one line.
    pub description: String,
    /// Kind of the memory, if known.
    pub kind: Option<MemoryKind>,
    /// The day of its last change, if that is known.
    pub updated: Option<Timestamp>,
}

impl MemoryEntry {
    /// Creates an entry with only a name and a description.
    #[must_use]
    pub fn new(name: MemoryName, description: &str) -> Self {
        Self { name, description: one_line(description, MAX_DESCRIPTION_CHARS), kind: None, updated: None }
    }

    /// Creates the entry of a memory.
    pub(super) fn of(note: &MemoryNote) -> Self {
        let (name, description) = (note.name.clone(), note.description.clone());
        Self { name, description, kind: note.kind, updated: note.updated }
    }

    /// Returns the details after the description: `(project, 2026-11-23)`.
    fn details(&self) -> String {
        let parts = [self.kind.map(|kind| kind.to_string()), self.updated.map(day)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    /// Returns the line of the index.
    pub(super) fn line(&self) -> String {
        format!("- [{}]({}) — {}{}", self.name, self.name.file(), self.description, self.details())
    }

    /// Returns the line as a model reads it.
    pub(super) fn listed(&self) -> String {
        format!("- {}{}: {}", self.name, self.details(), self.description)
    }

    /// Reads a line of a list that begins with a link to a file of the directory.
    fn parse(line: &str) -> Option<Self> {
        let rest = line.trim().strip_prefix(['-', '*', '+'])?.trim_start().strip_prefix('[')?;
        let (title, rest) = rest.split_once("](")?;
        let (file, rest) = rest.split_once(')')?;
        let name = MemoryName::of_file(file.trim().trim_start_matches("./"))?;
        let (text, kind, updated) = without_details(rest.trim());
        let text = text.trim_start_matches(['—', '–', '-', ':']).trim();
        let title = title.trim();
        // Other programs give the link a title of its own.
        let description = match (title == name.as_str() || title.is_empty(), text.is_empty()) {
            (true, _) => text.to_owned(),
            (false, true) => title.to_owned(),
            (false, false) => format!("{title}: {text}"),
        };
        Some(Self { name, description: one_line(&description, MAX_DESCRIPTION_CHARS), kind, updated })
    }
}

/// Returns a text without `(project, 2026-11-23)` at its end, and the kind and date found there.
fn without_details(text: &str) -> (&str, Option<MemoryKind>, Option<Timestamp>) {
    let plain = (text, None, None);
    let Some((before, inside)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) else { return plain };
    let (mut kind, mut updated) = (None, None);
    for part in inside.split(',').map(str::trim) {
        match (part.parse::<MemoryKind>(), day_of(part)) {
            (Ok(value), _) => kind = Some(value),
            (_, Some(value)) if part.len() == 10 => updated = Some(value),
            _ => return plain,
        }
    }
    (before.trim_end(), kind, updated)
}

/// A line of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
enum IndexLine {
    /// A line written by people.
    Text(String),
    /// A memory, and its line as written.
    Entry(MemoryEntry, String),
}

/// The index, in the order of its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index(Vec<IndexLine>);

impl Index {
    /// Parses the text of the file. Of two lines of one memory the first is used.
    pub(super) fn parse(text: &str) -> Self {
        let mut seen = BTreeSet::new();
        let line = |line: &str| match MemoryEntry::parse(line) {
            Some(entry) => seen.insert(entry.name.clone()).then(|| IndexLine::Entry(entry, line.to_owned())),
            None => Some(IndexLine::Text(line.to_owned())),
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> String {
        let line = |line: &IndexLine| match line {
            IndexLine::Text(text) | IndexLine::Entry(_, text) => format!("{text}\n"),
        };
        self.0.iter().map(line).collect()
    }

    /// Returns the lines of memories.
    pub(super) fn entries(&self) -> impl Iterator<Item = &MemoryEntry> {
        self.0.iter().filter_map(|line| match line {
            IndexLine::Entry(entry, _) => Some(entry),
            IndexLine::Text(_) => None,
        })
    }

    /// Returns the lines that people wrote, without lone headings and without empty lines at both ends.
    pub(super) fn words(&self) -> String {
        let words = self.0.iter().filter_map(|line| match line {
            IndexLine::Text(text) => Some(text.as_str()),
            IndexLine::Entry(..) => None,
        });
        let words: Vec<&str> = words.collect();
        let has_text = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        if words.iter().any(has_text) { words.join("\n").trim().to_owned() } else { String::new() }
    }

    /// Gives a memory its line: in the place of the one that it has, else at the end.
    pub(super) fn set(&mut self, entry: &MemoryEntry) {
        let line = IndexLine::Entry(entry.clone(), entry.line());
        let is_same = |known: &&mut IndexLine| matches!(known, IndexLine::Entry(known, _) if known.name == entry.name);
        match self.0.iter_mut().find(is_same) {
            Some(known) => *known = line,
            None => self.0.push(line),
        }
    }

    /// Removes the lines of memories that `keeps` rejects.
    pub(super) fn retain(&mut self, keeps: impl Fn(&MemoryName) -> bool) {
        self.0.retain(|line| match line {
            IndexLine::Entry(entry, _) => keeps(&entry.name),
            IndexLine::Text(_) => true,
        });
    }
}
