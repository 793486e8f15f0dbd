//! Environment that the user's login shell sets up, captured once for all commands.

mod dump;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::OnceCell;
use windlass_tool::search_path::{find_bash, is_inside};
use windlass_tool::{EntryKind, ProcessCommand, ProcessExit, ToolCx, ToolError};

use super::command::{unattended_environment, variable};
use super::report::in_words;
use dump::{Dump, IsJudged, merged, read, script};

/// Maximum number of bytes that a login shell may print.
const MAX_OUTPUT_BYTES: usize = 2 * 1024 * 1024;
/// Shells that understand the script.
const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];

/// Snapshot of the user's login shell, for the commands of [`Bash`](super::Bash): the search path and other variables
/// from its start-up files, and functions and aliases if the program requests them.
///
/// A snapshot runs code of the user, so a program makes one only if the user wants that. It is taken at the first
/// command, once for all clones. The shell is interactive, leads a session of its own, starts in the user's home and
/// has neither terminal nor input. Each session takes a new snapshot. If it fails (no end in time, too much output,
/// start-up files that end the shell), commands run without it, and the first of them reports the reason.
///
/// Only variables that pass [`host_environment`](windlass_tool::environment::host_environment) are taken, and the session's own take
/// precedence, so that no key of a start-up file reaches a command. The search path leads neither through the workspace
/// nor through the directory of the command.
#[derive(Debug, Clone)]
pub struct ShellSnapshot {
    shell: Option<PathBuf>,
    timeout: Duration,
    is_judged: Option<IsJudged>,
    taken: Arc<OnceCell<Taken>>,
}

impl Default for ShellSnapshot {
    fn default() -> Self {
        Self { shell: None, timeout: Self::DEFAULT_TIMEOUT, is_judged: None, taken: Arc::default() }
    }
}

impl ShellSnapshot {
    /// Default time limit of the login shell: ten seconds.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

    /// A snapshot of variables alone, not taken yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses this shell. Default: that of the variable `SHELL`, if it is a bash, dash, ksh, sh or zsh, else the bash of
    /// the machine.
    #[must_use]
    pub fn with_shell(mut self, shell: impl Into<PathBuf>) -> Self {
        self.shell = Some(shell.into());
        self
    }

    /// Sets the time limit of the login shell. Default: [`DEFAULT_TIMEOUT`](Self::DEFAULT_TIMEOUT).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Also takes functions and aliases of a login shell that is a bash, for commands in the foreground. Names of
    /// programs, builtins and keywords are left out, and names for which `is_judged` is true, because commands of these
    /// names are judged by them. Also left out are completion functions (`_x`), definitions with the value of a
    /// variable that is a secret by its name, and all of them beyond 256 KiB.
    ///
    /// A rule sees the name of a function, not the commands in it, as with a script: a deny rule on `kubectl` does not
    /// match an alias of it.
    #[must_use]
    pub fn with_functions(mut self, is_judged: fn(&str) -> bool) -> Self {
        self.is_judged = Some(is_judged);
        self
    }

    /// Returns the snapshot, and takes it if necessary. Cancel safe: the shell ends, and the next call takes it.
    ///
    /// # Errors
    /// The call was cancelled.
    pub(super) async fn get(&self, cx: &ToolCx) -> Result<&Taken, ToolError> {
        self.taken.get_or_try_init(|| self.take(cx)).await
    }

    async fn take(&self, cx: &ToolCx) -> Result<Taken, ToolError> {
        let env = unattended_environment(cx.env(), cx.directories());
        let initial_path = variable(&env, "PATH").map(OsStr::to_owned);
        let taken = match self.shell(&env, cx).await {
            None => Err("there is no shell that can be asked".to_owned()),
            Some(shell) => self.run_shell(&shell, env, cx).await?,
        };
        let (dump, problem) = match taken {
            Ok(mut dump) => {
                let note = dump.note.take();
                (dump, note)
            }
            Err(problem) => (Dump::default(), Some(problem)),
        };
        match &problem {
            Some(problem) => tracing::warn!(%problem, "the snapshot of the login shell"),
            None => tracing::debug!(?dump, "the snapshot of the login shell"),
        }
        Ok(Taken { dump, initial_path, problem, is_noted: AtomicBool::new(false) })
    }

    async fn shell(&self, env: &[(OsString, OsString)], cx: &ToolCx) -> Option<PathBuf> {
        if let Some(shell) = &self.shell {
            return Some(shell.clone());
        }
        let login_shell = variable(env, "SHELL").map(PathBuf::from).filter(|shell| {
            let is_known = name(shell).is_some_and(|name| SHELLS.contains(&name));
            is_known && shell.is_absolute() && !is_inside(shell, cx.directories())
        });
        match login_shell {
            Some(shell) if is_kind(cx, &shell, EntryKind::File).await => Some(shell),
            _ => find_bash(env),
        }
    }

    /// Runs a login shell with the script that prints its variables and functions.
    async fn run_shell(
        &self,
        shell: &Path,
        env: Vec<(OsString, OsString)>,
        cx: &ToolCx,
    ) -> Result<Result<Dump, String>, ToolError> {
        let home = match variable(&env, "HOME").map(PathBuf::from) {
            Some(home) if home.is_absolute() && is_kind(cx, &home, EntryKind::Directory).await => home,
            _ => PathBuf::from("/"),
        };
        let mark = format!("{:032x}", cx.ids().bits());
        let is_judged = self.is_judged.filter(|_| name(shell) == Some("bash"));
        let mut command = ProcessCommand::new(shell, home);
        command.args = ["-l", "-i", "-c", &script(is_judged.is_some()), "windlass", &mark].map(OsString::from).into();
        command.env = env;
        command.timeout = Some(self.timeout);
        command.inline_bytes = MAX_OUTPUT_BYTES;
        let outcome = match cx.process().run(command, cx.cancel()).await {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let printed = &outcome.stdout;
        Ok(match outcome.exit {
            ProcessExit::Cancelled => return Err(ToolError::cancelled()),
            ProcessExit::TimedOut => Err(format!("it did not end within {}", in_words(self.timeout))),
            _ if printed.omitted_bytes > 0 => Err(format!("it printed more than {MAX_OUTPUT_BYTES} bytes")),
            exit => read(&[printed.head.as_str(), &printed.tail].concat(), &mark, is_judged)
                .ok_or_else(|| format!("its start-up files ended it ({exit:?})")),
        })
    }
}

async fn is_kind(cx: &ToolCx, path: &Path, kind: EntryKind) -> bool {
    cx.workspace().resolve(path).await.is_ok_and(|resolved| resolved.kind == kind)
}

fn name(shell: &Path) -> Option<&str> {
    shell.file_name()?.to_str()
}

/// Snapshot of a login shell, or the reason of its failure.
#[derive(Debug)]
pub(super) struct Taken {
    dump: Dump,
    initial_path: Option<OsString>,
    problem: Option<String>,
    is_noted: AtomicBool,
}

impl Taken {
    /// Merges the variables of a session with the snapshot.
    pub(super) fn over(&self, session: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        merged(session, self.initial_path.as_deref(), &self.dump.env)
    }

    /// Definitions that bash reads before a command.
    pub(super) fn functions(&self) -> &[u8] {
        &self.dump.functions
    }

    /// Note of the first command about a failed snapshot.
    pub(super) fn note(&self) -> Option<String> {
        let problem = self.problem.as_ref().filter(|_| !self.is_noted.swap(true, Ordering::Relaxed))?;
        Some(format!("The environment of the login shell is not used, or not all of it: {problem}."))
    }
}
