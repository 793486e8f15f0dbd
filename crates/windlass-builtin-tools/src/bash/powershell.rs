//! The PowerShell tool: one command in the shell of Windows.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_tool::search_path::find_program;
use windlass_tool::{Annotations, ProcessCommand, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;

use super::command::{agent_environment, spill_name, start_directory};
use super::cwd::Moved;
use super::report::Report;
use super::text::clean;
use super::{Bash, check_command, time_limit};

/// Runs commands of PowerShell, for sessions on Windows.
///
/// Each call gets a PowerShell of its own, without profile, terminal and input, in the directory of the session: a `cd`
/// does not last. Its commands are not analysed like those of Bash, so each needs a permission request, unless a rule
/// allows the whole tool. Deny and ask rules about single commands apply to the whole tool; allow rules about single
/// commands are ignored.
#[derive(Debug, Clone)]
pub struct PowerShell {
    shell: Option<PathBuf>,
    default_timeout: Duration,
    max_timeout: Duration,
}

impl Default for PowerShell {
    fn default() -> Self {
        Self { shell: None, default_timeout: Bash::DEFAULT_TIMEOUT, max_timeout: Bash::MAX_TIMEOUT }
    }
}

impl PowerShell {
    /// The tool with the defaults of [`Bash`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses this PowerShell. Default: `pwsh` of the session's search path, else the one that belongs to Windows.
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

    fn command(&self, input: &PowerShellInput, cwd: &Path, cx: &ToolCx) -> Result<ProcessCommand, ToolError> {
        let env = agent_environment(cx.env(), cx.directories());
        let shell = self.shell.clone().or_else(|| find_powershell(&env));
        let shell = shell.ok_or_else(|| ToolError::rejected("No PowerShell was found on this machine."))?;
        let mut command = ProcessCommand::new(shell, cwd);
        command.args = arguments(&input.command)?;
        command.env = env;
        command.merge_streams = true;
        command.spill = cx.artifacts().map(|folder| folder.join(spill_name(cx)));
        command.spill_above = Some(Bash::DEFAULT_MAX_OUTPUT);
        // A character has up to four bytes.
        command.inline_bytes = Bash::DEFAULT_MAX_OUTPUT.saturating_mul(4);
        let cx = cx.clone();
        command.progress = Some(Arc::new(move |output: &str| cx.progress(clean(output))));
        Ok(command)
    }
}

/// Input of [`PowerShell`].
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PowerShellInput {
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
}

impl Tool for PowerShell {
    const NAME: &'static str = "PowerShell";
    const DESCRIPTION: &'static str = "\
Runs a command in PowerShell and returns its output and exit code.

- Each call is a new PowerShell without profile. Variables, functions and the directory do not last.
- There is no terminal and no input: pass parameters that keep a command from asking.
- The call ends when the command ends. Processes it leaves running are stopped then.
- Output and errors come together. When there is much, you get the beginning and the end, and the path of a file \
with all of it, which you can read and search.
- Windows PowerShell 5.1 knows neither && nor ||: chain commands with `; if ($?) { ... }`.";
    type Input = PowerShellInput;
    type Output = ToolOutput;

    fn access(&self, _: &PowerShellInput) -> Access {
        Access::Exec
    }

    fn title(&self, input: &PowerShellInput) -> Cow<'static, str> {
        Cow::Owned(input.command.clone())
    }

    fn annotations(&self) -> Annotations {
        let max_bytes = Bash::DEFAULT_MAX_OUTPUT.saturating_mul(4).saturating_add(64 * 1024);
        Annotations::default().with_max_result_bytes(max_bytes).with_foreign_output()
    }

    async fn call(&self, input: PowerShellInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        check_command(&input.command)?;
        let start = start_directory(cx).await?;
        let timeout =
            time_limit(input.timeout).map_or(self.default_timeout, |requested| requested.min(self.max_timeout));
        let mut command = self.command(&input, &start, cx)?;
        command.timeout = Some(timeout);
        let outcome = cx.process().run(command, cx.cancel()).await;
        let outcome = outcome.map_err(|error| ToolError::rejected(error.to_string()).with_source(error))?;
        let mut report = Report::new(None, &outcome, timeout);
        report.show_output(&outcome, Bash::DEFAULT_MAX_OUTPUT).await;
        report.note_moves(cx.cwd(), &start, &Moved::No);
        report.into_output(Self::NAME)
    }
}

/// Finds the PowerShell of a machine: `pwsh`, which is newer, or the one that belongs to Windows.
fn find_powershell(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let system = || {
        let is_root = |name: &OsStr| name.eq_ignore_ascii_case("SYSTEMROOT");
        let (_, root) = env.iter().find(|(name, _)| is_root(name))?;
        let folder: PathBuf =
            [root.as_os_str(), "System32".as_ref(), "WindowsPowerShell".as_ref(), "v1.0".as_ref()].iter().collect();
        find_program("powershell.exe", &[("PATH".into(), folder.into())])
    };
    find_program("pwsh", env).or_else(system)
}

/// Script before a command: output is UTF-8, progress bars are off.
const PROLOGUE: &str = "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)
$OutputEncoding = [Console]::OutputEncoding
$ProgressPreference = 'SilentlyContinue'
";
/// Script after a command: the exit code is that of the last command, also of a program.
const EPILOGUE: &str = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }\nexit 0\n";
/// Maximum number of characters of the encoded command. Command lines of Windows have at most 32,767 characters, and
/// the program and its options need some of them.
const MAX_COMMAND_CHARS: usize = 31_000;

/// Arguments for a command. The script is encoded, so that only PowerShell interprets its quotes and blanks.
fn arguments(command: &str) -> Result<Vec<OsString>, ToolError> {
    let script = [PROLOGUE, command, EPILOGUE].concat();
    let encoded = STANDARD.encode(script.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    if encoded.len() > MAX_COMMAND_CHARS {
        let message = "The command is too long for Windows: write it to a .ps1 file and run that.";
        return Err(ToolError::invalid_input(message));
    }
    let options = ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand"];
    Ok(options.into_iter().map(OsString::from).chain([encoded.into()]).collect())
}

#[cfg(test)]
mod tests;
