//! Commands that continue after their call.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use windlass_blocking::run_blocking;
use windlass_tool::{
    BoxFuture, ProcessError, ProcessExit, ProcessOutcome, TaskCx, TaskOutcome, TaskSpec, TerminalSize, ToolCx,
    ToolError, ToolOutput, private_file,
};
use windlass_types::{TaskId, TaskKind, TaskStatus};

use super::snapshot::Taken;
use super::{BashInput, command, meaning, time_limit};

/// Maximum number of bytes of output in the file.
pub(super) const MOST_BYTES: u64 = 64 << 20;
/// Maximum number of output bytes in memory. Small, because the output is read from the file.
const MAX_MEMORY_BYTES: usize = 4096;
/// Maximum number of characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 120;

/// The structured output of a call that left its command running.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Structured<'a> {
    stdout: &'a str,
    stderr: &'a str,
    interrupted: bool,
    is_image: bool,
    background_task_id: &'a str,
    raw_output_path: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) backgrounded_by_user: bool,
}

impl<'a> Structured<'a> {
    pub(super) fn new(task: &'a TaskId, output: &'a str) -> Self {
        Self {
            stdout: "",
            stderr: "",
            interrupted: false,
            is_image: false,
            background_task_id: task.as_str(),
            raw_output_path: output,
            backgrounded_by_user: false,
        }
    }
}

/// Starts a command as a background task and returns the task's id and output file.
pub(super) async fn start(
    shell: Option<&Path>,
    snapshot: Option<&Taken>,
    input: &BashInput,
    terminal: Option<TerminalSize>,
    cx: &ToolCx,
) -> Result<ToolOutput, ToolError> {
    let background = cx.background()?;
    let folder = background
        .folder()
        .ok_or_else(|| ToolError::rejected("There is no place for the output of background commands here."))?;
    if cx.cancel().is_cancelled() {
        return Err(ToolError::cancelled());
    }
    let file = output_file(&folder, cx);
    let start = command::start_directory(cx).await?;
    let mut command = command::in_bash(shell, input, &start, snapshot, cx)?;
    command.progress = None;
    (command.background, command.terminal) = (true, terminal);
    // Stopped only if the call has a timeout.
    command.timeout = time_limit(input.timeout);
    command.inline_bytes = MAX_MEMORY_BYTES;
    command.spill = Some(file.clone());
    command.spill_above = Some(0);
    command.spill_cap = Some(MOST_BYTES);
    let task = Task::of(input, file.clone());
    let task_cx = cx.clone();
    let spec = task.spec();
    let work = move |running: TaskCx| -> BoxFuture<'static, TaskOutcome> {
        Box::pin(async move { task.outcome(task_cx.process().run(command, &running.cancel).await).await })
    };
    let id = background.start(spec, Box::new(work))?;
    let path = file.to_string_lossy();
    let text = format!(
        "The command runs in the background. Its task is {id}, its output goes to {path}: Read or search that file \
         when you want to know how far it is. You are told when it ends; TaskStop ends it sooner."
    );
    ToolOutput::text(text).with_structured(&Structured::new(&id, &path))
}

/// A command that continues as a task.
#[derive(Debug)]
pub(super) struct Task {
    title: String,
    command: String,
    output: PathBuf,
}

impl Task {
    /// The task of a command whose output goes to a file.
    pub(super) fn of(input: &BashInput, output: PathBuf) -> Self {
        Self { title: one_line_description(input), command: input.command.clone(), output }
    }

    pub(super) fn spec(&self) -> TaskSpec {
        TaskSpec::new(TaskKind::LocalBash, &self.title).with_output_file(&self.output)
    }

    /// Outcome of the task when its command has ended.
    pub(super) async fn outcome(self, ended: Result<ProcessOutcome, ProcessError>) -> TaskOutcome {
        match ended {
            Ok(outcome) => {
                let missing = note_cut(&outcome).await;
                let mut ended = task_outcome(&self.title, &self.command, &outcome);
                ended.summary.push_str(missing.unwrap_or_default());
                ended
            }
            Err(error) => {
                let title = self.title;
                TaskOutcome::new(TaskStatus::Failed, format!("Background command \"{title}\" failed: {error}"))
            }
        }
    }
}

/// Path of a new file for the output of a command.
pub(super) fn output_file(folder: &Path, cx: &ToolCx) -> PathBuf {
    folder.join(format!("background-{:032x}.output", cx.ids().bits()))
}

/// Description of the command in one line.
fn one_line_description(input: &BashInput) -> String {
    let description = input.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let words: Vec<&str> = description.unwrap_or(&input.command).split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn task_outcome(title: &str, command: &str, outcome: &ProcessOutcome) -> TaskOutcome {
    let (status, result) = match outcome.exit {
        ProcessExit::Code(0) => (TaskStatus::Completed, "completed (exit code 0)".to_owned()),
        ProcessExit::Code(code) => match meaning::of_exit(command, code) {
            Some(meaning) => (TaskStatus::Completed, format!("completed (exit code {code}: {meaning})")),
            None => (TaskStatus::Failed, format!("failed with exit code {code}")),
        },
        ProcessExit::Signal(signal) => (TaskStatus::Failed, format!("was ended by signal {signal}")),
        ProcessExit::TimedOut => (TaskStatus::Failed, "was stopped: it did not end in time".to_owned()),
        ProcessExit::Cancelled => (TaskStatus::Stopped, "was stopped".to_owned()),
        _ => (TaskStatus::Failed, "ended in an unknown way".to_owned()),
    };
    TaskOutcome::new(status, format!("Background command \"{title}\" {result}"))
}

/// Appends a note to the file if output is missing in it. Returns a note for the model if the file could not be
/// written, because the note in the file may then be missing too.
async fn note_cut(outcome: &ProcessOutcome) -> Option<&'static str> {
    let output = &outcome.stdout;
    let kept = (output.head.len() as u64).saturating_add(output.tail.len() as u64);
    let total = kept.saturating_add(output.omitted_bytes);
    let Some(file) = &outcome.spilled else {
        return (total > 0).then_some("; its output could not be written to the file");
    };
    if file.is_whole {
        return None;
    }
    let note = format!("\n[... cut here: the command wrote {total} bytes, of which these are the first ...]\n");
    let path = file.path.clone();
    let written = run_blocking(move || private_file::append(&path, note.as_bytes())).await;
    if let Err(error) = written.map_err(io::Error::other).flatten() {
        tracing::warn!(%error, "the end of a file with output could not be marked");
    }
    (file.bytes < MOST_BYTES).then_some("; only the beginning of its output could be written to the file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use windlass_tool::SpilledOutput;

    fn input(description: Option<&str>, command: &str) -> BashInput {
        BashInput {
            command: command.to_owned(),
            timeout: None,
            description: description.map(str::to_owned),
            run_in_background: Some(true),
            dangerously_disable_sandbox: None,
        }
    }

    #[test]
    fn a_description_is_one_short_line() {
        assert_eq!(one_line_description(&input(Some(" a\n b "), "c")), "a b");
        assert_eq!(one_line_description(&input(Some(" "), "make\n\tall")), "make all");
        assert_eq!(one_line_description(&input(None, &"é".repeat(500))).chars().count(), MAX_DESCRIPTION_CHARS + 1);
    }

    #[test]
    fn only_a_limit_that_is_given_counts() {
        for none in [None, Some(-1.0), Some(0.0), Some(f64::NAN), Some(f64::NEG_INFINITY)] {
            assert_eq!(time_limit(none), None, "{none:?}");
        }
        for most in [1.9e22, 1e308, f64::MAX, f64::INFINITY] {
            assert_eq!(time_limit(Some(most)), Some(Duration::MAX), "{most}");
        }
        assert_eq!(time_limit(Some(3_600_000.0)), Some(Duration::from_secs(3_600)));
    }

    #[tokio::test]
    async fn output_that_the_disk_did_not_take_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("output");
        let mut outcome = ProcessOutcome::new(ProcessExit::Code(0), Duration::ZERO);
        assert_eq!(note_cut(&outcome).await, None, "it wrote nothing");
        outcome.stdout = windlass_tool::CapturedOutput::new("abc", "xyz", 94);
        assert!(note_cut(&outcome).await.unwrap().contains("could not be written"));
        std::fs::write(&file, "abcd").unwrap();
        outcome.spilled = Some(SpilledOutput::new(&file, 4, true));
        assert_eq!(note_cut(&outcome).await, None);
        outcome.spilled = Some(SpilledOutput::new(&file, 4, false));
        assert!(note_cut(&outcome).await.unwrap().contains("only the beginning"));
        assert!(
            std::fs::read_to_string(&file).unwrap().starts_with("abcd\n[... cut here: the command wrote 100 bytes")
        );
    }

    #[test]
    fn the_end_says_what_the_exit_code_means() {
        let of = |command: &str, exit| {
            let outcome = task_outcome("t", command, &ProcessOutcome::new(exit, Duration::ZERO));
            (outcome.status, outcome.summary)
        };
        let is = |status, text: &str| (status, format!("Background command \"t\" {text}"));
        assert_eq!(of("make", ProcessExit::Code(0)), is(TaskStatus::Completed, "completed (exit code 0)"));
        assert_eq!(of("make", ProcessExit::Code(2)), is(TaskStatus::Failed, "failed with exit code 2"));
        assert_eq!(
            of("grep x f", ProcessExit::Code(1)),
            is(TaskStatus::Completed, "completed (exit code 1: nothing matched)")
        );
        assert_eq!(of("make", ProcessExit::Cancelled), is(TaskStatus::Stopped, "was stopped"));
    }
}
