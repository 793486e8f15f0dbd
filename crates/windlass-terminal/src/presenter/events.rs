//! Events of a session.

use super::TerminalPresenter;
use crate::cell::{CallOutcome, Cell, NoticeLevel, RunSummary, TaskNote, TaskPhase, TodoItem, ToolCall};
use crate::layout::plural;
use serde::Deserialize;
use windlass_types::text::clause;
use windlass_types::{
    ContentBlock, Delta, Event, EventKind, JsonText, RunResult, StateChange, Status, Steered, SteeredFate, TaskEnded,
    TaskStatus, ToolFinished, ToolStarted, ToolUse, Usage, WithdrawReason,
};

/// Notice behind an answer that has no end.
const BROKEN_OFF: &str = "The answer above broke off and is no part of the conversation. Its tokens count in the cost, estimated if the provider did not report them.";

impl TerminalPresenter {
    pub(super) fn event(&mut self, event: Event) {
        if !event.agent.is_main() {
            self.agent_event(&event);
            return;
        }
        match event.kind {
            EventKind::RunStarted(started) => {
                self.status.model = Some(started.model);
                self.status.permission_mode = Some(started.permission_mode);
                self.status.cwd = Some(started.cwd);
                self.activities.begin(self.now);
            }
            EventKind::BlockDelta { index, delta } => self.delta(index, &delta),
            EventKind::BlockFinished { index, block, .. } => self.block(index, &block),
            EventKind::MessageFinished { .. } => {
                self.finish_stream();
                self.is_message_begun = false;
            }
            EventKind::MessageWithdrawn { reason, .. } => self.withdraw(reason),
            EventKind::ToolStarted(started) => self.call_started(&started),
            EventKind::ToolProgress(progress) => {
                let text = self.masked(&progress.message);
                self.activities.progress(&progress, &text);
            }
            EventKind::ToolFinished(finished) => self.call_finished(&finished),
            EventKind::Status(status) => self.status_changed(status),
            EventKind::UsageUpdated { usage, cost, .. } => {
                self.status.context_tokens = usage.total_input().saturating_add(usage.output_tokens);
                self.status.cost = self.status.cost.max(cost);
                self.billed(&usage);
            }
            EventKind::RateLimit(limit) => self.status.rate_limit = Some(limit),
            EventKind::Compacted(compacted) => {
                let (before, after) = (compacted.pre_tokens, compacted.post_tokens);
                self.status.context_tokens = after;
                let shown = crate::layout::tokens;
                let text =
                    format!("The conversation was summarized: {} tokens became {}.", shown(before), shown(after));
                self.notice(NoticeLevel::Info, &text);
            }
            EventKind::Steered(Steered { fate: SteeredFate::Blocked { reason }, .. }) => {
                self.warn(&format!("A message was not sent: {reason}"));
            }
            EventKind::StateChanged(change) => self.state_changed(change),
            EventKind::RunFinished(result) => self.run_finished(&result),
            other => self.task_event(other),
        }
    }

    /// Events of background work, which may come between runs.
    fn task_event(&mut self, kind: EventKind) {
        match kind {
            EventKind::TaskStarted(info) => {
                self.agents.task_started(&info, self.now);
                self.push(Cell::Task(TaskNote {
                    id: info.id.to_string(),
                    description: self.masked(&info.description),
                    phase: TaskPhase::Started,
                    summary: String::new(),
                    duration_ms: 0,
                }));
            }
            EventKind::TaskProgress(progress) => self.agents.task_progress(&progress),
            EventKind::TaskEnded(ended) => self.task_ended(&ended),
            _ => {}
        }
    }

    fn task_ended(&mut self, ended: &TaskEnded) {
        self.agents.task_ended(&ended.info);
        let phase = match ended.status {
            TaskStatus::Completed => TaskPhase::Completed,
            TaskStatus::Stopped => TaskPhase::Stopped,
            _ => TaskPhase::Failed,
        };
        self.push(Cell::Task(TaskNote {
            id: ended.info.id.to_string(),
            description: self.masked(&ended.info.description),
            phase,
            summary: self.masked(&ended.summary),
            duration_ms: ended.duration_ms,
        }));
    }

    fn agent_event(&mut self, event: &Event) {
        let title = match &event.kind {
            EventKind::ToolStarted(started) => self.title(started),
            EventKind::RunStarted(_) => {
                let call = event.agent.spawned_by();
                let running = self.activities.calls().iter().find(|running| Some(&running.id) == call);
                running.map(|running| running.title.clone()).unwrap_or_default()
            }
            EventKind::BlockFinished { block: ContentBlock::Text { text, .. }, .. } => {
                let most = super::agents::MOST_LOGGED.min(text.len());
                let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
                self.masked(text.get(..end).unwrap_or_default())
            }
            _ => String::new(),
        };
        if let EventKind::UsageUpdated { cost, .. } = &event.kind {
            self.status.cost = self.status.cost.max(*cost);
        }
        self.agents.event(event, &title, self.now);
    }

    fn delta(&mut self, index: usize, delta: &Delta) {
        match delta {
            Delta::Text(text) => {
                if self.streamed_block != Some(index) {
                    self.begin_block(index);
                }
                self.stream.push(text);
                self.activities.label("Writing");
                self.activities.streamed(text.len());
            }
            Delta::Thinking(text) => {
                self.activities.label("Thinking");
                self.activities.streamed(text.len());
            }
            Delta::ToolInput(text) => {
                self.activities.label("Preparing a call");
                self.activities.streamed(text.len());
            }
            _ => {}
        }
    }

    fn begin_block(&mut self, index: usize) {
        self.finish_stream();
        self.is_answer_begun = false;
        self.streamed_block = Some(index);
    }

    fn block(&mut self, index: usize, block: &ContentBlock) {
        match block {
            ContentBlock::Text { text, .. } => {
                if self.streamed_block != Some(index) {
                    self.begin_block(index);
                    self.stream.push(text);
                }
                self.finish_stream();
            }
            ContentBlock::Thinking { thinking, .. } if self.options.shows_thinking && !thinking.trim().is_empty() => {
                let text = self.masked(thinking);
                self.push(Cell::Thinking(text));
            }
            ContentBlock::ToolUse(call) => {
                let title = self.masked(&requested_title(call));
                self.activities.requested(&call.id, title);
            }
            _ => {}
        }
    }

    /// Takes back what was shown of an unfinished message. Rows in the scrollback stay, with a notice behind them, and so does
    /// the text in which the person stopped the run.
    fn withdraw(&mut self, reason: WithdrawReason) {
        if reason == WithdrawReason::Interrupted {
            self.finish_stream();
        }
        self.stream = crate::markdown::MarkdownStream::default();
        self.streamed_block = None;
        if std::mem::take(&mut self.is_message_begun) {
            self.warn(BROKEN_OFF);
        }
    }

    /// One line that names a call; a shell command whole.
    fn title(&self, started: &ToolStarted) -> String {
        let command = shell_command(&started.tool, &started.input);
        self.masked(&command.unwrap_or_else(|| started.title.clone()))
    }

    fn call_started(&mut self, started: &ToolStarted) {
        self.finish_stream();
        let title = self.title(started);
        self.activities.call_started(started, title, self.now);
        self.name_calls();
    }

    fn call_finished(&mut self, finished: &ToolFinished) {
        let id = &finished.result.tool_use_id;
        let title = self.activities.call_finished(id).unwrap_or_else(|| finished.tool.clone());
        let outcome = match &finished.denied {
            Some(decision) => CallOutcome::Denied(self.masked(&decision.message)),
            None if finished.result.is_error => CallOutcome::Failed,
            None => CallOutcome::Done,
        };
        let output = self.masked(&finished.result.content.text());
        let mut call = ToolCall::new(finished.tool.clone(), title, outcome, &output);
        call.diff = finished.diff.as_ref().map(|diff| self.masked(diff));
        call.duration_ms = finished.duration_ms;
        call.agent = self.agents.take(id);
        self.push(Cell::Tool(Box::new(call)));
        self.name_calls();
    }

    fn name_calls(&mut self) {
        let label = match self.activities.calls() {
            [] => "Working".to_owned(),
            [call] => format!("Running {}", call.tool),
            calls => format!("Running {}", plural(calls.len(), "call")),
        };
        self.activities.label(label);
    }

    fn status_changed(&mut self, status: Status) {
        match status {
            Status::Requesting { model, .. } => {
                self.status.model = Some(model);
                self.activities.label("Waiting for the model");
            }
            Status::Retrying(retry) => {
                let seconds = retry.delay_ms as f64 / 1e3;
                let (attempt, most) = (retry.attempt, retry.max_retries);
                let text = clause(&retry.message).to_owned();
                self.warn(&format!("{text}; trying again in {seconds:.1} s ({attempt} of {most})."));
                self.activities.label("Waiting to try again");
            }
            Status::FallingBack { from, to } => self.warn(&format!("{from} is overloaded; {to} takes over.")),
            Status::Compacting { .. } => self.activities.label("Summarizing the conversation"),
            Status::CompactionFailed { message } => {
                self.warn(&format!("The conversation was not summarized: {message}"));
            }
            Status::PriceUnknown { model } => {
                self.warn(&format!(
                    "The price of {model} is not known, so no budget holds for it. Settings can name it."
                ));
            }
            Status::HooksRunning { message } => self.activities.label(message),
            Status::Notice { message } => self.warn(&message),
            _ => {}
        }
    }

    fn billed(&mut self, usage: &Usage) {
        self.activities.billed(usage.output_tokens);
    }

    fn state_changed(&mut self, change: StateChange) {
        match change {
            StateChange::PermissionMode { mode } => self.status.permission_mode = Some(mode),
            StateChange::Model { model } => self.status.model = Some(model),
            StateChange::Cwd { cwd } => self.status.cwd = Some(cwd),
            StateChange::Todos { todos } => self.todos = TodoItem::list(&todos),
            _ => {}
        }
    }

    fn run_finished(&mut self, result: &RunResult) {
        let windows = result.model_usage.iter();
        let window = windows.filter(|(model, _)| Some(*model) == self.status.model.as_ref());
        if let Some(window) = window.map(|(_, used)| used.context_window).find(|window| *window > 0) {
            self.status.context_window = window;
        }
        self.status.cost = self.status.cost.max(result.cost);
        self.status.duration_ms = self.status.duration_ms.saturating_add(result.duration_ms);
        self.status.model_ms = self.status.model_ms.saturating_add(result.duration_api_ms);
        let mut summary = RunSummary::new(result);
        summary.message = self.masked(&summary.message);
        // A note that the model was not asked about has no summary.
        if !summary.is_success || summary.turns > 0 {
            self.push(Cell::Run(summary));
        }
        self.activities.end();
        self.agents.end_run();
    }
}

/// The command of a call of the shell, as it is shown.
fn shell_command(tool: &str, input: &JsonText) -> Option<String> {
    #[derive(Deserialize)]
    struct Command {
        command: String,
    }
    let command = input.to::<Command>().ok().filter(|_| tool == "Bash")?;
    Some(format!("$ {}", command.command.trim_end()))
}

/// A title for a call that has not begun: its command, or its tool with the subject of its input.
fn requested_title(call: &ToolUse) -> String {
    #[derive(Deserialize)]
    struct Subject {
        file_path: Option<String>,
        notebook_path: Option<String>,
        path: Option<String>,
        url: Option<String>,
        query: Option<String>,
        pattern: Option<String>,
        description: Option<String>,
    }
    let subject = call.input.to::<Subject>().ok().and_then(|input| {
        let path = input.file_path.or(input.notebook_path).or(input.path);
        path.or(input.url).or(input.query).or(input.pattern).or(input.description)
    });
    shell_command(&call.name, &call.input).unwrap_or_else(|| match subject {
        Some(subject) => format!("{} {}", call.name, subject.lines().next().unwrap_or_default()),
        None => call.name.clone(),
    })
}
