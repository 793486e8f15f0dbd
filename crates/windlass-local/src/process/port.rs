//! [`LocalProcess`] as the port that tools use.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use windlass_tool::{
    Cancel, CapturedOutput, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome, SpilledOutput,
};

use super::capture::{CaptureLimits, Captured};
use super::code_page;
use super::kept_space::KeptSpace;
use super::local::LocalProcess;
use super::spec::{End, Exit, Finished, Progress, Spec, Streams};

/// Maximum number of lines of output in a progress report.
const PROGRESS_LINES: usize = 5;

#[async_trait]
impl Process for LocalProcess {
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        let report = command.progress.clone();
        let mut progress = |progress: Progress| {
            if let Some(report) = &report {
                report(&last_lines(&progress.recent));
            }
        };
        let spec = spec_of(command, self.spill_cap(), self.space());
        match self.execute(&spec, cancel.cancelled(), &mut progress).await {
            Ok(finished) => Ok(outcome(finished, self.code_page())),
            Err(error) => Err(ProcessError::new(start_failure(&spec, &error)).with_source(error)),
        }
    }
}

fn spec_of(command: ProcessCommand, spill_cap: u64, space: &KeptSpace) -> Spec {
    let limits = |spill: Option<PathBuf>| CaptureLimits {
        memory: command.inline_bytes,
        spill,
        spill_above: command.spill_above.unwrap_or(command.inline_bytes),
        spill_cap: command.spill_cap.unwrap_or(spill_cap).min(spill_cap),
        space: space.clone(),
    };
    let stdout = limits(command.spill.clone());
    let stderr = limits(command.spill.as_deref().map(beside));
    Spec {
        program: command.program,
        args: command.args,
        confined_start: command.confined_start,
        env: command.env,
        cwd: command.cwd,
        stdin: match command.terminal {
            Some(_) => Some(typed_input(command.stdin.as_deref().unwrap_or_default())),
            None => command.stdin,
        },
        streams: if command.merge_streams || command.terminal.is_some() { Streams::Merged } else { Streams::Separate },
        only_reads: command.only_reads,
        terminal: command.terminal,
        background: command.background,
        timeout: command.timeout,
        stdout,
        stderr,
    }
}

/// The end-of-transmission character, which a terminal treats as the end of input at the start of a line.
const END_OF_INPUT: u8 = 4;

/// Input as it is typed at a terminal, with its end.
fn typed_input(input: &[u8]) -> Arc<[u8]> {
    // After an unfinished line the first character only sends the line.
    let ends = if input.is_empty() || input.ends_with(b"\n") { &[END_OF_INPUT][..] } else { &[END_OF_INPUT; 2] };
    [input, ends].concat().into()
}

/// File for standard error: the same name with `.stderr` added.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".stderr");
    name.into()
}

fn outcome(finished: Finished, code_page: Option<u32>) -> ProcessOutcome {
    let text_of = |captured| text_of(captured, code_page);
    let exit = match (finished.end, finished.exit) {
        (End::TimedOut, _) => ProcessExit::TimedOut,
        (End::Cancelled, _) => ProcessExit::Cancelled,
        (End::Exited, Some(Exit { code: Some(code), .. })) => ProcessExit::Code(code),
        (End::Exited, Some(Exit { signal: Some(signal), .. })) => ProcessExit::Signal(signal),
        // Neither code nor signal: no known system reports that.
        (End::Exited, _) => ProcessExit::Code(-1),
    };
    let mut outcome = ProcessOutcome::new(exit, finished.elapsed);
    outcome.spilled = spilled(&finished.stdout, finished.stderr.as_ref());
    outcome.stdout = text_of(finished.stdout);
    outcome.stderr = finished.stderr.map(text_of).unwrap_or_default();
    outcome.stopped = finished.stopped;
    if finished.survivors > 0 {
        tracing::warn!(processes = finished.survivors, "processes could not be ended");
    }
    outcome
}

/// File with the output: that of standard output, or else that of standard error. It is complete only if both files
/// are.
pub(super) fn spilled(stdout: &Captured, stderr: Option<&Captured>) -> Option<SpilledOutput> {
    let files = || [Some(stdout), stderr].into_iter().flatten().filter_map(|captured| captured.spill.as_ref());
    let first = files().next()?;
    Some(SpilledOutput::new(&first.path, first.bytes, files().all(|spill| spill.complete)))
}

/// Captured bytes as text. A character that the gap cuts in two is left out.
pub(crate) fn text_of(captured: Captured, code_page: Option<u32>) -> CapturedOutput {
    if captured.is_whole() {
        let mut all = captured.head;
        all.extend(captured.tail);
        return CapturedOutput::new(lossy(all, code_page), String::new(), 0);
    }
    let head = captured.head.get(..complete_end(&captured.head)).unwrap_or_default();
    let tail = captured.tail.get(whole_start(&captured.tail)..).unwrap_or_default();
    let kept = (head.len() as u64).saturating_add(tail.len() as u64);
    CapturedOutput::new(
        code_page::text(head, code_page),
        code_page::text(tail, code_page),
        captured.total.saturating_sub(kept),
    )
}

fn lossy(bytes: Vec<u8>, code_page: Option<u32>) -> String {
    // UTF-16 marks are no UTF-8 either.
    String::from_utf8(bytes).unwrap_or_else(|error| code_page::text(error.as_bytes(), code_page).into_owned())
}

/// End of the last complete character.
fn complete_end(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so a cut one has at most three.
    let start = bytes.len().saturating_sub(3);
    let cut = (start..bytes.len()).find(|at| {
        let rest = bytes.get(*at..).unwrap_or_default();
        std::str::from_utf8(rest).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    cut.unwrap_or(bytes.len())
}

/// Start of the first complete character.
fn whole_start(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

pub(super) fn last_lines(bytes: &[u8]) -> String {
    let bytes = bytes.get(whole_start(bytes)..complete_end(bytes)).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let skip = lines.len().saturating_sub(PROGRESS_LINES);
    lines.get(skip..).unwrap_or_default().join("\n")
}

fn start_failure(spec: &Spec, error: &io::Error) -> String {
    let program = Path::new(AsRef::<OsStr>::as_ref(&spec.program)).display();
    let cwd = spec.cwd.display();
    match error.kind() {
        io::ErrorKind::NotFound if !spec.cwd.is_dir() => {
            format!("The program was not started: the directory {cwd} does not exist.")
        }
        // The missing file may be the interpreter in the program's first line, or `/dev/null`.
        io::ErrorKind::NotFound if Path::new(&spec.program).is_absolute() && Path::new(&spec.program).exists() => {
            format!("The program {program} was not started in {cwd}: something that it needs was not found.")
        }
        io::ErrorKind::NotFound => {
            format!("The program was not started: {program} was not found.")
        }
        io::ErrorKind::ArgumentListTooLong => {
            "The program was not started: its arguments and environment are too long for the system.".into()
        }
        _ => format!("The program {program} was not started in {cwd}: {error}."),
    }
}

#[cfg(test)]
mod tests;
