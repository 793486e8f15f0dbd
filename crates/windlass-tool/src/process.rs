//! The port to programs.

use crate::{Cancel, SandboxViolation};
use async_trait::async_trait;
use std::error::Error as StdError;
use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs programs, wherever they run.
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
    /// Runs a program until it ends, its time is up or it is cancelled. Then
    /// its whole tree is gone. Standard input holds what the command gives, else it is empty; output is bounded.
    ///
    /// Dropping the future ends the tree as well, without waiting for it.
    ///
    /// # Errors
    /// The program could not be started.
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError>;
}

/// Called with the latest output of a program from time to time.
pub type OutputProgress = Arc<dyn Fn(&str) + Send + Sync>;

/// What to run.
#[derive(Clone)]
#[non_exhaustive]
pub struct ProcessCommand {
    /// The program: a path, or a name that is looked up in the given `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it starts in; absolute.
    pub cwd: PathBuf,
    /// Its whole environment: no variable is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Gives it a terminal of this size of its own, which is its input and both outputs: for programs that refuse to run without one.
    /// Who has no terminals fails. Default: none.
    pub terminal: Option<TerminalSize>,
    /// What it reads from standard input, which then ends. A program that does not read it is not held up. Default: nothing.
    pub stdin: Option<Arc<[u8]>>,
    /// When it is stopped. `None`: never.
    pub timeout: Option<Duration>,
    /// How many bytes of output are kept in memory, head and tail together, for each of both streams.
    pub inline_bytes: usize,
    /// Where the full output goes once it is larger than [`ProcessCommand::spill_above`]; a file that does not
    /// exist yet. Standard error of its own has a second file beside it.
    pub spill: Option<PathBuf>,
    /// How many bytes of a stream may pass before it is written to `spill`; `None` means `inline_bytes`, and
    /// with zero the file is there from the start.
    pub spill_above: Option<usize>,
    /// How many bytes go to `spill` at most; `None` leaves it to the implementation of [`Process`].
    pub spill_cap: Option<u64>,
    /// Runs beside the limit on programs at a time: for programs that may never end by themselves.
    pub background: bool,
    /// Sends standard error into standard output, both in the order of writing.
    pub merge_streams: bool,
    /// Called with the latest output from time to time.
    pub progress: Option<OutputProgress>,
    /// Runs outside of the sandbox, if programs run in one: for what someone has allowed to run there.
    pub outside_sandbox: bool,
    /// The text, if this runs a command in a shell: by it one that is to run outside of a sandbox is known.
    pub shell_text: Option<String>,
    /// The program is a bash, and the outcome is to name the directory that it ends in. Only programs that do not run on this
    /// machine are asked for that; who cannot say it leaves it out.
    pub reports_directory: bool,
    /// The program only reads: its memory may be bounded, and the system may end it before others where memory runs out. Default: no.
    pub only_reads: bool,
    /// A quicker way to the same program, where `program` is one that confines itself first. Whoever does not know it runs
    /// `program`. Default: none.
    pub confined_start: Option<ConfinedStart>,
}

/// A thread that confines itself and then starts a program, which has no more rights than the thread had.
///
/// With it no program has to be started that confines itself and becomes the one that is meant.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConfinedStart {
    /// The program that is meant.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    confine: Arc<Confine>,
}

/// Confines the thread that calls it, for good.
pub type Confine = dyn Fn() -> io::Result<()> + Send + Sync;

impl ConfinedStart {
    /// `confine` is called in a thread that ends when it has started the program.
    pub fn new(program: impl Into<OsString>, args: Vec<OsString>, confine: Arc<Confine>) -> Self {
        Self { program: program.into(), args, confine }
    }

    /// Confines the thread that calls this, for good: call it in one that does nothing else than start the program.
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
    /// A program with no arguments, environment, input or time limit, and 64 KiB of kept output.
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
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

impl TerminalSize {
    /// A terminal with so many lines of so many characters.
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
        // The environment may hold secrets.
        f.debug_struct("ProcessCommand")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProcessExit {
    /// With this code.
    Code(i32),
    /// Killed by this signal, which windlass did not send.
    Signal(i32),
    /// Its time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// How a program ended, and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessOutcome {
    /// How it ended.
    pub exit: ProcessExit,
    /// Standard output.
    pub stdout: CapturedOutput,
    /// Standard error.
    pub stderr: CapturedOutput,
    /// The file with the full output, if it was larger than what is kept.
    pub spilled: Option<PathBuf>,
    /// Whether that file is complete: not when it reached its limit, or the disk took no more.
    pub spilled_whole: bool,
    /// How many processes the program left running, which were then stopped.
    pub stopped: usize,
    /// How long it ran.
    pub duration: Duration,
    /// What the reader of the output should know beside it, a sentence each: what a sandbox has stopped, for example.
    pub notes: Vec<String>,
    /// What a sandbox has stopped, or may have. The notes say the same in words.
    pub violations: Vec<SandboxViolation>,
    /// The directory that it ended in, links resolved, if that was [asked for](ProcessCommand::reports_directory) and is known.
    pub directory: Option<PathBuf>,
}

impl ProcessOutcome {
    /// An outcome with empty output.
    pub fn new(exit: ProcessExit, duration: Duration) -> Self {
        Self {
            exit,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            spilled: None,
            spilled_whole: true,
            stopped: 0,
            duration,
            notes: Vec::new(),
            violations: Vec::new(),
            directory: None,
        }
    }
}

/// Output of a program: all of it, or its head and tail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CapturedOutput {
    /// The beginning, or all of it. Bytes that are not UTF-8 are replaced.
    pub head: String,
    /// The end, empty when `head` is all of it.
    pub tail: String,
    /// How many bytes are missing between the two.
    pub omitted_bytes: u64,
}

impl CapturedOutput {
    /// Output with its beginning, its end and what is missing between.
    pub fn new(head: impl Into<String>, tail: impl Into<String>, omitted_bytes: u64) -> Self {
        Self { head: head.into(), tail: tail.into(), omitted_bytes }
    }
}

/// A program could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ProcessError {
    /// Why, in a sentence.
    pub message: String,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ProcessError {
    /// An error with a sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

const _: fn(&dyn Process) = |_| {};
