//! A [`Process`] that runs programs in a sandbox.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome};

use crate::Ground;
#[cfg(target_os = "linux")]
use crate::bridge::Bridge;
use crate::sandbox::Inner;
use crate::sweep::{Made, sweep};
use crate::violations::violations;

/// Runs each program in a sandbox, by means of another [`Process`], but those that are to run outside of it
/// ([`ProcessCommand::outside_sandbox`]).
///
/// What the sandbox may have stopped stands among the [`notes`](ProcessOutcome::notes) of an outcome.
pub struct Sandboxed {
    sandbox: Arc<Inner>,
    process: Arc<dyn Process>,
    confines: Arc<Confines>,
}

/// Whether a command of the shell runs inside. Takes its text, and whether it is to run outside.
pub type Confines = dyn Fn(&str, bool) -> bool + Send + Sync;

impl Sandboxed {
    pub(crate) fn new(sandbox: Arc<Inner>, process: Arc<dyn Process>, confines: Arc<Confines>) -> Self {
        Self { sandbox, process, confines }
    }

    /// Whether a program runs inside. One that is no command of a shell may leave only by word of the caller.
    fn is_confined(&self, command: &ProcessCommand) -> bool {
        match &command.shell_text {
            Some(text) => (self.confines)(text, command.outside_sandbox),
            None => !command.outside_sandbox,
        }
    }

    /// What of the policy is there now.
    async fn look(&self) -> Result<Ground, ProcessError> {
        let inner = Arc::clone(&self.sandbox);
        let not_run = |reason: String| ProcessError::new(format!("The program was not started: {reason}."));
        let look = tokio::task::spawn_blocking(move || Ground::look(&inner.policy, &inner.nested));
        let ground = look.await.map_err(|error| not_run(error.to_string()))?;
        ground.map_err(|error| not_run(error.to_string()))
    }
}

impl fmt::Debug for Sandboxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandboxed")
            .field("sandbox", &self.sandbox)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Process for Sandboxed {
    async fn run(&self, mut command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        if !self.is_confined(&command) {
            return self.process.run(command, cancel).await;
        }
        let own = &self.sandbox.environment;
        command.env.retain(|(name, _)| !own.iter().any(|(own, _)| own == name));
        command.env.extend(own.iter().cloned());
        let ground = self.look().await?;
        // What is made beside a program in the background may be the user's.
        let restore = !command.background;
        #[cfg(target_os = "linux")]
        let bridge = self.sandbox.bridge().map_err(|error| {
            ProcessError::new("The program was not started: it would not reach the proxy.").with_source(error)
        })?;
        #[cfg(target_os = "linux")]
        let proxy = bridge.as_ref().map(Bridge::socket);
        #[cfg(not(target_os = "linux"))]
        let proxy = None;
        let wrapped = self.sandbox.wrap.command(&self.sandbox.policy, &ground, command, proxy).ok_or_else(|| {
            ProcessError::new("The program was not started: the sandbox cannot express what it is to hold.")
        })?;
        let mut swept = Swept { ground: Some(ground), restore };
        let outcome = self.process.run(wrapped, cancel).await;
        let made = match swept.ground.take() {
            Some(ground) => {
                tokio::task::spawn_blocking(move || sweep(&ground.watched, restore)).await.unwrap_or_default()
            }
            None => Vec::new(),
        };
        let mut outcome = outcome?;
        not_confined(&outcome)?;
        outcome.notes.extend(made.iter().map(note_made));
        outcome.notes.extend(note_violations(&outcome));
        Ok(outcome)
    }
}

/// Looks at watched names also when a run is dropped half-way.
struct Swept {
    ground: Option<Ground>,
    restore: bool,
}

impl Drop for Swept {
    fn drop(&mut self) {
        if let Some(ground) = self.ground.take() {
            for made in sweep(&ground.watched, self.restore) {
                tracing::warn!(path = %made.path.display(), "a program that was stopped had made a protected name");
            }
        }
    }
}

/// A helper that failed has run no program: that is no outcome of the program.
fn not_confined(outcome: &ProcessOutcome) -> Result<(), ProcessError> {
    const MESSAGE: &str = "windlass sandbox: ";
    let said = [&outcome.stderr.head, &outcome.stdout.head].into_iter().find(|text| text.starts_with(MESSAGE));
    match said {
        Some(said) if outcome.exit == ProcessExit::Code(125) => {
            Err(ProcessError::new(format!("The program was not started: {}.", said.trim().trim_end_matches('.'))))
        }
        _ => Ok(()),
    }
}

fn note_made(made: &Made) -> String {
    let path = made.path.display();
    match &made.moved {
        Some(moved) => format!(
            "The sandbox protects {path}, which the command made: it is at {} now, where it has no effect.",
            moved.display()
        ),
        None => format!("The sandbox protects {path}, which was made or changed while the command ran."),
    }
}

/// One note for all that the sandbox may have stopped.
fn note_violations(outcome: &ProcessOutcome) -> Option<String> {
    if outcome.exit == ProcessExit::Code(0) {
        return None;
    }
    let output = [&outcome.stdout.head, &outcome.stdout.tail, &outcome.stderr.head, &outcome.stderr.tail];
    let output: String = output.into_iter().map(|part| format!("{part}\n")).collect();
    let found = violations(&output);
    if found.is_empty() {
        return None;
    }
    let lines: Vec<String> = found.iter().map(|(line, what)| format!("\"{line}\" ({what})")).collect();
    Some(format!("The command ran in a sandbox, which may have stopped this: {}.", lines.join("; ")))
}
