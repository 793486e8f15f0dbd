//! Commands that continue in the background when they take too long, or when the user wants it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windlass_tool::{
    BoxFuture, Cancel, Foreground, ProcessCommand, ProcessError, ProcessOutcome, TaskCx, TaskOutcome, ToolCx,
    ToolError, ToolOutput,
};

use super::BashInput;
use super::background::{MOST_BYTES, Structured, Task, output_file};
use super::cwd::CwdFile;
use super::report::in_words;

/// Result of waiting for a command.
pub(super) enum Waited {
    /// The command has ended.
    Ended(Result<ProcessOutcome, ProcessError>, Option<CwdFile>),
    /// The command continues in the background.
    Moved(ToolOutput),
}

/// A command that may continue in the background.
pub(super) struct Movable<'a> {
    input: &'a BashInput,
    cx: &'a ToolCx,
    file: PathBuf,
}

impl<'a> Movable<'a> {
    /// `None` if the session has no background tasks.
    pub(super) fn new(input: &'a BashInput, cx: &'a ToolCx) -> Option<Self> {
        let folder = cx.background().ok()?.folder()?;
        Some(Self { input, cx, file: output_file(&folder, cx) })
    }

    /// Runs a command, and waits until it ends or is moved.
    pub(super) async fn run(
        self,
        mut command: ProcessCommand,
        directory: Option<CwdFile>,
        limit: Duration,
    ) -> Result<Waited, ToolError> {
        // The file has all the output, in case the command continues.
        (command.spill, command.spill_above, command.spill_cap) = (Some(self.file.clone()), Some(0), Some(MOST_BYTES));
        // Otherwise the command would occupy a slot among the programs that run at a time.
        command.background = true;
        let moves_by_itself = may_continue(&self.input.command);
        command.timeout = Some(limit).filter(|_| !moves_by_itself);
        let is_moved = Arc::new(AtomicBool::new(false));
        if let Some(progress) = command.progress.take() {
            let is_moved = Arc::clone(&is_moved);
            command.progress = Some(Arc::new(move |output: &str| {
                // After the move, the call has ended.
                if !is_moved.load(Ordering::Relaxed) {
                    progress(output);
                }
            }));
        }
        let (stop, cx) = (Cancel::new(), self.cx.clone());
        let stop_signal = stop.clone();
        let mut running: Running = Box::pin(async move { cx.process().run(command, &stop_signal).await });
        let call = self.cx.state::<Foreground>().enter(self.cx.tool_use_id().clone());
        let by_user = tokio::select! {
            biased;
            ended = &mut running => return Ok(Waited::Ended(ended, directory)),
            () = self.cx.cancel().cancelled() => {
                stop.cancel();
                return Ok(Waited::Ended(running.await, directory));
            }
            () = call.asked() => true,
            () = tokio::time::sleep(limit), if moves_by_itself => false,
        };
        is_moved.store(true, Ordering::Relaxed);
        self.move_to_background((running, stop), directory, (!by_user).then_some(limit)).map(Waited::Moved)
    }

    /// Turns a running command into a background task. If that fails, the command is dropped and thereby stopped.
    fn move_to_background(
        self,
        (mut running, stop): (Running, Cancel),
        directory: Option<CwdFile>,
        limit: Option<Duration>,
    ) -> Result<ToolOutput, ToolError> {
        let task = Task::of(self.input, self.file.clone());
        let spec = task.spec();
        let work = move |started: TaskCx| -> BoxFuture<'static, TaskOutcome> {
            Box::pin(async move {
                // The final directory concerns no later call, but the shell still writes to the file.
                let _directory = directory;
                let ended = tokio::select! {
                    ended = &mut running => ended,
                    () = started.cancel.cancelled() => {
                        stop.cancel();
                        running.await
                    }
                };
                task.outcome(ended).await
            })
        };
        let id = self.cx.background()?.start(spec, Box::new(work))?;
        let path = self.file.to_string_lossy();
        let reason = match limit {
            Some(limit) => format!("The command did not end within {}", in_words(limit)),
            None => "The user has moved the command".to_owned(),
        };
        let text = format!(
            "{reason}{} in the background. Its task is {id}, its output goes to {path}: Read or search that file when you want \
             to know how far it is. Its end is reported to you; TaskStop ends it sooner.",
            if limit.is_some() { " and continues" } else { ": it continues" }
        );
        let mut structured = Structured::new(&id, &path);
        structured.backgrounded_by_user = limit.is_none();
        ToolOutput::text(text).with_structured(&structured)
    }
}

type Running = BoxFuture<'static, Result<ProcessOutcome, ProcessError>>;

/// `true` if a command that takes too long may continue by itself. A command that only waits is of no use later, and
/// git holds locks that block later commands.
fn may_continue(command: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let mut words = command.split(|c| !is_part(c)).filter_map(|word| word.rsplit('/').next());
    !words.any(|word| matches!(word, "git" | "sleep"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_waits_or_keeps_locks_does_not_continue() {
        for (command, expected) in [
            ("make test", true),
            ("npm run dev & tail -f log", true),
            ("./gitlog", true),
            ("sleep 1000", false),
            ("cd x && /usr/bin/git fetch", false),
            ("(git push)", false),
        ] {
            assert_eq!(may_continue(command), expected, "{command}");
        }
    }
}
