//! Programs of this machine that end with all their descendants.
//!
//! A [`Child`] leads a session and a process group of its own. So it has no terminal, or one of its own, and can be
//! signalled with its descendants; on Windows it is in a job object. A [`Program`] is a child that outlives calls, such
//! as a language server: it is asked to end, then killed, and its last output is kept.
//!
//! A process can leave its group. A [`ProgramWatch`](windlass_tool::ProgramWatch) finds such processes, and ends all of
//! them when this process is killed; `LocalProcess` of `windlass-local` is one.
//!
//! A child gets the variables of its command. The caller decides which of them may pass.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders and programs"))]

mod child;
mod command;
pub mod job;
#[cfg(target_os = "linux")]
mod keeper;
mod last_words;
mod program;
#[cfg(target_os = "linux")]
mod spawn;

#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as sys;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as sys;

pub use child::{Child, Group};
pub use command::{ChildCommand, ChildStream, StreamFile};
pub use last_words::LastWords;
pub use program::Program;
#[cfg(unix)]
pub use terminal::Terminal;
