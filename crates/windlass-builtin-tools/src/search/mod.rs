//! Glob and Grep: searches for files by name and by content, on the libraries that ripgrep is made of.
//!
//! Both walk in parallel, never follow a link out of the given tree, and keep no more than the requested part of the
//! result. They never enter a directory or open a file that the call's permit leaves out. Hidden files are searched;
//! version control's own folders and ignored files are not. Ignore files apply without a repository around them, and
//! the account's own git configuration does not: the same tree gives the same result everywhere.
//!
//! The walk is that of the workspace. Files of a workspace without one are listed and read through the port, some at a
//! time, and searched here.

mod glob;
mod glob_tool;
mod grep;
mod grep_tool;
mod ls_tool;
mod newest;
mod place;
mod port_search;
mod report;
mod report_notes;
#[cfg(test)]
mod testing;

pub use self::glob_tool::{Glob, GlobInput};
pub use self::grep_tool::{Grep, GrepInput, OutputMode};
pub use self::ls_tool::{Ls, LsInput};
