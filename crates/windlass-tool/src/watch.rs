//! The port to the watch that ends programs which run beside calls.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::sync::Arc;

/// Watches over programs that run beside calls, such as servers: neither they nor what they have started
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
