//! Updates of a conversation to finished cells and live state.

mod activity;
mod agents;
mod events;
mod queue;

pub use activity::{Activity, RunningCall};
pub use agents::{AgentRow, TaskRow};
pub use queue::QueuedMessage;

use crate::cell::{AnswerPart, Cell, KeptText, LocalOutput, Notice, NoticeLevel, TodoItem, UserMessage};
use crate::markdown::{MarkdownChunk, MarkdownStream};
use activity::Activities;
use agents::Agents;
use queue::SentMessages;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;
use windlass_context::Masks;
use windlass_conversation::{Message, MessageState, Presenter, SessionState, SlashCommand, Update};
use windlass_types::{AgentPath, NanoUsd, PermissionMode, RateLimit};

/// Facts for a status line.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SessionStatus {
    /// Id of the session; empty before one is open.
    pub session_id: String,
    /// File of the transcript.
    pub transcript: Option<PathBuf>,
    /// Title of the session.
    pub title: Option<String>,
    /// Model of the last run.
    pub model: Option<String>,
    /// Permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// Directory in which calls start.
    pub cwd: Option<PathBuf>,
    /// Cost of the session so far.
    pub cost: NanoUsd,
    /// Duration of the runs, in milliseconds.
    pub duration_ms: u64,
    /// Duration of the model calls in them, in milliseconds.
    pub model_ms: u64,
    /// Tokens of the conversation at the last model call.
    pub context_tokens: u64,
    /// Context window of the model, in tokens; zero if it is not known.
    pub context_window: u64,
    /// Allowance of the provider's subscription.
    pub rate_limit: Option<RateLimit>,
    /// `true` while a turn continues or a question waits.
    pub is_running: bool,
}

/// Options of a [`TerminalPresenter`].
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "options that programs set")]
pub struct PresenterOptions {
    /// Secrets that are not shown.
    pub masks: Masks,
    /// `true` to show the reasoning of the model.
    pub shows_thinking: bool,
}

/// A presenter of cells.
///
/// Finished cells are taken with [`take_cells`](Self::take_cells); the rest is live state, which changes in place. No clock, no
/// terminal: times are durations since any fixed moment, told by [`set_time`](Self::set_time).
#[derive(Debug, Default)]
pub struct TerminalPresenter {
    options: PresenterOptions,
    now: Duration,
    cells: VecDeque<Cell>,
    /// Bytes of text in `cells`.
    waiting: usize,
    stream: MarkdownStream,
    /// Block of the message that `stream` holds.
    streamed_block: Option<usize>,
    /// `true` if parts of the answer that streams were given out.
    is_answer_begun: bool,
    /// `true` if parts of the message that streams were given out.
    is_message_begun: bool,
    /// Command of the user in the last cell, such as `/cost`.
    last_command: Option<String>,
    activities: Activities,
    agents: Agents,
    sent: SentMessages,
    todos: Vec<TodoItem>,
    questions: Vec<String>,
    commands: Vec<SlashCommand>,
    status: SessionStatus,
}

impl TerminalPresenter {
    /// A presenter that has shown nothing yet.
    #[must_use]
    pub fn new(options: PresenterOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Tells the time. Updates that follow happen then.
    pub fn set_time(&mut self, now: Duration) {
        self.now = now;
    }

    /// Tells of a message that the program gives to the conversation, so that its text can be shown when its turn comes.
    /// Only messages with an id are remembered.
    pub fn message_sent(&mut self, message: &Message) {
        self.sent.add(message);
    }

    /// Adds a cell of the program's own, behind those that are finished.
    pub fn push(&mut self, cell: Cell) {
        self.finish_stream();
        self.add(cell);
    }

    /// Adds a notice of the program's own.
    pub fn notice(&mut self, level: NoticeLevel, text: &str) {
        let text = self.masked(text);
        self.push(Cell::Notice(Notice::new(level, text)));
    }

    /// Takes the cells that are finished, in order.
    pub fn take_cells(&mut self) -> Vec<Cell> {
        self.take_finished_parts();
        self.waiting = 0;
        self.cells.drain(..).collect()
    }

    /// Bytes of text that wait to be taken. A program whose terminal is slow takes no further updates above a limit of
    /// its own.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.waiting + self.stream.tail_size()
    }

    /// The part of the answer that may still change; empty without one.
    #[must_use]
    pub fn tail(&self) -> AnswerPart {
        let mut chunk = if self.stream.is_empty() { MarkdownChunk::default() } else { self.stream.tail() };
        chunk.source = self.masked(&chunk.source);
        AnswerPart { chunk, is_first: !self.is_answer_begun }
    }

    /// The run that continues; `None` while nothing runs.
    #[must_use]
    pub fn activity(&self) -> Option<&Activity> {
        self.activities.activity()
    }

    /// Calls that run, in the order in which they began.
    #[must_use]
    pub fn running_calls(&self) -> &[RunningCall] {
        self.activities.calls()
    }

    /// Agents below the main one that work, in the order in which they began.
    #[must_use]
    pub fn agents(&self) -> &[AgentRow] {
        self.agents.rows()
    }

    /// Task of an agent below the main one in a line; empty if it is not known.
    #[must_use]
    pub fn agent_task(&self, path: &AgentPath) -> &str {
        let row = self.agents.rows().iter().find(|row| row.path == *path);
        row.map(|row| row.description.as_str()).unwrap_or_default()
    }

    /// Background work that continues.
    #[must_use]
    pub fn tasks(&self) -> &[TaskRow] {
        self.agents.tasks()
    }

    /// Messages that wait for their turn.
    #[must_use]
    pub fn queued(&self) -> Vec<&QueuedMessage> {
        self.sent.queued().collect()
    }

    /// Tasks of the model's list.
    #[must_use]
    pub fn todos(&self) -> &[TodoItem] {
        &self.todos
    }

    /// Ids of the questions that are to be shown, the oldest first.
    #[must_use]
    pub fn questions(&self) -> &[String] {
        &self.questions
    }

    /// Tells that a question of the program's own is shown.
    pub fn question_asked(&mut self, id: &str) {
        self.questions.push(id.to_owned());
    }

    /// Tells that a question was answered, so it is no longer shown.
    pub fn question_answered(&mut self, id: &str) {
        self.questions.retain(|known| known != id);
    }

    /// Slash commands of the session.
    #[must_use]
    pub fn commands(&self) -> &[SlashCommand] {
        &self.commands
    }

    /// Facts for a status line.
    #[must_use]
    pub fn status(&self) -> &SessionStatus {
        &self.status
    }

    fn masked(&self, text: &str) -> String {
        self.options.masks.mask(text).into_owned()
    }

    fn add(&mut self, cell: Cell) {
        self.waiting += cell.size();
        if !matches!(cell, Cell::Answer(_)) {
            self.is_answer_begun = false;
        }
        self.last_command = match &cell {
            Cell::User(message) => message.text.split_whitespace().next().map(str::to_owned),
            _ => None,
        };
        self.cells.push_back(cell);
    }

    fn warn(&mut self, text: &str) {
        self.notice(NoticeLevel::Warning, text);
    }

    /// Moves the finished parts of the answer to the cells.
    fn take_finished_parts(&mut self) {
        for chunk in self.stream.take_finished() {
            self.add_part(chunk);
        }
    }

    /// Moves all of the answer to the cells: another cell follows, or it has ended.
    fn finish_stream(&mut self) {
        for chunk in self.stream.finish() {
            self.add_part(chunk);
        }
        self.streamed_block = None;
    }

    fn add_part(&mut self, mut chunk: MarkdownChunk) {
        if chunk.source.trim().is_empty() {
            return;
        }
        chunk.source = self.masked(&chunk.source);
        let is_first = !std::mem::replace(&mut self.is_answer_begun, true);
        self.is_message_begun = true;
        self.add(Cell::Answer(AnswerPart { chunk, is_first }));
    }

    fn message_state(&mut self, id: &str, state: MessageState) {
        match state {
            MessageState::Queued => self.sent.queue(id),
            _ => self.sent.remove(id),
        }
    }

    fn taken(&mut self, id: Option<&str>, joined: bool) {
        if let Some(text) = id.and_then(|id| self.sent.take(id)) {
            self.push(Cell::User(UserMessage { text, joined }));
        }
    }
}

impl Presenter for TerminalPresenter {
    fn present(&mut self, update: Update) {
        match update {
            Update::Opened(opened) => {
                self.status.session_id = opened.id;
                self.status.transcript = opened.transcript;
                self.status.permission_mode = Some(opened.permission_mode);
                self.commands = opened.commands;
            }
            Update::Event(event) => self.event(*event),
            Update::Message(id, state) => self.message_state(&id, state),
            Update::Taken(taken) => self.taken(taken.id.as_deref(), taken.joins),
            Update::Local(local) => {
                let text = KeptText::new(&self.masked(&local.text));
                let command = format!("/{}", local.command);
                let is_above = self.last_command.as_ref() == Some(&command);
                self.push(Cell::Local(LocalOutput { command: if is_above { String::new() } else { command }, text }));
                self.status.cost = local.spent.cost;
            }
            Update::Refused(reason) => self.notice(NoticeLevel::Error, &reason),
            Update::Warning(text) => self.warn(&text),
            Update::State(state) => {
                self.status.is_running = state != SessionState::Idle;
                match state {
                    SessionState::Idle => {
                        self.finish_stream();
                        self.activities.end();
                    }
                    // The first event of a run may come much later.
                    SessionState::Running => self.activities.begin(self.now),
                    _ => {}
                }
            }
            Update::PermissionMode(mode) | Update::PermissionModeChanged(mode) => {
                self.status.permission_mode = Some(mode);
            }
            Update::Commands(commands) | Update::CommandsChanged(commands) => self.commands = commands,
            Update::Cleared(_) => {
                self.todos.clear();
                self.status.context_tokens = 0;
                self.status.title = None;
                self.notice(
                    NoticeLevel::Info,
                    "The conversation is empty again. The one before is kept: /resume lists it.",
                );
            }
            Update::Title(title) => self.status.title = Some(title),
            Update::Question(id) => self.questions.push(id),
            Update::QuestionWithdrawn(id) => self.question_answered(&id),
            Update::Answer(_, Err(refusal)) => self.warn(&refusal.reason),
            _ => {}
        }
    }
}
