//! Query of a content search, and the requested form of its result.

/// Form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum GrepMode {
    /// The matching files, newest first.
    #[default]
    Files,
    /// The matching files with their number of matching lines, by path.
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
    /// Returns the matched parts of lines, each as a line of its own, without context.
    pub(crate) only_matching: bool,
    /// Number of lines of context before and after a match.
    pub(crate) before: usize,
    pub(crate) after: usize,
    /// File types by name; a file has to be of one of them.
    pub(crate) types: Vec<String>,
    /// File globs, `!` in front excludes. Without a `/` they match at any depth.
    pub(crate) globs: Vec<String>,
    /// Maximum number of returned entries or lines; `None` for as many as memory allows.
    pub(crate) limit: Option<usize>,
    /// Number of entries or lines to skip first.
    pub(crate) offset: usize,
}
