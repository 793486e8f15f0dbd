//! Behavior of a scripted program.

use std::time::Duration;

use windlass_tool::{CapturedOutput, OutputProgress, ProcessCommand, ProcessExit, ProcessOutcome};

use crate::Gate;

/// Behavior of a program of a [`ScriptedProcess`](super::ScriptedProcess): it prints, may wait, and ends. It ends with
/// code 0 by default.
#[derive(Debug, Clone)]
pub struct ScriptedRun {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    ending: RunEnd,
    gate: Option<Gate>,
    stopped: usize,
    duration: Duration,
}

#[derive(Debug, Clone)]
pub(super) enum RunEnd {
    Exit(ProcessExit),
    NotStarted(String),
}

impl ScriptedRun {
    /// Returns a run that prints nothing and ends with code 0.
    pub fn new() -> Self {
        Self {
            stdout: Vec::new(),
            stderr: Vec::new(),
            ending: RunEnd::Exit(ProcessExit::Code(0)),
            gate: None,
            stopped: 0,
            duration: Duration::ZERO,
        }
    }

    /// Prints this to standard output.
    #[must_use]
    pub fn stdout(mut self, output: impl Into<Vec<u8>>) -> Self {
        self.stdout = output.into();
        self
    }

    /// Prints this to standard error, after all other output when streams are merged.
    #[must_use]
    pub fn stderr(mut self, output: impl Into<Vec<u8>>) -> Self {
        self.stderr = output.into();
        self
    }

    /// Ends with this code.
    #[must_use]
    pub fn code(self, code: i32) -> Self {
        self.exit(ProcessExit::Code(code))
    }

    /// Is killed by this signal.
    #[must_use]
    pub fn signal(self, signal: i32) -> Self {
        self.exit(ProcessExit::Signal(signal))
    }

    /// Ends with a timeout, whatever the command's limit is.
    #[must_use]
    pub fn timed_out(self) -> Self {
        self.exit(ProcessExit::TimedOut)
    }

    fn exit(mut self, exit: ProcessExit) -> Self {
        self.ending = RunEnd::Exit(exit);
        self
    }

    /// Does not start; the error has this text.
    #[must_use]
    pub fn not_started(mut self, message: impl Into<String>) -> Self {
        self.ending = RunEnd::NotStarted(message.into());
        self
    }

    /// Waits at the gate after all output is printed.
    #[must_use]
    pub fn wait_at(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Never ends by itself.
    #[must_use]
    pub fn hang(self) -> Self {
        self.wait_at(&Gate::new())
    }

    /// Leaves a number of processes running, which are then stopped.
    #[must_use]
    pub fn leaving(mut self, processes: usize) -> Self {
        self.stopped = processes;
        self
    }

    /// Reports this duration in the outcome, without waiting.
    #[must_use]
    pub fn taking(mut self, duration: Duration) -> Self {
        self.duration = duration;
        self
    }

    pub(super) fn ending(&self) -> &RunEnd {
        &self.ending
    }

    pub(super) async fn wait(&self) {
        if let Some(gate) = &self.gate {
            gate.pass().await;
        }
    }

    pub(super) fn report(&self, progress: &OutputProgress) {
        if !self.stdout.is_empty() {
            progress(&String::from_utf8_lossy(&self.stdout));
        }
    }

    pub(super) fn outcome(&self, exit: ProcessExit, command: &ProcessCommand) -> ProcessOutcome {
        let mut outcome = ProcessOutcome::new(exit, self.duration);
        outcome.stopped = self.stopped;
        if command.merge_streams {
            let all = [self.stdout.as_slice(), self.stderr.as_slice()].concat();
            outcome.stdout = captured(&all, command.inline_bytes);
        } else {
            outcome.stdout = captured(&self.stdout, command.inline_bytes);
            outcome.stderr = captured(&self.stderr, command.inline_bytes);
        }
        outcome
    }
}

impl Default for ScriptedRun {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns output without its middle if it is over the limit. A character cut in two counts as left out.
fn captured(output: &[u8], limit: usize) -> CapturedOutput {
    if output.len() <= limit {
        return CapturedOutput::new(String::from_utf8_lossy(output), "", 0);
    }
    let text = String::from_utf8_lossy(output);
    let head_end = boundary_before(&text, limit / 2);
    let tail_start = boundary_after(&text, text.len().saturating_sub(limit - limit / 2));
    let (head, tail) = (text.get(..head_end).unwrap_or_default(), text.get(tail_start..).unwrap_or_default());
    let kept = head.len().saturating_add(tail.len());
    CapturedOutput::new(head, tail, output.len().saturating_sub(kept) as u64)
}

fn boundary_before(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn boundary_after(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
