//! The result of a command, for the model and the host.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use windlass_blocking::run_blocking;
use windlass_tool::{
    ProcessExit, ProcessOutcome, SandboxViolation, SpilledOutput, ToolError, ToolOutput, private_file,
};
use windlass_types::text::visible_path;

use super::cwd::Moved;
use super::meaning;
use super::text::clip;

/// Result of one command, to be converted to a [`ToolOutput`].
#[derive(Debug)]
pub(super) struct Report {
    structured: Structured,
    /// First line of a failure.
    failure: Option<String>,
    /// Notes for the model beside the output, a sentence each.
    notes: Vec<String>,
}

/// Result as data, in the field names that hosts know.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Structured {
    stdout: String,
    stderr: String,
    interrupted: bool,
    is_image: bool,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    timed_out_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_code_interpretation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    persisted_output_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    persisted_output_size: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sandbox_violations: Vec<SandboxViolation>,
}

impl Report {
    /// Report of a command for bash, whose text gives some exit codes a meaning, or for another shell.
    pub(super) fn new(bash: Option<&str>, outcome: &ProcessOutcome, timeout: Duration) -> Self {
        let exit_code = exit_code(outcome.exit);
        let interpretation = bash.and_then(|command| meaning::of_exit(command, exit_code));
        let mut structured =
            Structured { exit_code, return_code_interpretation: interpretation, ..Structured::default() };
        let mut notes = Vec::new();
        match outcome.exit {
            ProcessExit::TimedOut => {
                structured.interrupted = true;
                structured.timed_out_after_ms = Some(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
                notes.push(format!("The command was stopped: it did not end within {}.", in_words(timeout)));
            }
            ProcessExit::Cancelled => {
                structured.interrupted = true;
                notes.push("The command was stopped before it ended.".into());
            }
            ProcessExit::Signal(signal) => notes.push(format!("The command was ended by signal {signal}.")),
            _ => {}
        }
        if let Some(meaning) = interpretation {
            notes.push(format!("Exit code {exit_code}: {meaning}."));
        }
        if outcome.stopped > 0 {
            notes.push(format!(
                "{} still running when the command ended, and stopped: nothing outlives its command.",
                if outcome.stopped == 1 {
                    "1 process was".to_owned()
                } else {
                    format!("{} processes were", outcome.stopped)
                }
            ));
        }
        notes.extend(outcome.notes.iter().cloned());
        structured.sandbox_violations.clone_from(&outcome.violations);
        let failure = (exit_code != 0 && interpretation.is_none()).then(|| format!("Exit code {exit_code}"));
        Self { structured, failure, notes }
    }

    /// Adds the output of the command, in at most `budget` characters.
    pub(super) async fn show_output(&mut self, outcome: &ProcessOutcome, budget: usize) {
        let output = &outcome.stdout;
        let total =
            (output.head.len() as u64).saturating_add(output.tail.len() as u64).saturating_add(output.omitted_bytes);
        let file = outcome.spilled.as_ref();
        let clipped = clip(output, budget, |left_out| marker(left_out, file, total));
        self.structured.stdout = clipped.text;
        match file {
            Some(file) if clipped.left_out > 0 => {
                self.structured.persisted_output_path = Some(file.path.to_string_lossy().into_owned());
                self.structured.persisted_output_size = Some(file.bytes);
            }
            // The file was begun, but then all could be shown.
            Some(file) => {
                let path = file.path.clone();
                let _ = run_blocking(move || private_file::remove(&path)).await;
            }
            None => {}
        }
    }

    /// Adds the start directory of later calls, if it differs from the command's last directory.
    pub(super) fn note_moves(&mut self, session: &Path, start: &Path, moved: &Moved) {
        if start != session {
            let note = format!(
                "{} does not exist any more; the command ran in {}.",
                visible_path(session),
                visible_path(start)
            );
            self.notes.insert(0, note);
        }
        if let Moved::Outside(reported) = moved {
            self.notes.push(format!(
                "The working directory is {} again: {} is outside the workspace.",
                visible_path(start),
                visible_path(reported)
            ));
        }
    }

    /// Adds a sentence about the shell that ran the command.
    pub(super) fn add_note(&mut self, note: Option<String>) {
        self.notes.extend(note);
    }

    pub(super) fn into_output(mut self, tool: &str) -> Result<ToolOutput, ToolError> {
        self.structured.stderr = self.notes.join("\n");
        let output = &self.structured.stdout;
        let mut parts: Vec<&str> = self.failure.iter().map(String::as_str).collect();
        if !output.trim().is_empty() {
            parts.push(output);
        }
        parts.extend(self.notes.iter().map(String::as_str));
        let text = if parts.is_empty() { format!("({tool} completed with no output)") } else { parts.join("\n") };
        let result = ToolOutput::text(text).with_structured(&self.structured)?;
        Ok(if self.failure.is_some() { result.failed() } else { result })
    }
}

/// Marker line between the beginning and the end.
fn marker(left_out: u64, file: Option<&SpilledOutput>, total: u64) -> String {
    match file {
        Some(SpilledOutput { path, bytes, .. }) if *bytes >= total => {
            format!("[... {left_out} bytes left out; all {total} bytes are in {} ...]", visible_path(path))
        }
        Some(SpilledOutput { path, bytes, .. }) => {
            format!(
                "[... {left_out} bytes left out; the first {bytes} of {total} bytes are in {} ...]",
                visible_path(path)
            )
        }
        None => format!("[... {left_out} of {total} bytes left out ...]"),
    }
}

/// Exit code as a shell would report it.
fn exit_code(exit: ProcessExit) -> i32 {
    match exit {
        ProcessExit::Code(code) => code,
        ProcessExit::Signal(signal) => signal.saturating_add(128),
        // Both are ended with SIGTERM first.
        ProcessExit::TimedOut => 143,
        ProcessExit::Cancelled => 143,
        _ => -1,
    }
}

pub(super) fn in_words(time: Duration) -> String {
    match (time.as_millis(), time.as_secs()) {
        (millis, _) if millis % 1000 != 0 => format!("{millis} ms"),
        (_, 1) => "1 second".into(),
        (_, seconds) => format!("{seconds} seconds"),
    }
}
