//! The file tools and the todo list as a session uses them.

mod apply_patch;
mod documents;
mod edit;
#[cfg(unix)]
mod git;
mod local;
mod notebook;
mod preview;
mod read;
mod session;
mod todo;
mod write;
