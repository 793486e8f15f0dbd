//! Working implementations of the ports that do not touch this machine.
//!
//! They are not mocks that expect calls: [`MemoryWorkspace`] is a file system in memory that keeps every promise of its
//! port, [`ScriptedProcess`] runs a script of the test, time in [`ManualClock`] stands still until it is moved. Their
//! calls are recorded; to make them fail, wrap them with [`fault`](crate::fault). All are cheap to clone and all clones
//! share their state, so a test keeps one and gives the other away.

mod hook;
mod host;
mod process;
mod system;
mod workspace;

pub use hook::RecordingHook;
pub use host::ScriptedHost;
pub use process::{ScriptedProcess, ScriptedRun};
pub use system::{ManualClock, SequentialIds};
pub use workspace::MemoryWorkspace;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even if a test panicked with it: a fake's state is consistent after every step.
fn lock<T: ?Sized>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
