//! What people note on a session.

#[cfg(test)]
mod tests;

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use windlass_types::text::{Hidden, hidden};
use windlass_types::{Entry, EntryKind, JsonText, SessionId, Timestamp};

/// Longest title that a model gives, in characters.
const TITLE_CHARS: usize = 80;

/// How often a tag is cleaned at most, until it stays the same.
const PASSES: usize = 10;

/// What people note on a session. The last of each kind counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Annotation {
    /// Its title.
    #[non_exhaustive]
    Title {
        /// Not blank.
        title: String,
    },
    /// A title that a model made up. One that a person gave counts before it.
    #[non_exhaustive]
    GeneratedTitle {
        /// One line without hidden characters.
        title: String,
    },
    /// Its tag; empty means none.
    #[non_exhaustive]
    Tag {
        /// Without hidden characters.
        tag: String,
    },
}

/// A title or tag without anything that can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {what} is empty: give it at least one visible character")]
#[non_exhaustive]
pub struct BadAnnotation {
    /// What it was to be.
    pub what: &'static str,
}

impl Annotation {
    /// A title. White space at its ends does not count.
    ///
    /// # Errors
    /// It has no visible character.
    pub fn title(title: &str) -> Result<Self, BadAnnotation> {
        match title.trim() {
            "" => Err(BadAnnotation { what: "title" }),
            title => Ok(Self::Title { title: title.to_owned() }),
        }
    }

    /// The title that a model answered with: the first line in which something can be seen, without quotes, marks of
    /// Markdown and hidden characters, at most 80 characters.
    ///
    /// # Errors
    /// Nothing of the answer can be seen.
    pub fn generated_title(answer: &str) -> Result<Self, BadAnnotation> {
        let is_frame = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '#' | '“' | '”');
        let line = answer.lines().find_map(|line| {
            let seen: String = line.chars().filter(|character| !is_hidden(*character)).collect();
            let title: String = seen.trim_matches(is_frame).trim_end_matches('.').chars().take(TITLE_CHARS).collect();
            (!title.trim().is_empty()).then(|| title.trim().to_owned())
        });
        line.map(|title| Self::GeneratedTitle { title }).ok_or(BadAnnotation { what: "title" })
    }

    /// A tag: normalised (NFKC), without control, format and private characters,
    /// so that tags that look the same are the same.
    ///
    /// # Errors
    /// It has no visible character.
    pub fn tag(tag: &str) -> Result<Self, BadAnnotation> {
        let mut tag = tag.to_owned();
        for _ in 0..PASSES {
            let cleaned: String = tag.nfkc().filter(|character| !is_hidden(*character)).collect();
            if std::mem::replace(&mut tag, cleaned) == tag {
                break;
            }
        }
        match tag.trim() {
            "" => Err(BadAnnotation { what: "tag" }),
            tag => Ok(Self::Tag { tag: tag.to_owned() }),
        }
    }

    /// Takes the tag away.
    pub fn no_tag() -> Self {
        Self::Tag { tag: String::new() }
    }

    /// The line of the log, without a line break.
    pub fn to_line(&self, session: &SessionId) -> String {
        #[derive(Serialize)]
        #[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
        enum Line<'a> {
            CustomTitle { custom_title: &'a str, session_id: &'a SessionId },
            AiTitle { ai_title: &'a str, session_id: &'a SessionId },
            Tag { tag: &'a str, session_id: &'a SessionId },
        }
        let line = match self {
            Self::Title { title } => Line::CustomTitle { custom_title: title, session_id: session },
            Self::GeneratedTitle { title } => Line::AiTitle { ai_title: title, session_id: session },
            Self::Tag { tag } => Line::Tag { tag, session_id: session },
        };
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// The same as an entry. Such lines have neither an id nor a time.
    pub fn to_entry(&self, session: &SessionId) -> Entry {
        let json = JsonText::parse(self.to_line(session)).unwrap_or_else(|_| JsonText::empty_object());
        Entry::new("".into(), None, Timestamp::default(), EntryKind::Foreign(json))
    }
}

/// Whether a character is a control, format or private one: those that are seen as fillers or blanks make a difference.
fn is_hidden(character: char) -> bool {
    !matches!(hidden(character), None | Some(Hidden::Filler | Hidden::Blank))
}
