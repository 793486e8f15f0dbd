//! The turns of a session: the current one, and those that wait.

use crate::command::{BuiltinCommand, Commands};
use crate::input::Generation;
use crate::queue::{Queue, QueuedMessage};
use crate::receipts::Receipts;
use crate::settings::SessionSettings;

/// The turns of a session.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) commands: Commands,
    pub(crate) queue: Queue,
    /// `true` while a prompt has no result.
    pub(crate) running: bool,
    /// `true` while a run continues that background work has begun.
    pub(crate) woken: bool,
    /// A turn that is no run, or not yet.
    pub(crate) work: Option<Work>,
    /// `true` if that turn was stopped.
    pub(crate) stopped: bool,
    /// The id of the message that is being answered.
    pub(crate) answering: Option<String>,
    /// The ids of the messages that have joined it.
    pub(crate) joined: Vec<String>,
    /// `true` if the run that continues was stopped.
    pub(crate) stopping: bool,
    /// Answers that wait for the session.
    pub(crate) receipts: Receipts,
    pub(crate) last_is_error: bool,
}

/// Work before or instead of a run.
#[derive(Debug)]
pub(crate) enum Work {
    /// A session is opened: for a turn, or only for rewinds.
    Opening { settings: Box<SessionSettings>, turn: Option<QueuedMessage> },
    /// A command is expanded; a built-in one has the same alias.
    Expanding { turn: QueuedMessage, name: String, builtin: Option<BuiltinCommand> },
    /// Another session is opened, to take the place of the one before.
    Clearing { settings: Box<SessionSettings>, turn: QueuedMessage },
    /// The session before is being closed.
    Closing { turn: QueuedMessage, before: Generation },
    /// The use of the context window is being computed.
    Context { turn: QueuedMessage },
    /// The result of a turn that is no run waits for a copy of the log.
    Result,
}

impl Turns {
    /// `true` while a turn is carried out that is no run, or not yet.
    pub(crate) fn is_busy(&self) -> bool {
        self.work.as_ref().is_some_and(|work| !matches!(work, Work::Opening { turn: None, .. }))
    }

    /// `true` while a run of the main agent continues.
    pub(crate) fn has_run(&self) -> bool {
        self.running || self.woken
    }

    /// `true` if no turn continues and none waits.
    pub(crate) fn is_idle(&self) -> bool {
        !self.has_run() && !self.is_busy() && self.queue.is_empty()
    }
}
