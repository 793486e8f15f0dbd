//! What a call does with a path.

/// What a call does with a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Usage {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Whether what is below the path is touched as well.
    pub(crate) tree: bool,
    /// Whether it goes to or comes from another place as a whole.
    pub(crate) moves: bool,
    /// Whether it is moved, removed, given another name or other rights as a whole.
    pub(crate) handles: bool,
    /// Whether names below it are handed to other programs.
    pub(crate) hands_on: bool,
    /// `true` if names below it are handed to a program that may print the files.
    pub(crate) prints: bool,
    /// Whether the program follows the links below it.
    pub(crate) follows: bool,
    /// Whether a redirection names it.
    pub(crate) redirect: bool,
    /// Whether it is just an argument of an unknown program.
    pub(crate) loose: bool,
    /// `true` if it only may be a path: a part of a text in another language.
    pub(crate) guess: bool,
    /// Whether an option of the program, or the like, names it as a file to write.
    pub(crate) output: bool,
}
