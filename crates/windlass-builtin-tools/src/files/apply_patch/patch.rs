//! The content of a patch.

/// Maximum number of bytes of a patch.
pub(super) const MAX_PATCH: usize = 4 * 1024 * 1024;
/// Maximum number of files of a patch.
pub(super) const MAX_FILES: usize = 200;

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// Path as the patch writes it.
    pub(super) path: String,
    pub(super) change: FileChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileChange {
    /// A new file with this content.
    Add(String),
    /// A deletion, with the content that the file must have, if the patch gives it.
    Delete(Option<Vec<Hunk>>),
    Update {
        move_to: Option<String>,
        /// Empty only if the file is moved.
        hunks: Vec<Hunk>,
    },
}

/// Consecutive lines of a file, and their changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// First line of the hunk in the patch, from 1.
    pub(super) line: usize,
    /// Position hint.
    pub(super) anchor: Anchor,
    pub(super) lines: Vec<HunkLine>,
}

/// Position of a hunk, apart from its own lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Below these lines, the outermost first; if `at_end`, at the end of the file.
    Below { headers: Vec<String>, at_end: bool },
    /// At this line of the old file, from 1, unless the number is wrong. An empty hunk: after it.
    Line(usize),
}

impl Default for Anchor {
    fn default() -> Self {
        Self::Below { headers: Vec::new(), at_end: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) mark: Mark,
    pub(super) text: String,
    /// `true` if the patch marks the missing line break.
    pub(super) unended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Remove,
    Add,
}

impl HunkLine {
    pub(super) fn new(mark: Mark, text: &str) -> Self {
        Self { mark, text: text.to_owned(), unended: false }
    }
}

impl Hunk {
    /// Lines that the file must have.
    pub(super) fn old(&self) -> Vec<&HunkLine> {
        self.lines.iter().filter(|line| line.mark != Mark::Add).collect()
    }
}

/// Reason why a text is no patch. The texts are written for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParseError {
    #[error(
        "this is no patch: it must begin with `*** Begin Patch`, or be a unified diff with `---` and `+++` lines. It \
         begins with {0:?}"
    )]
    NoPatch(String),
    #[error("the patch has {0} bytes, and at most {MAX_PATCH} are possible. Make several smaller ones")]
    TooLarge(usize),
    #[error("the patch changes more than {MAX_FILES} files. Make several smaller ones")]
    TooManyFiles,
    #[error("the patch changes no file")]
    Empty,
    #[error("the patch ends without `*** End Patch`: it was cut, so no part of it was used")]
    NoEnd,
    #[error("line {line} of the patch: {problem}. The line is {text:?}")]
    Line { line: usize, problem: &'static str, text: String },
}

impl ParseError {
    /// Error about a line, from 1.
    pub(super) fn at(line: usize, problem: &'static str, text: &str) -> Self {
        const SHOWN: usize = 120;
        Self::Line { line, problem, text: text.chars().take(SHOWN).collect() }
    }
}
