//! A file that a command may write without a redirection.

use crate::word::Word;

/// A file that a command may write without a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output<'w> {
    /// The word that names it.
    pub word: &'w Word,
    /// Path, relative to the working directory: the whole word or a part of it, as far as it is known (see
    /// [`Word::text`]).
    pub path: String,
    /// Certainty of the output.
    pub kind: OutputKind,
}

/// Certainty that a text is the path of a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OutputKind {
    /// The text looks like a path. A program may take it for one.
    Guess,
    /// A text in quotes in a program of another language, or the text attached to a short option: as good as an
    /// argument of its own, whatever the program does with it.
    Argument,
    /// The value of an option, or an operand, that names the written file.
    Written,
}

impl<'w> Output<'w> {
    pub(super) fn new(kind: OutputKind, word: &'w Word, path: impl Into<String>) -> Self {
        Self { word, path: path.into(), kind }
    }

    pub(super) fn written(word: &'w Word, path: impl Into<String>) -> Self {
        Self::new(OutputKind::Written, word, path)
    }
}

/// Returns the value of an option with the word that contains it: the attached text, or else the next word.
pub(super) fn value<'w>(
    word: &'w Word,
    attached: Option<&'w str>,
    next: Option<&'w Word>,
) -> Option<(&'w Word, &'w str)> {
    match attached {
        Some(path) => Some((word, path)),
        None => next.map(|next| (next, next.text())),
    }
}

/// Returns a path from a directory.
pub(super) fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() {
        path.to_owned()
    } else {
        format!("{}/{path}", directory.trim_end_matches('/'))
    }
}
