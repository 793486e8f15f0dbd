//! Port to the watch that ends programs which run beside calls.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::sync::Arc;

/// Watches over programs that run beside calls, such as servers: neither they nor the processes that they have started
/// outlive the process that started them, however that ends.
///
/// ```
/// use std::io;
/// use std::process::{Child, Command};
/// use std::sync::Arc;
/// use windlass_tool::{ProgramWatch, WatchedProgram};
///
/// /// Starts a server that does not outlive this process.
/// fn start(watch: &dyn ProgramWatch, program: &str) -> io::Result<(Child, Arc<dyn WatchedProgram>)> {
///     let (name, mark) = watch.mark();
///     let mut command = Command::new(program);
///     #[cfg(unix)]
///     std::os::unix::process::CommandExt::process_group(&mut command, 0);
///     let child = command.env(name, &mark).spawn()?;
///     let watched = watch.watch(child.id(), &mark);
///     Ok((child, watched))
/// }
/// ```
pub trait ProgramWatch: Debug + Send + Sync + 'static {
    /// Prepares for one more program, and returns a variable for its environment. Processes that the program starts
    /// inherit the variable, and are found by it. Call it before the program starts, once for each.
    ///
    /// Must be called where programs can be started: inside a tokio runtime, for local programs.
    fn mark(&self) -> (OsString, OsString);

    /// Watches over a program that has started, until the returned value is dropped. The program must lead its own
    /// process group, if the system has those, and have the variable that [`mark`](Self::mark) returned.
    fn watch(&self, leader: u32, mark: &OsStr) -> Arc<dyn WatchedProgram>;
}

/// A program with all processes that it has started. Dropping it ends the watch and no process.
///
/// ```
/// use std::time::Duration;
/// use windlass_tool::{EndSignal, WatchedProgram};
///
/// /// Asks a program to end, and ends it if it has not done so after a while.
/// fn end(program: &dyn WatchedProgram, patience: Duration) {
///     if program.signal(EndSignal::Ask) > 0 {
///         std::thread::sleep(patience);
///         program.signal(EndSignal::Kill);
///     }
/// }
/// ```
pub trait WatchedProgram: Debug + Send + Sync + 'static {
    /// Signals every live process of the program, and returns their number. Blocks for some milliseconds: not for the
    /// threads of a runtime.
    fn signal(&self, signal: EndSignal) -> usize;
}

/// Signal that asks or forces a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "who ends programs must know both")]
pub enum EndSignal {
    /// The program is asked to end, and may refuse.
    Ask,
    /// The program ends at once.
    Kill,
}

const _: fn(&dyn ProgramWatch, &dyn WatchedProgram) = |_, _| {};
