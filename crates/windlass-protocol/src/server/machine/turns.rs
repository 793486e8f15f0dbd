//! The turns of a session: which one is being carried out, and what waits.

use super::io::{Generation, Wish};
use super::queue::{Queue, Waiting};
use super::receipts::Receipts;
use crate::server::commands::{Builtin, Commands};

/// The turns of a session.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) commands: Commands,
    pub(crate) queue: Queue,
    /// Whether a prompt was given whose result has not come.
    pub(crate) running: bool,
    /// Whether a run continues that answers no message: background work woke it.
    pub(crate) woken: bool,
    /// A turn that is no run, or not yet.
    pub(crate) work: Option<Work>,
    /// Whether the host stopped that turn.
    pub(crate) stopped: bool,
    /// The id of the message that is being answered.
    pub(crate) answering: Option<String>,
    /// The ids of those that have joined it.
    pub(crate) joined: Vec<String>,
    /// Whether the host has stopped the run that continues.
    pub(crate) stopping: bool,
    /// Answers to the host that wait for the session.
    pub(crate) receipts: Receipts,
    pub(crate) last_is_error: bool,
}

/// What is done before or instead of a run.
#[derive(Debug)]
pub(crate) enum Work {
    /// A session is opened: for a turn, or only for rewinds.
    Opening { wish: Box<Wish>, turn: Option<Waiting> },
    /// It is found out what a command becomes; one of the server's own has the same other name.
    Expanding { turn: Waiting, name: String, builtin: Option<Builtin> },
    /// Another session is opened, to take the place of the one before.
    Clearing { wish: Box<Wish>, turn: Waiting },
    /// The one before is being closed.
    Closing { turn: Waiting, before: Generation },
    /// It is found out what fills the context window.
    Context { turn: Waiting },
    /// The result of a turn that is no run waits for the log's lines.
    Result,
}

impl Turns {
    /// Whether a turn is carried out that is no run, or not yet.
    pub(crate) fn is_busy(&self) -> bool {
        self.work.as_ref().is_some_and(|work| !matches!(work, Work::Opening { turn: None, .. }))
    }

    /// Whether a run of the main agent continues.
    pub(crate) fn has_run(&self) -> bool {
        self.running || self.woken
    }

    /// Whether no turn continues and none waits.
    pub(crate) fn is_idle(&self) -> bool {
        !self.has_run() && !self.is_busy() && self.queue.is_empty()
    }
}
