//! Programs that run from a script.

mod run;

pub use run::ScriptedRun;

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome};

use super::lock;
use run::RunEnd;

/// Programs that run from a script, and a record of the commands.
///
/// A command is compared by its line: the program and its arguments, separated by spaces. The first entry that matches
/// is used; a command that none matches is not started, and the error names it.
///
/// Output is bounded, and streams are merged if the command asks for it; a time limit, a cancel and a dropped future
/// end a run. Output is never spilled to a file. A run that waits and has a time limit needs a tokio runtime with time
/// (a paused one is enough).
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use windlass_testkit::fake::{ScriptedProcess, ScriptedRun};
/// use windlass_tool::{Cancel, Process, ProcessCommand, ProcessExit};
///
/// let programs = ScriptedProcess::new().on("cargo test", ScriptedRun::new().stdout("1 failed\n").code(101));
/// let mut command = ProcessCommand::new("cargo", "/work");
/// command.args = vec!["test".into(), "--quiet".into()];
/// let outcome = programs.run(command, &Cancel::new()).await.unwrap();
/// assert_eq!((outcome.exit, outcome.stdout.head.as_str()), (ProcessExit::Code(101), "1 failed\n"));
/// assert!(programs.run(ProcessCommand::new("rm", "/work"), &Cancel::new()).await.is_err());
/// assert_eq!(programs.lines(), ["cargo test --quiet", "rm"]);
/// # });
/// ```
#[derive(Clone, Default)]
pub struct ScriptedProcess(Arc<Mutex<ProcessState>>);

#[derive(Default)]
struct ProcessState {
    entries: Vec<FakeProgram>,
    commands: Vec<ProcessCommand>,
    abandoned: usize,
}

struct FakeProgram {
    matches: Arc<dyn Fn(&ProcessCommand) -> bool + Send + Sync>,
    run: ScriptedRun,
    uses: Option<usize>,
}

impl ScriptedProcess {
    /// Returns a script without programs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the run of all commands whose line contains this text.
    #[must_use]
    pub fn on(self, text: impl Into<String>, run: ScriptedRun) -> Self {
        let text = text.into();
        self.on_match(move |command| line(command).contains(&text), run)
    }

    /// Sets the run of the next command whose line contains this text; later ones match later entries.
    #[must_use]
    pub fn once(self, text: impl Into<String>, run: ScriptedRun) -> Self {
        let text = text.into();
        self.entry(Arc::new(move |command| line(command).contains(&text)), run, Some(1))
    }

    /// Sets the run of all commands for which the closure returns `true`.
    #[must_use]
    pub fn on_match(self, matches: impl Fn(&ProcessCommand) -> bool + Send + Sync + 'static, run: ScriptedRun) -> Self {
        self.entry(Arc::new(matches), run, None)
    }

    /// Sets the run of all other commands.
    #[must_use]
    pub fn otherwise(self, run: ScriptedRun) -> Self {
        self.on_match(|_| true, run)
    }

    fn entry(
        self,
        matches: Arc<dyn Fn(&ProcessCommand) -> bool + Send + Sync>,
        run: ScriptedRun,
        uses: Option<usize>,
    ) -> Self {
        lock(&self.0).entries.push(FakeProgram { matches, run, uses });
        self
    }

    /// Returns every command so far, in order, including those that were not started.
    pub fn commands(&self) -> Vec<ProcessCommand> {
        lock(&self.0).commands.clone()
    }

    /// Returns the lines of all commands so far.
    pub fn lines(&self) -> Vec<String> {
        lock(&self.0).commands.iter().map(line).collect()
    }

    /// Returns the number of runs that were dropped before they ended.
    pub fn abandoned(&self) -> usize {
        lock(&self.0).abandoned
    }

    fn begin(&self, command: &ProcessCommand) -> Option<ScriptedRun> {
        let mut state = lock(&self.0);
        state.commands.push(command.clone());
        let entry = state.entries.iter_mut().find(|entry| entry.uses != Some(0) && (entry.matches)(command))?;
        entry.uses = entry.uses.map(|uses| uses.saturating_sub(1));
        Some(entry.run.clone())
    }
}

/// Returns the program and its arguments, separated by spaces.
fn line(command: &ProcessCommand) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

impl fmt::Debug for ScriptedProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScriptedProcess").field(&self.lines()).finish()
    }
}

/// Counts a run that is dropped before its end.
struct RunGuard<'a> {
    of: &'a ScriptedProcess,
    ended: bool,
}

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        if !self.ended {
            lock(&self.of.0).abandoned += 1;
        }
    }
}

#[async_trait]
impl Process for ScriptedProcess {
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        let Some(run) = self.begin(&command) else {
            return Err(ProcessError::new(format!("the script has no entry for: {}", line(&command))));
        };
        if cancel.is_cancelled() {
            return Ok(ProcessOutcome::new(ProcessExit::Cancelled, std::time::Duration::ZERO));
        }
        let mut running = RunGuard { of: self, ended: false };
        if let Some(progress) = &command.progress {
            run.report(progress);
        }
        let exit = match run.ending() {
            RunEnd::NotStarted(message) => {
                running.ended = true;
                return Err(ProcessError::new(message.clone()));
            }
            RunEnd::Exit(exit) => {
                let exit = *exit;
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => ProcessExit::Cancelled,
                    () = run.wait() => exit,
                    () = time_is_up(&command) => ProcessExit::TimedOut,
                }
            }
        };
        running.ended = true;
        Ok(run.outcome(exit, &command))
    }
}

async fn time_is_up(command: &ProcessCommand) {
    match command.timeout {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}
