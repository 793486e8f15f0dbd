//! Content of a patch, read from its text without access to files.

use super::{unified, v4a};

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

/// Reads a patch of either format.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, ParseError> {
    if text.len() > MAX_PATCH {
        return Err(ParseError::TooLarge(text.len()));
    }
    let lines = lines(text);
    let first = lines.iter().map(|line| line.trim_end()).find(|line| !line.is_empty());
    let files = match first {
        None => return Err(ParseError::Empty),
        Some(first) if first.trim() == v4a::BEGIN => v4a::parse(&lines)?,
        Some(first) if unified::is_header(first) => unified::parse(&lines)?,
        Some(first) => return Err(ParseError::NoPatch(first.chars().take(60).collect())),
    };
    match files.len() {
        0 => Err(ParseError::Empty),
        count if count > MAX_FILES => Err(ParseError::TooManyFiles),
        _ => Ok(files),
    }
}

/// Lines of a text. If every line ends with CR LF, the CRs are removed; otherwise they belong to the lines.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let ended = lines.len() - usize::from(!text.ends_with('\n')).min(lines.len());
    if ended > 0 && lines.iter().take(ended).all(|line| line.ends_with('\r')) {
        for line in &mut lines {
            *line = line.strip_suffix('\r').unwrap_or(line);
        }
    }
    lines
}
