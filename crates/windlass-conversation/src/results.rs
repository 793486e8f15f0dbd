//! Results wait until the durable lines of the log were copied: whoever sees the result of a run finds all of it in the
//! copy.

use crate::input::Generation;
use std::collections::VecDeque;
use windlass_types::Event;

/// The results that wait for a copy of the log.
#[derive(Debug)]
pub(crate) struct PendingResults {
    /// `true` if the log is copied at all.
    pub(crate) is_copied: bool,
    /// Number of copies that were ordered and are not done.
    pub(crate) copies: u32,
    pub(crate) results: VecDeque<TurnResult>,
}

/// The result of a turn.
#[derive(Debug)]
pub(crate) enum TurnResult {
    /// The end of a run.
    Run(Generation, Box<Event>),
    /// A prompt that started no run: the reason, and the id of the message.
    Refused(String, Option<String>),
    /// A command that cannot be expanded: the reason, and the id of the message.
    Unexpanded(String, Option<String>),
    /// A command that needs no model: its name, its output, and the id of the message.
    Local(String, String, Option<String>),
}

impl PendingResults {
    pub(crate) fn new(is_copied: bool) -> Self {
        Self { is_copied, copies: 0, results: VecDeque::new() }
    }
}
