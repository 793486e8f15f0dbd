//! Command of a child.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::process::Command;
use windlass_tool::ConfinedStart;

/// An open file for a stream of a child.
#[cfg(unix)]
pub type StreamFile = std::os::fd::OwnedFd;
/// An open file for a stream of a child.
#[cfg(windows)]
pub type StreamFile = std::os::windows::io::OwnedHandle;

/// A program with its arguments, variables, directory and streams, for [`Child::start`](crate::Child::start).
///
/// The child gets these variables and no others. Its streams are empty unless they are set.
#[derive(Debug)]
pub struct ChildCommand {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    pub(crate) stdin: ChildStream,
    pub(crate) stdout: ChildStream,
    pub(crate) stderr: ChildStream,
    #[cfg(unix)]
    pub(crate) terminal: Option<crate::Terminal>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "threads are confined on Linux alone"))]
    pub(crate) confined: Option<ConfinedStart>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "keepers bound memory, on Linux alone"))]
    pub(crate) only_reads: bool,
}

/// Target of a child's stream.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum ChildStream {
    /// No input, or output that is discarded.
    #[default]
    Null,
    /// A pipe, whose other end is taken from the child.
    Pipe,
    /// An open file. Of a pipe, pass the child's end.
    File(StreamFile),
}

impl ChildCommand {
    /// A program with its working directory. Give both as absolute paths.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        let (stdin, stdout, stderr) = Default::default();
        let (args, env) = Default::default();
        Self {
            program: program.into(),
            args,
            env,
            cwd: cwd.into(),
            stdin,
            stdout,
            stderr,
            #[cfg(unix)]
            terminal: None,
            confined: None,
            only_reads: false,
        }
    }

    /// Sets the arguments of the program. Default: none.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Adds variables as names with values. A later value replaces an earlier one. Default: none.
    #[must_use]
    pub fn envs(mut self, env: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>) -> Self {
        for (name, value) in env {
            let (name, value) = (name.into(), value.into());
            match self.env.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => self.env.push((name, value)),
            }
        }
        self
    }

    /// Sets the input. Default: empty.
    #[must_use]
    pub fn stdin(mut self, stream: ChildStream) -> Self {
        self.stdin = stream;
        self
    }

    /// Sets the target of the output. Default: discarded.
    #[must_use]
    pub fn stdout(mut self, stream: ChildStream) -> Self {
        self.stdout = stream;
        self
    }

    /// Gives the child a terminal, as its input and both outputs.
    ///
    /// # Errors
    /// No file numbers are free.
    #[cfg(unix)]
    pub fn on_terminal(mut self, terminal: crate::Terminal) -> std::io::Result<Self> {
        let end = || terminal.child_end().map(ChildStream::File);
        (self.stdin, self.stdout, self.stderr) = (end()?, end()?, end()?);
        self.terminal = Some(terminal);
        Ok(self)
    }

    /// Sets a quicker start for a program that confines itself and becomes another one: a thread that confines itself
    /// and starts the latter. Used on Linux alone; if it fails, the program itself is started. Default: none.
    #[must_use]
    pub fn confined_start(mut self, start: Option<ConfinedStart>) -> Self {
        self.confined = start;
        self
    }

    /// Limits the memory of a read-only program, and of each program that it starts, to 4 GiB of its own. The system
    /// ends such a program first when memory runs out. Only with a [keeper](crate::Child::keeper). Default: `false`.
    #[must_use]
    pub fn only_reads(mut self, on: bool) -> Self {
        self.only_reads = on;
        self
    }

    /// Sets the target of the standard error. Default: discarded.
    #[must_use]
    pub fn stderr(mut self, stream: ChildStream) -> Self {
        self.stderr = stream;
        self
    }
}

impl From<ChildCommand> for Command {
    fn from(command: ChildCommand) -> Self {
        let ChildCommand { program, args, env, cwd, stdin, stdout, stderr, .. } = command;
        let mut command = Self::new(program);
        command.args(args).env_clear().envs(env).current_dir(cwd);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        command
    }
}

impl From<ChildStream> for Stdio {
    fn from(stream: ChildStream) -> Self {
        match stream {
            ChildStream::Null => Self::null(),
            ChildStream::Pipe => Self::piped(),
            ChildStream::File(file) => file.into(),
        }
    }
}
