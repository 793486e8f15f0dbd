//! Results wait until the host has the lines of the log that were durable: a host that sees the result of a run finds all
//! of it in the mirror.

use super::io::Generation;
use std::collections::VecDeque;
use windlass_types::Event;

/// The results that wait for the log's lines.
#[derive(Debug)]
pub(crate) struct Results {
    pub(super) is_mirrored: bool,
    /// How many times the lines were ordered and have not all been given.
    pub(super) mirroring: u32,
    pub(super) held: VecDeque<Held>,
}

/// A result.
#[derive(Debug)]
pub(super) enum Held {
    /// The end of a run.
    Run(Generation, Box<Event>),
    /// That of a prompt that started no run: the error, and the id of the message.
    Refused(String, Option<String>),
    /// That of a command that becomes no prompt: why, and the id of the message.
    Unsent(String, Option<String>),
    /// The output of a command that needs no model, behind its name, and the id of the message.
    Local(String, String, Option<String>),
}

impl Results {
    pub(crate) fn new(is_mirrored: bool) -> Self {
        Self { is_mirrored, mirroring: 0, held: VecDeque::new() }
    }

    /// Whether results wait for the log's lines.
    pub(crate) fn waits(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the host is being given lines of the log for a result, or the last ones.
    pub(crate) fn is_mirroring(&self) -> bool {
        self.mirroring > 0
    }

    /// Whether the host gets the lines of the log.
    pub(crate) fn is_mirrored(&self) -> bool {
        self.is_mirrored
    }
}
