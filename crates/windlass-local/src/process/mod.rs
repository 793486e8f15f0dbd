//! Child processes that end when they should and leave no process behind.
//!
//! Guarantees of a run, on Unix:
//!
//! - The child leads a session of its own, has no terminal, an empty stdin, and exactly the given environment plus one
//!   variable, [`LocalProcess::MARK`], which marks all processes that it starts.
//! - Its output is read all the time and kept in bounded memory, first and last part; the whole goes to a file, private
//!   and capped, once it no longer fits.
//! - A time-out or a cancel ends the whole tree: SIGTERM, half a second, SIGKILL.
//! - When the child has ended by itself, the run is over: processes that still hold its output get a quarter of a
//!   second, then **all remaining processes are stopped**, including those started with `&`, `nohup` or `setsid`.
//!   Background tasks are separate, with an id and an end.
//! - A dropped future kills the tree; a killed host leaves that to a watchdog.
//!
//! The tree is the process group and, on Linux, also processes that left it: those of the session, marked ones,
//! descendants of either, and young processes that hold the output pipe. A process that at once clears its environment,
//! leaves the session, loses its parents and closes its output is not found; only a sandbox contains that one. On other
//! Unix systems the tree is the process group alone. On Windows it is a job object.

mod capture;
mod code_page;
mod keep;
mod kept_space;
mod local;
mod port;
mod run;
mod spec;
mod watch;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as sys;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as sys;

pub use keep::KeptOutput;
pub use kept_space::{KeptLimits, KeptSpace};
pub use local::LocalProcess;
