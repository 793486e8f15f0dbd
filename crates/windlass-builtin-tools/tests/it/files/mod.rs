//! The file tools and the todo list as a session uses them.

mod apply_patch;
mod documents;
mod edit;
#[cfg(unix)]
mod fidelity;
#[cfg(unix)]
mod git;
mod local;
mod lost_edits;
mod notebook;
mod preview;
mod read;
mod searches;
mod session;
mod todo;
#[cfg(target_os = "linux")]
mod torn;
mod write;
