//! The program at the other end, and its command line.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_types::PermissionMode;

/// Function that is called with each line of a program's standard error.
pub(super) type StderrSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A program that speaks the host protocol, and its start options: `windlass`, or the reference's own command line.
#[derive(Clone)]
#[must_use = "a program does nothing until a client spawns it"]
pub struct Program {
    pub(super) program: PathBuf,
    pub(super) flags: Vec<OsString>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) clear: bool,
    pub(super) env: Vec<(OsString, Option<OsString>)>,
    pub(super) stderr: Option<StderrSink>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets, and so may settings among the flags.
        f.debug_struct("Program").field("program", &self.program).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl Default for Program {
    /// Returns `windlass`, looked up in the `PATH`.
    fn default() -> Self {
        Self::new("windlass")
    }
}

impl Program {
    /// Creates a program from a path, or a name that is looked up in the `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), flags: Vec::new(), cwd: None, clear: false, env: Vec::new(), stderr: None }
    }

    /// Adds any argument, for options that have no method here.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.flags.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.flags.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a flag as one argument, so that a value may begin with a dash.
    fn flag(self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut arg = OsString::from(format!("--{name}="));
        arg.push(value);
        self.arg(arg)
    }

    fn list<S: AsRef<str>>(self, name: &str, values: impl IntoIterator<Item = S>) -> Self {
        // Each value has a flag of its own, because a rule may contain commas.
        values.into_iter().fold(self, |program, value| program.flag(name, value.as_ref()))
    }

    /// Sets the start directory, which is the workspace. Default: that of this process.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Removes an environment variable.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// Disables the inheritance of variables. Variables set here stay.
    pub fn env_clear(mut self) -> Self {
        self.clear = true;
        self
    }

    /// Sets a function that is called with each line of its standard error, at most 8 KiB of one. Must be quick.
    /// Default: only the last 8 KiB are kept, for errors.
    pub fn on_stderr(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Some(Arc::new(sink));
        self
    }

    /// Sets the model: an id or an alias.
    pub fn model(self, name: &str) -> Self {
        self.flag("model", name)
    }

    /// Sets the fallback model, used when the first one is overloaded.
    pub fn fallback_model(self, name: &str) -> Self {
        self.flag("fallback-model", name)
    }

    /// Sets the permission mode. Default: `default`.
    pub fn permission_mode(self, mode: PermissionMode) -> Self {
        self.flag("permission-mode", mode.as_str())
    }

    /// Allows a later switch to `bypassPermissions`. High risk.
    pub fn allow_bypass(self) -> Self {
        self.arg("--allow-dangerously-skip-permissions")
    }

    /// Sets rules for calls that run without a permission request, such as `Bash(cargo test *)`.
    pub fn allowed_tools<S: AsRef<str>>(self, rules: impl IntoIterator<Item = S>) -> Self {
        self.list("allowedTools", rules)
    }

    /// Sets rules for calls that never run.
    pub fn disallowed_tools<S: AsRef<str>>(self, rules: impl IntoIterator<Item = S>) -> Self {
        self.list("disallowedTools", rules)
    }

    /// Restricts the built-in tools. Default: all of them; none for an empty list.
    pub fn tools<S: AsRef<str>>(self, names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        self.flag("tools", names.join(","))
    }

    /// Sets the main agent: one of [`ClientOptions::agents`](super::ClientOptions::agents), or of the files of the
    /// project or the user. Default: the one that the settings name, if any.
    pub fn agent(self, name: &str) -> Self {
        self.flag("agent", name)
    }

    /// Sets the maximum number of model calls of a turn.
    pub fn max_turns(self, turns: u32) -> Self {
        self.flag("max-turns", turns.to_string())
    }

    /// Sets the maximum cost of the session, in US dollars.
    pub fn max_budget_usd(self, usd: f64) -> Self {
        self.flag("max-budget-usd", usd.to_string())
    }

    /// Continues a session.
    pub fn resume(self, session_id: &str) -> Self {
        self.flag("resume", session_id)
    }

    /// Continues the newest session of the directory.
    pub fn continue_latest(self) -> Self {
        self.arg("--continue")
    }

    /// Continues a fork of the session, under a new id.
    pub fn fork_session(self) -> Self {
        self.arg("--fork-session")
    }

    /// Sets the id of the new session: a UUID.
    pub fn session_id(self, id: &str) -> Self {
        self.flag("session-id", id)
    }

    /// Writes no session to disk.
    pub fn no_persistence(self) -> Self {
        self.arg("--no-session-persistence")
    }

    /// Requests [`Message::StreamEvent`](crate::client::Message::StreamEvent)s.
    pub fn partial_messages(self) -> Self {
        self.arg("--include-partial-messages")
    }

    /// Adds a directory to the workspace.
    pub fn add_dir(self, directory: impl AsRef<Path>) -> Self {
        self.flag("add-dir", directory.as_ref())
    }

    /// Sets the settings: a path, or JSON.
    pub fn settings(self, settings: impl AsRef<OsStr>) -> Self {
        self.flag("settings", settings)
    }

    /// Sets the setting sources to read: `user`, `project`, `local`; none for an empty list.
    pub fn setting_sources<S: AsRef<str>>(self, sources: impl IntoIterator<Item = S>) -> Self {
        let sources: Vec<String> = sources.into_iter().map(|source| source.as_ref().to_owned()).collect();
        self.flag("setting-sources", sources.join(","))
    }

    /// Sets MCP servers: a path, or JSON with `mcpServers`.
    pub fn mcp_config(self, config: impl AsRef<OsStr>) -> Self {
        self.flag("mcp-config", config)
    }

    /// Sets the maximum number of thinking tokens; 0 turns thinking off.
    pub fn max_thinking_tokens(self, tokens: u32) -> Self {
        self.flag("max-thinking-tokens", tokens.to_string())
    }

    /// Sets the effort of the model: `low`, `medium`, `high` or `max`.
    pub fn effort(self, effort: &str) -> Self {
        self.flag("effort", effort)
    }
}
