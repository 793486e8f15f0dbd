//! The port to the watch that ends programs which run beside calls.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::sync::Arc;

/// Watches over programs that run beside calls, such as servers: neither they nor what they have started
/// outlive the process that started them, however that ends.
pub trait ProgramWatch: Debug + Send + Sync + 'static {
    /// Gets ready for one more program, and returns a variable for its environment. What the program starts
    /// inherits the variable, and is found by it. Call it before the program starts, once for each.
    ///
    /// Must be called where programs can be started: inside a tokio runtime, for those of this machine.
    fn mark(&self) -> (OsString, OsString);

    /// Watches over a program that has started, until the answer is dropped. The program must lead a process
    /// group of its own, where the system has those, and have the variable that [`mark`](Self::mark) returned.
    fn watch(&self, leader: u32, mark: &OsStr) -> Arc<dyn WatchedProgram>;
}

/// A program with all it has started. Dropping it ends the watch and no process.
pub trait WatchedProgram: Debug + Send + Sync + 'static {
    /// Signals every process of the program that lives, and returns how many there were. Blocks for some
    /// milliseconds: not for the threads of a runtime.
    fn signal(&self, signal: EndSignal) -> usize;
}

/// How a program is asked or forced to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "who ends programs must know both")]
pub enum EndSignal {
    /// It is asked to, and may refuse.
    Ask,
    /// It ends at once.
    Kill,
}

const _: fn(&dyn ProgramWatch, &dyn WatchedProgram) = |_, _| {};
