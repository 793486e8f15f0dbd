//! One memory, and its file.

use super::{MemoryError, MemoryName};
use crate::front_matter;
use crate::markdown::one_line;
use std::fmt;
use std::str::FromStr;
use windlass_context::secret_in;
use windlass_types::Timestamp;
use windlass_types::text::clean;

/// Maximum number of characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 200;
/// Maximum number of bytes of a content.
const MAX_CONTENT_BYTES: usize = 16 * 1024;
/// Maximum number of bytes of a file: other programs may write longer files than this one does.
pub(super) const MOST_FILE: u64 = 64 * 1024;

/// Kind of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// The user: identity, knowledge and preferences.
    User,
    /// Feedback: things that the user wants done differently.
    Feedback,
    /// Facts about the project that its files do not show.
    Project,
    /// References to things outside of the project.
    Reference,
}

impl MemoryKind {
    /// Returns the name: `user`, `feedback`, `project`, `reference`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MemoryKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kinds = [Self::User, Self::Feedback, Self::Project, Self::Reference];
        let found = kinds.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| format!("there is no type {text:?}: user, feedback, project or reference"))
    }
}

/// A memory: one thing to know in later sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryNote {
    /// Name of the memory, which is that of its file without `.md`.
    pub name: MemoryName,
    /// Description in one line of at most 200 characters.
    pub description: String,
    /// Kind of the memory, if set.
    pub kind: Option<MemoryKind>,
    /// Day of the first writing, if the file has it.
    pub created: Option<Timestamp>,
    /// Day of the last change, if the file has it.
    pub updated: Option<Timestamp>,
    /// Content in Markdown; at most 16 KiB when it is written.
    pub content: String,
}

impl MemoryNote {
    /// Creates a new memory. A description of several lines becomes one.
    ///
    /// # Errors
    /// The text is empty or too long, or contains a likely secret.
    pub fn new(
        name: MemoryName,
        kind: Option<MemoryKind>,
        description: &str,
        content: &str,
        now: Timestamp,
    ) -> Result<Self, MemoryError> {
        let note = Self {
            name,
            description: one_line(description.trim(), usize::MAX).trim().to_owned(),
            kind,
            created: Some(now),
            updated: Some(now),
            content: clean(content).trim().to_owned(),
        };
        note.check()?;
        Ok(note)
    }

    /// Refuses a memory that must not be written.
    pub(super) fn check(&self) -> Result<(), MemoryError> {
        let empty = |missing| Err(MemoryError::Incomplete { missing });
        if self.description.is_empty() {
            return empty("a memory needs a description: what it is about, in a line, so that it is found again");
        }
        if self.content.is_empty() {
            return empty("a memory needs content: what is to be known later");
        }
        let too_much = |problem| Err(MemoryError::TooMuch { problem });
        let characters = self.description.chars().count();
        if characters > MAX_DESCRIPTION_CHARS {
            return too_much(format!(
                "the description has {characters} characters; at most {MAX_DESCRIPTION_CHARS} fit"
            ));
        }
        if self.content.len() > MAX_CONTENT_BYTES {
            let (bytes, most) = (self.content.len(), MAX_CONTENT_BYTES);
            return too_much(format!(
                "the content has {bytes} bytes; at most {most} fit: keep what matters, or split it"
            ));
        }
        match secret_in(&self.description).or_else(|| secret_in(&self.content)) {
            Some(kind) => Err(MemoryError::Secret { kind }),
            None => Ok(()),
        }
    }

    /// Returns the memory in the text of a file. Fields that the front matter lacks are `None`. Without a description,
    /// the first line of the content is used.
    pub(super) fn parse(name: MemoryName, text: &str) -> Self {
        let (head, body) = front_matter::split(text);
        let content = body.trim();
        let first_line = || content.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
        let description = head.text("description").unwrap_or_else(first_line);
        Self {
            name,
            description: one_line(description.trim(), MAX_DESCRIPTION_CHARS),
            kind: head.text("type").and_then(|kind| kind.parse().ok()),
            created: head.text("created").as_deref().and_then(day_of),
            updated: head.text("updated").as_deref().and_then(day_of),
            content: content.to_owned(),
        }
    }

    /// Returns the text of its file.
    pub(super) fn file(&self) -> String {
        let mut text = format!("---\nname: {}\ndescription: {}\n", self.name, quoted(&self.description));
        let dates = [("created", self.created), ("updated", self.updated)];
        let dates = dates.into_iter().filter_map(|(key, date)| Some((key, day(date?))));
        let kind = self.kind.map(|kind| ("type", kind.to_string()));
        for (key, value) in kind.into_iter().chain(dates) {
            text.push_str(&format!("{key}: {value}\n"));
        }
        format!("{text}---\n\n{}\n", self.content)
    }
}

/// Returns a text as a front matter value, in quotes if YAML would read it as something else.
fn quoted(text: &str) -> String {
    let plain = format!("---\ndescription: {text}\n---\n");
    let (head, _) = front_matter::split(&plain);
    let is_same = head.problem().is_none() && head.notices().is_empty();
    if is_same && head.keys().eq(["description"]) && head.text("description").as_deref() == Some(text) {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}

/// Returns a day, as `2026-11-23`.
pub(super) fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// Returns the day that a text begins with.
pub(super) fn day_of(text: &str) -> Option<Timestamp> {
    let day: String = text.chars().take(10).collect();
    Timestamp::parse(&format!("{day}T00:00:00Z"))
}
