//! The machine of a conversation.

mod closing;
mod events;
mod joining;
mod questions;
mod requests;
mod results;
mod rewind;
mod turn;

pub use results::is_error;

use crate::command::{Commands, SlashCommand};
use crate::current::CurrentSession;
use crate::input::{Generation, Input, SessionFacts};
use crate::jobs::PendingJobs;
use crate::message::{Message, Priority};
use crate::output::{MessageState, Order, Output, SessionOrder, SessionState, Ticket, Update};
use crate::questions::Questions;
use crate::results::PendingResults;
use crate::settings::RequestedSettings;
use crate::spent::Spent;
use crate::turns::Turns;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_tool::Ids;
use windlass_types::{EntryId, PermissionMode};

/// Options of a [`Conversation`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ConversationOptions {
    /// Permission mode of the first session, if it reports no other one.
    pub permission_mode: PermissionMode,
    /// `true` if the mode `bypassPermissions` may be chosen.
    pub bypass_allowed: bool,
    /// `true` if the mode `auto` may not be chosen.
    pub auto_forbidden: bool,
    /// `true` if messages begin slash commands.
    pub has_commands: bool,
    /// Custom commands to list before a session is open.
    pub commands: Vec<SlashCommand>,
    /// `true` if messages without an id get one, for presenters that repeat them with the id of the log.
    pub names_messages: bool,
    /// `true` if results wait for [`Order::CopyLog`].
    pub copies_log: bool,
    /// Maximum wait for background work at the end. Default: no limit.
    pub background_wait: Option<Duration>,
}

/// Stage of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Messages come.
    Open,
    /// No message comes: work that was asked for is finished, and background work.
    Draining {
        /// Ticket of the wait for background work.
        wait: Option<Ticket>,
        /// `true` once that work has taken too long.
        is_late: bool,
    },
    /// Sessions are being closed.
    Closing,
    /// All sessions are closed.
    Closed,
}

/// A conversation of a person or a host with an agent.
///
/// The same inputs give the same outputs, apart from ids. After each input, take all outputs before the next one.
pub struct Conversation {
    options: ConversationOptions,
    ids: Arc<dyn Ids>,
    outputs: VecDeque<Output>,
    requested: RequestedSettings,
    turns: Turns,
    session: CurrentSession,
    questions: Questions,
    jobs: PendingJobs,
    results: PendingResults,
    /// Number of holds: while there is one, no turn and no opening begins.
    holds: u32,
    stage: Stage,
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("turns", &self.turns).field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl Conversation {
    /// A conversation without a session: the first message opens one.
    pub fn new(options: ConversationOptions, ids: Arc<dyn Ids>) -> Self {
        let commands = Commands::new(options.has_commands, options.commands.clone());
        Self {
            ids,
            outputs: VecDeque::new(),
            requested: RequestedSettings::default(),
            turns: Turns { commands, ..Turns::default() },
            session: CurrentSession { permission_mode: options.permission_mode, ..CurrentSession::default() },
            questions: Questions::default(),
            jobs: PendingJobs::default(),
            results: PendingResults::new(options.copies_log),
            holds: 0,
            stage: Stage::Open,
            options,
        }
    }

    /// Takes an input in. Its outputs are handed out by [`poll`](Self::poll).
    pub fn handle(&mut self, input: Input) {
        match input {
            Input::Message(message) => self.message(*message),
            Input::Request(id, request) => self.request(&id, request),
            Input::Environment(variables) => self.extend_environment(variables),
            Input::Question(question) => self.ask(question),
            Input::Answered(id) => self.answered(&id),
            Input::Withdrawn(id) => self.withdrawn(&id),
            Input::Held => self.holds += 1,
            Input::Released => self.released(),
            Input::Commands(commands) => self.turns.commands.relist(commands),
            Input::End => self.input_ended(),
            Input::Close => self.close(),
            Input::Event(generation, event) => self.event(generation, event),
            Input::Ended(generation, broken) => self.ended(generation, broken.as_deref()),
            Input::SessionClosed(generation) => self.session_closed(generation),
            Input::Opened(facts) => self.opened(*facts),
            Input::NotOpened(error) => self.not_opened(&error),
            Input::Expanded(expanded) => self.expanded(expanded),
            Input::CommandsChanged(commands) => self.commands_changed(commands),
            Input::Done(ticket, outcome) => self.done(ticket, outcome),
            Input::Settled(wait) => self.settled(wait),
            Input::Quiet(wait) => self.quiet(wait),
            Input::LogCopied => self.log_copied(),
            Input::Due(timer) => self.due(timer),
        }
        self.check_end();
    }

    /// The next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// `true` while messages and requests are taken in.
    pub fn takes_messages(&self) -> bool {
        self.stage == Stage::Open
    }

    /// `true` while events are taken in: not while the result of a run waits for a copy of the log.
    pub fn takes_events(&self) -> bool {
        self.results.results.is_empty()
    }

    /// `true` if the next event of the main agent of a session may show the start of a run.
    pub fn starts_next(&self, generation: Generation) -> bool {
        self.session.streams.get(&generation).is_some_and(|stream| stream.begun.is_some())
    }

    /// `true` while the input has ended, and the work that was asked for is finished.
    pub fn is_draining(&self) -> bool {
        matches!(self.stage, Stage::Draining { .. })
    }

    /// `true` while sessions are being closed, and afterwards.
    pub fn is_closing(&self) -> bool {
        matches!(self.stage, Stage::Closing | Stage::Closed)
    }

    /// `true` if the last result was an error.
    pub fn last_is_error(&self) -> bool {
        self.turns.last_is_error
    }

    /// `true` if an answer to the question with this id is awaited: it is open and was shown.
    pub fn awaits_answer(&self, id: &str) -> bool {
        self.questions.awaits(id)
    }

    /// `true` while a turn continues or waits, or an agent works in the background.
    pub fn is_busy(&self) -> bool {
        self.is_at_work() || self.turns.is_busy() || !self.turns.queue.ids().is_empty()
    }

    /// `true` if a session is open or was.
    pub fn has_session(&self) -> bool {
        self.session.is_open()
    }

    /// `true` if the session that was opened last has ended.
    pub fn has_ended_session(&self) -> bool {
        self.session.is_over()
    }

    /// Facts about the session that was opened last.
    pub fn facts(&self) -> Option<&SessionFacts> {
        self.session.facts.as_ref()
    }

    /// Permission mode of the session, or of the one that will be opened.
    pub fn permission_mode(&self) -> PermissionMode {
        self.session.permission_mode
    }

    /// Use of the session.
    pub fn spent(&self) -> &Spent {
        &self.session.spent
    }

    /// All commands, in the order in which they are listed.
    pub fn commands(&self) -> Vec<SlashCommand> {
        self.turns.commands.list()
    }

    fn update(&mut self, update: Update) {
        self.outputs.push_back(Output::Update(update));
    }

    fn order(&mut self, order: Order) {
        self.outputs.push_back(Output::Order(order));
    }

    /// Sends a command to the session, if one is open. A session that has ended by itself gets none.
    fn order_session(&mut self, order: SessionOrder) {
        if self.session.is_open() {
            self.order(Order::Session(order));
        }
    }

    fn set_permission_mode(&mut self, mode: PermissionMode) {
        self.session.permission_mode = mode;
        self.update(Update::PermissionMode(mode));
    }

    /// Lets a message wait for its turn.
    fn message(&mut self, message: Message) {
        let (id, now) = (message.id.clone(), message.priority == Priority::Now);
        let in_turn = self.turns.has_run() || self.turns.is_busy();
        match self.turns.queue.push(message, in_turn) {
            Ok(()) => self.update_message(id.as_deref(), MessageState::Queued),
            Err(error) => self.refuse(&error, id),
        }
        if now {
            self.stop_run();
        }
        self.advance();
        self.offer_waiting();
    }

    /// Reports the state of a message, if it has an id.
    fn update_message(&mut self, id: Option<&str>, state: MessageState) {
        if let Some(id) = id {
            self.update(Update::Message(id.to_owned(), state));
        }
    }

    /// Reports that the session is idle, if it is. With an agent in the background it is not: its end begins a run.
    fn update_if_idle(&mut self) {
        if self.turns.is_idle() && !self.questions.shown.has_background() {
            self.update(Update::State(SessionState::Idle));
        }
    }

    /// Adds variables to those of the environment.
    fn extend_environment(&mut self, variables: BTreeMap<String, String>) {
        self.order_session(SessionOrder::Environment(variables.clone()));
        self.requested.environment.extend(variables);
    }

    /// Stops the run that continues, if one does.
    fn stop_run(&mut self) {
        // A turn that is no run yet is stopped as soon as it is one.
        self.turns.stopped |= self.turns.is_busy();
        if !self.turns.has_run() {
            return;
        }
        self.turns.stopping = true;
        // Questions are withdrawn before the run is reported stopped.
        self.withdraw_questions();
        self.order_session(SessionOrder::Interrupt);
    }

    /// Ends a hold: messages that came meanwhile have waited.
    fn released(&mut self) {
        self.holds = self.holds.saturating_sub(1);
        self.advance();
        self.offer_waiting();
    }

    fn entry_id(&self) -> String {
        EntryId::from_bits(self.ids.bits()).to_string()
    }
}
