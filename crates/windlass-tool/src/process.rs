//! Port for running programs.

use crate::{Cancel, SandboxViolation};
use async_trait::async_trait;
use std::error::Error as StdError;
use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs programs, on any machine.
///
/// ```
/// use std::time::Duration;
/// use windlass_tool::{Cancel, CapturedOutput, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome};
///
/// /// Runs no program, and says which one it would have run.
/// #[derive(Debug)]
/// struct Dry;
///
/// #[async_trait::async_trait]
/// impl Process for Dry {
///     async fn run(&self, command: ProcessCommand, _: &Cancel) -> Result<ProcessOutcome, ProcessError> {
///         let mut outcome = ProcessOutcome::new(ProcessExit::Code(0), Duration::ZERO);
///         outcome.stdout = CapturedOutput::new(format!("would run {:?}", command.program), "", 0);
///         Ok(outcome)
///     }
/// }
/// ```
#[async_trait]
pub trait Process: Debug + Send + Sync + 'static {
    /// Runs a program until it ends, times out or is cancelled. On return its whole process tree is gone. Standard
    /// input is [`ProcessCommand::stdin`], or empty; output is bounded.
    ///
    /// Dropping the future also ends the tree, without waiting for it.
    ///
    /// # Errors
    /// The program could not be started.
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError>;
}

/// Callback that receives the latest output of a program from time to time.
pub type OutputProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// Program to run, with its settings.
#[derive(Clone)]
#[non_exhaustive]
pub struct ProcessCommand {
    /// Program: a path, or a name that is looked up in the given `PATH`.
    pub program: OsString,
    /// Arguments of the program.
    pub args: Vec<OsString>,
    /// Directory that the program starts in; absolute.
    pub cwd: PathBuf,
    /// Whole environment of the program: no variable is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Size of a separate terminal that serves as standard input, output and error: for programs that refuse to run
    /// without one. An implementation without terminals fails. Default: none.
    pub terminal: Option<TerminalSize>,
    /// Bytes of standard input, which then ends. A program that does not read it is not blocked. Default: nothing.
    pub stdin: Option<Arc<[u8]>>,
    /// Time after which the program is stopped. `None`: never.
    pub timeout: Option<Duration>,
    /// Maximum number of bytes of output kept in memory for each of the two streams, head and tail together.
    pub inline_bytes: usize,
    /// File for the full output once it is larger than [`ProcessCommand::spill_above`]; it does not exist yet. Separate
    /// standard error has a second file beside it.
    pub spill: Option<PathBuf>,
    /// Number of bytes of a stream above which it is written to `spill`. `None` means `inline_bytes`; with zero the
    /// file exists from the start.
    pub spill_above: Option<usize>,
    /// Maximum number of bytes written to `spill`; `None` leaves it to the implementation of [`Process`].
    pub spill_cap: Option<u64>,
    /// `true` to run the program outside of the limit on simultaneous programs: for programs that may never end by
    /// themselves.
    pub background: bool,
    /// `true` to send standard error to standard output, both in the order of writing.
    pub merge_streams: bool,
    /// Callback for the latest output.
    pub progress: Option<OutputProgress>,
    /// `true` to run outside of any sandbox. Set only for commands that someone has allowed to run there.
    pub outside_sandbox: bool,
    /// Text of the shell command, if this runs one. A sandbox identifies excluded commands by it.
    pub shell_text: Option<String>,
    /// `true` if the program is bash and the outcome must name its final directory. Only set for programs that do not
    /// run on this machine. An implementation that does not know the directory omits it.
    pub reports_directory: bool,
    /// `true` if the program only reads: its memory may be bounded, and the system may end it before others when memory
    /// runs out. Default: `false`.
    pub only_reads: bool,
    /// Faster start of the same program, if `program` is a wrapper that confines itself first. An implementation that
    /// does not support it runs `program`. Default: none.
    pub confined_start: Option<ConfinedStart>,
}

/// Start of a program from a thread that confines itself first. The program inherits the restrictions of the thread.
///
/// This saves the start of a wrapper that would confine itself and then execute the intended program.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConfinedStart {
    /// Intended program.
    pub program: OsString,
    /// Arguments of the program.
    pub args: Vec<OsString>,
    confine: Arc<Confine>,
}

/// Closure that confines the calling thread permanently.
pub type Confine = dyn Fn() -> io::Result<()> + Send + Sync;

impl ConfinedStart {
    /// Creates a confined start. `confine` runs in a thread of its own, which ends when it has started the program.
    pub fn new(program: impl Into<OsString>, args: Vec<OsString>, confine: Arc<Confine>) -> Self {
        Self { program: program.into(), args, confine }
    }

    /// Confines the calling thread permanently. Call it in a thread that only starts the program.
    ///
    /// # Errors
    /// The thread is not confined, or only in part: it must start nothing.
    pub fn confine(&self) -> io::Result<()> {
        (self.confine)()
    }
}

impl Debug for ConfinedStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfinedStart")
            .field("program", &self.program)
            .field("args", &self.args)
            .finish_non_exhaustive()
    }
}

impl ProcessCommand {
    /// Returns a program with no arguments, environment, input or time limit, and 64 KiB of kept output.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            terminal: None,
            stdin: None,
            timeout: None,
            inline_bytes: 64 * 1024,
            spill: None,
            spill_above: None,
            spill_cap: None,
            background: false,
            merge_streams: false,
            progress: None,
            outside_sandbox: false,
            shell_text: None,
            reports_directory: false,
            only_reads: false,
            confined_start: None,
        }
    }
}

/// The size of a terminal, in characters. Default: 40 rows of 120 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalSize {
    /// Number of lines.
    pub rows: u16,
    /// Number of characters of a line.
    pub columns: u16,
}

impl TerminalSize {
    /// Returns the size of a terminal with a number of lines and characters in each.
    pub const fn new(rows: u16, columns: u16) -> Self {
        Self { rows, columns }
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self::new(40, 120)
    }
}

impl Debug for ProcessCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may contain secrets.
        f.debug_struct("ProcessCommand")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Reason why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProcessExit {
    /// The program ended with this code.
    Code(i32),
    /// The program was killed by this signal, which did not come from windlass.
    Signal(i32),
    /// The program's time was up.
    TimedOut,
    /// The program was cancelled.
    Cancelled,
}

/// Outcome of a program, with its output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessOutcome {
    /// Reason why the program ended.
    pub exit: ProcessExit,
    /// Standard output.
    pub stdout: CapturedOutput,
    /// Standard error.
    pub stderr: CapturedOutput,
    /// File with the full output, if that was larger than the kept part.
    pub spilled: Option<SpilledOutput>,
    /// Number of processes that the program left running, which were then stopped.
    pub stopped: usize,
    /// Duration of the run.
    pub duration: Duration,
    /// Notes for the reader of the output, a sentence each: for example, operations that a sandbox has stopped.
    pub notes: Vec<String>,
    /// Operations that a sandbox has stopped, or may have. The notes say the same in words.
    pub violations: Vec<SandboxViolation>,
    /// Directory that the program ended in, links resolved, if that was [requested](ProcessCommand::reports_directory)
    /// and is known.
    pub directory: Option<PathBuf>,
}

impl ProcessOutcome {
    /// Returns an outcome with empty output.
    pub fn new(exit: ProcessExit, duration: Duration) -> Self {
        Self {
            exit,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            spilled: None,
            stopped: 0,
            duration,
            notes: Vec::new(),
            violations: Vec::new(),
            directory: None,
        }
    }
}

/// File with the output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpilledOutput {
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// `true` if the file has the whole output: neither its limit nor a full disk cut it short.
    pub is_whole: bool,
}

impl SpilledOutput {
    /// Returns a file with output.
    pub fn new(path: impl Into<PathBuf>, bytes: u64, is_whole: bool) -> Self {
        Self { path: path.into(), bytes, is_whole }
    }
}

/// Output of a program: all of it, or its head and tail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CapturedOutput {
    /// Beginning, or the whole output. Bytes that are not UTF-8 are replaced.
    pub head: String,
    /// End, empty when `head` is the whole output.
    pub tail: String,
    /// Number of bytes that are missing between the two.
    pub omitted_bytes: u64,
}

impl CapturedOutput {
    /// Returns output with its beginning, its end and the number of bytes that are missing between.
    pub fn new(head: impl Into<String>, tail: impl Into<String>, omitted_bytes: u64) -> Self {
        Self { head: head.into(), tail: tail.into(), omitted_bytes }
    }
}

/// Error of a program that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ProcessError {
    /// Reason, in a sentence.
    pub message: String,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ProcessError {
    /// Creates an error with a message, which is a whole sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

const _: fn(&dyn Process) = |_| {};
