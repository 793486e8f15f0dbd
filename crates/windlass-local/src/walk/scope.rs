//! Scope of a walk.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use windlass_tool::{VERSION_CONTROL, WalkInterrupt};

/// Scope of a walk.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Start of the walk: a path without links, as returned by `resolve`. May be a file.
    pub(crate) root: &'a Path,
    /// Directories of the workspace: ignore files that are links are followed if they lead there.
    pub(crate) workspace: &'a [PathBuf],
    /// `true` to include files that `.gitignore`, `.ignore` and `.git/info/exclude` leave out.
    pub(crate) include_ignored: bool,
    /// Maximum depth below the root; `None` for all.
    pub(crate) max_depth: Option<usize>,
    /// Directories for which this is false are not entered, files are not opened.
    pub(crate) allowed: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Polled for every entry.
    pub(crate) interrupt: &'a (dyn Fn() -> Option<WalkInterrupt> + Sync),
}

/// `true` for the name of a directory in which version control keeps its own data.
pub(crate) fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|known| name.as_encoded_bytes() == known.as_bytes())
}
