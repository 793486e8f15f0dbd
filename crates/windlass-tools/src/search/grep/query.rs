//! What is searched for, and what of it is wanted.

/// What a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum GrepMode {
    /// The files that match, newest first.
    #[default]
    Files,
    /// The files that match with their number of matching lines, by path.
    Counts,
    /// The matching lines with their context, by path and line.
    Content,
}

/// A content search.
#[derive(Debug, Clone, Default)]
pub(crate) struct GrepQuery {
    /// A regular expression of the `regex` crate.
    pub(crate) pattern: String,
    pub(crate) mode: GrepMode,
    pub(crate) ignore_case: bool,
    /// Matches may span lines, and `.` matches a line end.
    pub(crate) multiline: bool,
    /// Return the matched parts of lines, each as a line of its own, without context.
    pub(crate) only_matching: bool,
    /// Lines of context before and after a match.
    pub(crate) before: usize,
    pub(crate) after: usize,
    /// File types by name; a file has to be of one of them.
    pub(crate) types: Vec<String>,
    /// File globs, `!` in front excludes. Without a `/` they match at any depth.
    pub(crate) globs: Vec<String>,
    /// How many entries or lines to return; `None` for as many as memory allows.
    pub(crate) limit: Option<usize>,
    /// How many entries or lines to leave out first.
    pub(crate) offset: usize,
}
