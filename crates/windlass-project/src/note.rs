//! Origins of values, and notes on settings without effect.

use std::fmt;
use std::path::{Path, PathBuf};

/// Maximum number of notes of one reading: of a folder with thousands of unusable files only some are reported.
const MAX_NOTES: usize = 32;

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Settings given as text on the command line or by the host.
    Inline,
    /// Managed settings given as text on the command line or by the host.
    InlineManaged,
}

impl Origin {
    pub(crate) fn file(path: &Path) -> Self {
        Self::File(path.to_path_buf())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Inline => f.write_str("--settings"),
            Self::InlineManaged => f.write_str("--managed-settings"),
        }
    }
}

/// A setting or file that has no effect, or less than its writer may think.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Origin of the setting.
    pub origin: Origin,
    /// The note, in a sentence.
    pub text: String,
}

impl Note {
    pub(crate) fn new(origin: &Origin, text: impl Into<String>) -> Self {
        Self { origin: origin.clone(), text: text.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.text)
    }
}

/// Notes of one reading, up to `MAX_NOTES`.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub(crate) Vec<Note>);

impl Notes {
    pub(crate) fn add(&mut self, path: &Path, text: impl Into<String>) {
        if self.0.len() < MAX_NOTES {
            self.0.push(Note::new(&Origin::file(path), text));
        }
    }
}
