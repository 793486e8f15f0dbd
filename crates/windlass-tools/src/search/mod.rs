//! Finding files by name and by content, on the libraries that ripgrep is made of.
//!
//! Both engines walk in parallel, never follow a link out of the tree they were
//! given, never enter a directory the caller does not allow, and keep no more than the
//! part of the result that was asked for.

pub(crate) mod glob;
pub(crate) mod grep;
mod newest;
pub(crate) mod walk;
