//! The Bash tool: one shell command.

mod background;
mod command;
mod cwd;
mod meaning;
mod moving;
mod powershell;
mod report;
mod snapshot;
mod terminal;
mod text;

pub use command::unattended_environment;
pub use powershell::{PowerShell, PowerShellInput};
pub use snapshot::ShellSnapshot;
pub use terminal::{BashOnTerminals, BashOnTerminalsInput};
pub(crate) use text::clean;

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_tool::{Annotations, Ids as _, SystemIds, TerminalSize, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, ContextChange};

use cwd::{CwdFile, Moved};
use moving::{Movable, Waited};
use report::Report;
use snapshot::Taken;

/// Runs shell commands.
///
/// Each call gets a bash of its own, without start-up files, terminal and input. The next call starts in the directory
/// in which it ends, as long as that is inside the workspace; variables and functions do not last. Output and errors
/// come together, in the order of writing, as plain text. Output over the budget goes to a file among the session's
/// artifacts; the model reads the beginning, the end and the path of the file. A command in the background continues
/// until it ends, is stopped or the session ends; all its output goes to a file.
///
/// The environment is that of the session, without variables that would change the meaning of the command. Its search
/// path does not lead through the workspace. When the command ends, so do all processes that it started.
#[derive(Debug, Clone)]
pub struct Bash {
    shell: Option<PathBuf>,
    default_timeout: Duration,
    max_timeout: Duration,
    max_output: usize,
    moves_to_background: bool,
    snapshot: Option<ShellSnapshot>,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            shell: None,
            default_timeout: Self::DEFAULT_TIMEOUT,
            max_timeout: Self::MAX_TIMEOUT,
            max_output: Self::DEFAULT_MAX_OUTPUT,
            moves_to_background: false,
            snapshot: None,
        }
    }
}

impl Bash {
    /// Default timeout of a command: two minutes.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
    /// Longest timeout that a call may request: ten minutes.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(600);
    /// Default number of characters of output that the model reads.
    pub const DEFAULT_MAX_OUTPUT: usize = 30_000;
    /// Maximum of [`Bash::with_max_output`].
    pub const LARGEST_MAX_OUTPUT: usize = 150_000;

    /// The tool with its defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses this bash. Default: looked up in `/bin`, `/usr/bin` and the session's search path.
    #[must_use]
    pub fn with_shell(mut self, shell: impl Into<PathBuf>) -> Self {
        self.shell = Some(shell.into());
        self
    }

    /// Sets the default timeout, and the longest that a call may request.
    #[must_use]
    pub fn with_timeouts(mut self, default: Duration, max: Duration) -> Self {
        self.default_timeout = default.min(max);
        self.max_timeout = max;
        self
    }

    /// Sets the number of characters of output that the model reads; at most [`Bash::LARGEST_MAX_OUTPUT`].
    #[must_use]
    pub fn with_max_output(mut self, characters: usize) -> Self {
        self.max_output = characters.min(Self::LARGEST_MAX_OUTPUT);
        self
    }

    /// Moves a command to the background when its time is up, or when the host requests it
    /// (`SessionHandle::move_to_background`), if the session has a background. Commands that only wait (`sleep`) and
    /// those of git are stopped at the time limit even so. Default: `false`, commands are stopped.
    #[must_use]
    pub fn with_moves_to_background(mut self, on: bool) -> Self {
        self.moves_to_background = on;
        self
    }

    /// Gives commands the environment that the user's login shell sets up. This runs start-up files of the user, so use
    /// it only if the user wants that. Commands on other machines do not get it. Default: none.
    #[must_use]
    pub fn with_snapshot(mut self, snapshot: ShellSnapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Lets calls request a terminal (`tty`), for programs that refuse to run without one. Default: they cannot.
    #[must_use]
    pub fn with_terminals(self) -> BashOnTerminals {
        BashOnTerminals::new(self)
    }

    fn timeout(&self, requested: Option<f64>) -> Duration {
        time_limit(requested).map_or(self.default_timeout, |requested| requested.min(self.max_timeout))
    }
}

/// The input of [`Bash`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BashInput {
    /// The command to run.
    pub command: String,
    /// Milliseconds after which the command is stopped. The user may have set other limits than the usual ones: 120000
    /// unless given, at most 600000.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub timeout: Option<f64>,
    /// What the command does, in five to ten words, for the person who watches.
    #[serde(default)]
    pub description: Option<String>,
    /// Leaves the command running and returns at once. It is stopped only if a timeout is given.
    #[serde(default)]
    pub run_in_background: Option<bool>,
    /// Runs the command outside of the sandbox, where there is one; the user is asked. Only for a command that the sandbox has
    /// stopped and that must run.
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    pub dangerously_disable_sandbox: Option<bool>,
}

/// Description of the tool for the model, with a part about terminals.
macro_rules! description {
    ($terminal:literal) => {
        concat!(
            "\
Runs a command in bash and returns its output and exit code.

- Each call is a new shell. A `cd` lasts for later calls as long as it stays inside the workspace; variables, \
functions and aliases do not last.
- ",
            $terminal,
            "\n- The call ends when the command ends. Processes it leaves running are stopped then; a server started with `&` \
must be started and used in the same call.
- With run_in_background the call returns at once and the command continues: for servers, watchers and long builds. You \
get a task and the path of a file with its output, and a message when it ends. Do not poll it with sleep.
- Output and errors come together. When there is much, you get the beginning and the end, and the path of a file \
with all of it, which you can read and search.
- Prefer the tools made for it over cat, sed, find and grep when reading, editing and searching files.
- Quote paths that contain blanks. Chain commands with && when each needs the one before."
        )
    };
}
use description;

impl Tool for Bash {
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str =
        description!("There is no terminal and no input: pass options that keep a program from asking or paging.");
    type Input = BashInput;
    type Output = ToolOutput;

    fn access(&self, _: &BashInput) -> Access {
        Access::Exec
    }

    fn command<'a>(&self, input: &'a BashInput) -> Option<&'a str> {
        Some(&input.command)
    }

    fn title(&self, input: &BashInput) -> Cow<'static, str> {
        // The command, not the model's description of it, because a person decides by this line.
        Cow::Owned(input.command.clone())
    }

    fn annotations(&self) -> Annotations {
        // The budget is applied here, where the whole output is known; a second cut would lose the file's path.
        let max_bytes = self.max_output.saturating_mul(4).saturating_add(64 * 1024);
        Annotations::default()
            .with_max_result_bytes(max_bytes)
            .with_foreign_output()
            .with_background_field("run_in_background")
    }

    async fn call(&self, input: BashInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        self.run(input, None, cx).await
    }
}

impl Bash {
    /// Runs a command, on a terminal if a size is given.
    async fn run(
        &self,
        input: BashInput,
        terminal: Option<TerminalSize>,
        cx: &ToolCx,
    ) -> Result<ToolOutput, ToolError> {
        check_command(&input.command)?;
        let is_local = cx.workspace().is_local();
        let snapshot = match &self.snapshot {
            Some(snapshot) if is_local && cfg!(unix) => Some(snapshot.get(cx).await?),
            _ => None,
        };
        if input.run_in_background == Some(true) {
            return background::start(self.shell.as_deref(), snapshot, &input, terminal, cx).await;
        }
        let start = command::start_directory(cx).await?;
        let functions = snapshot.map(Taken::functions).unwrap_or_default();
        // The file is in a shared folder, and the model never reads its name: ids of a recording would collide.
        let name = SystemIds::default().bits();
        let directory = is_local.then(|| CwdFile::create(&command::temporary_folder(cx), name, functions));
        let directory = directory
            .transpose()
            .inspect_err(|error| tracing::warn!(%error, "the directory of a command will not be known"))
            .unwrap_or_default();
        let timeout = self.timeout(input.timeout);
        let mut command = command::in_bash(self.shell.as_deref(), &input, &start, snapshot, cx)?;
        if let Some(directory) = &directory {
            command.env.push(("BASH_ENV".into(), directory.bash_env()));
        }
        (command.reports_directory, command.terminal) = (!is_local, terminal);
        command.timeout = Some(timeout);
        command.spill = cx.artifacts().map(|folder| folder.join(command::spill_name(cx)));
        command.spill_above = Some(self.max_output);
        // A character has up to four bytes.
        command.inline_bytes = self.max_output.saturating_mul(4);
        let movable = Movable::new(&input, cx).filter(|_| self.moves_to_background);
        let (outcome, directory) = match movable {
            None => (cx.process().run(command, cx.cancel()).await, directory),
            Some(movable) => match movable.run(command, directory, timeout).await? {
                Waited::Ended(outcome, directory) => (outcome, directory),
                Waited::Moved(output) => return Ok(output),
            },
        };
        let outcome = outcome.map_err(|error| ToolError::rejected(error.to_string()).with_source(error))?;
        let reported = directory.and_then(|directory| directory.reported()).or_else(|| outcome.directory.clone());
        let moved = match reported {
            Some(reported) => cwd::settle(reported, &start, cx).await,
            None => Moved::No,
        };
        let mut report = Report::new(Some(&input.command), &outcome, timeout);
        report.show_output(&outcome, self.max_output).await;
        report.note_moves(cx.cwd(), &start, &moved);
        report.add_note(snapshot.and_then(Taken::note));
        let output = report.into_output(Self::NAME)?;
        Ok(match moved {
            Moved::To(directory) => output.with_change(ContextChange::Cwd(directory)),
            Moved::No | Moved::Outside(_) if start != cx.cwd() => output.with_change(ContextChange::Cwd(start)),
            Moved::No | Moved::Outside(_) => output,
        })
    }
}

/// Timeout that a call requests in milliseconds, if any. A value beyond the range of a duration becomes the maximum.
fn time_limit(requested: Option<f64>) -> Option<Duration> {
    let milliseconds = requested.filter(|milliseconds| *milliseconds > 0.0)?;
    Some(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX))
}

fn check_command(command: &str) -> Result<(), ToolError> {
    if command.trim().is_empty() {
        return Err(ToolError::invalid_input("The command is empty."));
    }
    if command.contains('\0') {
        return Err(ToolError::invalid_input("The command contains a NUL character, which no shell can read."));
    }
    Ok(())
}
