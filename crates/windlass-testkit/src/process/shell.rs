//! Shell that runs the scripts of the rules.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_tool::{Cancel, Process, ProcessCommand, ProcessExit, ProcessOutcome};

use crate::Violation;
use crate::violation::{PATIENCE, ensure, within};

/// POSIX shell for the programs of a [`Process`], and the directory that they may write to.
#[derive(Debug, Clone)]
pub struct Shell {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: PathBuf,
    marks: Vec<String>,
}

impl Shell {
    /// Returns `/bin/sh` with `PATH=/usr/bin:/bin`, in an empty directory that programs may write to, absolute and
    /// without links.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: "/bin/sh".into(),
            args: vec!["-c".into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: cwd.into(),
            marks: Vec::new(),
        }
    }

    /// Sets another shell, with the arguments before the text of the script.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<OsString>, args: impl IntoIterator<Item = OsString>) -> Self {
        self.program = program.into();
        self.args = args.into_iter().collect();
        self
    }

    /// Sets another search path.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<OsString>) -> Self {
        self.env = vec![("PATH".into(), path.into())];
        self
    }

    /// Adds a variable that this process adds to every environment by design.
    #[must_use]
    pub fn with_mark(mut self, name: impl Into<String>) -> Self {
        self.marks.push(name.into());
        self
    }

    pub(super) fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub(super) fn marks(&self) -> &[String] {
        &self.marks
    }

    pub(super) fn command(&self, script: &str) -> ProcessCommand {
        let mut command = ProcessCommand::new(&self.program, &self.cwd);
        command.args = self.args.clone();
        command.args.push(script.into());
        command.env = self.env.clone();
        // A rule that fails must not leave a program running for good.
        command.timeout = Some(Duration::from_secs(120));
        command
    }

    /// Runs a script to its end.
    pub(super) async fn run(&self, process: &dyn Process, script: &str) -> Result<ProcessOutcome, Violation> {
        run(process, self.command(script), &Cancel::new(), script).await
    }

    /// Returns the output of a script that must succeed.
    pub(super) async fn read(&self, process: &dyn Process, script: &str) -> Result<String, Violation> {
        let outcome = self.run(process, script).await?;
        ensure(outcome.exit == ProcessExit::Code(0), || format!("{script}: {outcome:?}"))?;
        Ok(outcome.stdout.head)
    }

    /// Waits until a script ends with code 0, and fails if it does not within a limit. The script is run repeatedly:
    /// the port reports only ends.
    pub(super) async fn until(&self, process: &dyn Process, script: &str, never: &str) -> Result<(), Violation> {
        let since = tokio::time::Instant::now();
        while self.run(process, script).await?.exit != ProcessExit::Code(0) {
            ensure(since.elapsed() < PATIENCE, || never.to_owned())?;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Waits until none of these processes is alive; a zombie counts as dead.
    pub(super) async fn until_gone(&self, process: &dyn Process, pids: &str, what: &str) -> Result<(), Violation> {
        let pids = pids.split_whitespace().collect::<Vec<_>>().join(" ");
        let script = format!(
            "for pid in {pids}; do kill -0 $pid 2>/dev/null || continue; \
             case \"$(sed 's/.*) \\(.\\).*/\\1/' /proc/$pid/stat 2>/dev/null)\" in Z|X) ;; *) exit 1;; esac; done"
        );
        self.until(process, &script, &format!("{what}: of the processes {pids} some live on")).await
    }
}

/// Runs a command that must end by itself.
pub(super) async fn run(
    process: &dyn Process,
    command: ProcessCommand,
    cancel: &Cancel,
    what: &str,
) -> Result<ProcessOutcome, Violation> {
    let what: String = what.chars().take(200).collect();
    let outcome = within(&what, process.run(command, cancel)).await?;
    outcome.map_err(|error| Violation::new(format!("{what}: it was not started: {error}")))
}
