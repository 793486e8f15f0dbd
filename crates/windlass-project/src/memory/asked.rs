//! Answers of `/memory`: the list of notes, one note, or the removal of a note.

use super::{MemoryDirectory, MemoryError, MemoryNote};
use std::fmt::Write as _;
use windlass_types::text::clean_line;

/// Name of the command, and its possible arguments.
pub const MEMORY_COMMAND: (&str, &str) = ("memory", "[show NAME | forget NAME]");

const USAGE: &str = "`/memory show NAME` shows a note and `/memory forget NAME` removes it; in a terminal `windlass memory` has \
                   `list`, `show`, `add` and `forget`. The files can be edited as well.";

impl MemoryDirectory {
    /// Answers `/memory` and its arguments: nothing or `list` for all notes with the directory and the possible
    /// actions, `show NAME`, `forget NAME`. No model is asked. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// There is no such note, the disk fails, or the words mean nothing.
    pub fn asked(&self, arguments: &str) -> Result<String, MemoryError> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        match words.as_slice() {
            [] | ["list"] => self.listing(),
            ["show", name] => Ok(shown(&self.read(&name.parse()?)?)),
            ["forget", name] => {
                self.forget(&name.parse()?)?;
                Ok(format!("The note {name} is removed."))
            }
            _ => Err(MemoryError::Incomplete { missing: "`/memory` takes `show NAME`, `forget NAME`, or nothing" }),
        }
    }

    fn listing(&self) -> Result<String, MemoryError> {
        let notes = self.list()?;
        let place = clean_line(&self.path().display().to_string());
        if notes.is_empty() {
            return Ok(format!(
                "There are no notes yet. They will be in {place}: ask to have something remembered, or use \
                               `windlass memory add`."
            ));
        }
        let count = if notes.len() == 1 { "One note".to_owned() } else { format!("{} notes", notes.len()) };
        let mut text = format!("{count} of earlier sessions, in {place}:\n\n");
        for note in &notes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", line(note));
        }
        text.push('\n');
        text.push_str(USAGE);
        Ok(text)
    }
}

/// Formats a note: `- tests (feedback, 2026-11-23): Tests must not use mocks`
fn line(note: &MemoryNote) -> String {
    let day = note.updated.map(super::note::day);
    let details: Vec<String> = [note.kind.map(|kind| kind.to_string()), day].into_iter().flatten().collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    clean_line(&format!("- {}{details}: {}", note.name, note.description))
}

fn shown(note: &MemoryNote) -> String {
    format!("{}\n\n{}", line(note).trim_start_matches("- "), note.content.trim())
}
