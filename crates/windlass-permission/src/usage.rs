//! Use of a path by a call.

/// Use of a path by a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Usage {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// `true` if the entries below the path are touched as well.
    pub(crate) tree: bool,
    /// `true` if the path is the source or the target of a move as a whole.
    pub(crate) moves: bool,
    /// `true` if the path is moved or removed, or its name or permissions change, as a whole.
    pub(crate) handles: bool,
    /// `true` if names below the path are handed to other programs.
    pub(crate) hands_on: bool,
    /// `true` if names below it are handed to a program that may print the files.
    pub(crate) prints: bool,
    /// `true` if the program follows the links below the path.
    pub(crate) follows: bool,
    /// `true` if a redirection names the path.
    pub(crate) redirect: bool,
    /// `true` if the path is only an argument of an unknown program.
    pub(crate) loose: bool,
    /// `true` if it only may be a path: a part of a text in another language.
    pub(crate) guess: bool,
    /// `true` if an option of the program, or the like, names the path as a file to write.
    pub(crate) output: bool,
}
