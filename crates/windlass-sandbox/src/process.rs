//! A [`Process`] that runs programs in a sandbox.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use windlass_tool::{
    Cancel, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome, SandboxViolation, ViolationKind,
};

use crate::enter::Entered;
use crate::sandbox::Inner;
use crate::sweep::Made;
use crate::violations::violations;

/// Runs each program in a sandbox, by means of another [`Process`], except those that are to run outside of it
/// ([`ProcessCommand::outside_sandbox`]).
///
/// Actions that the sandbox may have stopped are listed among the [`notes`](ProcessOutcome::notes) of an outcome.
pub struct Sandboxed {
    sandbox: Arc<Inner>,
    process: Arc<dyn Process>,
    confines: Arc<Confines>,
}

/// Function that returns `true` if a shell command runs inside. Takes its text, and whether it asks to run outside.
pub type Confines = dyn Fn(&str, bool) -> bool + Send + Sync;

impl Sandboxed {
    pub(crate) fn new(sandbox: Arc<Inner>, process: Arc<dyn Process>, confines: Arc<Confines>) -> Self {
        Self { sandbox, process, confines }
    }

    /// `true` if a program runs inside. One that is no shell command may run outside only if the caller asks for it.
    fn is_confined(&self, command: &ProcessCommand) -> bool {
        match &command.shell_text {
            Some(text) => (self.confines)(text, command.outside_sandbox),
            None => !command.outside_sandbox,
        }
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
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        if !self.is_confined(&command) {
            return self.process.run(command, cancel).await;
        }
        let Entered { command, mut held } = self.sandbox.enter(command).await?;
        let outcome = self.process.run(command, cancel).await;
        let made = held.sweep().await;
        let mut outcome = outcome?;
        not_confined(&outcome)?;
        outcome.notes.extend(made.iter().map(note_made));
        outcome.violations = held.refused(&self.sandbox);
        if outcome.exit != ProcessExit::Code(0) {
            let output = [&outcome.stdout.head, &outcome.stdout.tail, &outcome.stderr.head, &outcome.stderr.tail];
            let output: String = output.into_iter().map(|part| format!("{part}\n")).collect();
            outcome.violations.extend(violations(&output));
        }
        outcome.notes.extend(note_violations(&outcome.violations));
        Ok(outcome)
    }
}

/// Returns an error if the helper failed: it has run no program then, so its output is no outcome.
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

/// Returns notes about actions that the sandbox has stopped, and about those that it may have stopped.
fn note_violations(found: &[SandboxViolation]) -> Vec<String> {
    let (known, likely): (Vec<_>, Vec<_>) = found.iter().partition(|violation| violation.is_certain);
    let mut notes = Vec::new();
    let hosts: Vec<&str> = known.iter().filter_map(|violation| violation.subject.as_deref()).collect();
    if !hosts.is_empty() {
        notes.push(format!(
            "The sandbox kept the command from hosts that it may not reach: {}. The user may allow them in \
             `sandbox.network.allowedDomains`.",
            hosts.join(", ")
        ));
    }
    if !likely.is_empty() {
        let said = |violation: &&SandboxViolation| format!("\"{}\" ({})", violation.evidence, about(violation));
        let lines: Vec<String> = likely.iter().map(said).collect();
        notes.push(format!("The command ran in a sandbox, which may have stopped this: {}.", lines.join("; ")));
    }
    notes
}

/// Describes the limit of the sandbox that may have been hit.
fn about(violation: &SandboxViolation) -> &'static str {
    match violation.kind {
        ViolationKind::Write => "a write outside of the writable directories, or to a protected name",
        ViolationKind::File => "a file that the sandbox hides or keeps as it is",
        ViolationKind::Host => "the network, which is off",
        _ => "a call that the sandbox forbids",
    }
}
