//! What is known of the session that is open, and of those whose events still come.

use super::io::{Facts, Generation};
use super::outputs::Outputs;
use super::spent::Spent;
use crate::server::scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use windlass_types::Event;

/// The session that is open, or the one that will be.
#[derive(Debug, Default)]
pub(crate) struct Current {
    /// The id that frames have.
    pub(crate) id: String,
    /// How many sessions were opened.
    pub(crate) generation: Generation,
    /// How the open session described itself.
    pub(crate) facts: Option<Facts>,
    /// The sessions whose events have not ended.
    pub(crate) streams: BTreeMap<Generation, Stream>,
    /// Those that are being closed.
    pub(crate) closing: BTreeSet<Generation>,
    pub(crate) scene: Scene,
    pub(crate) spent: Spent,
    pub(crate) outputs: Outputs,
}

/// The events of one session.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The start of a run whose prompt is still being looked at by hooks.
    pub(crate) begun: Option<Box<Event>>,
    /// The number of the wait for the end of runs that background work may begin: until then the session is not idle.
    pub(crate) settling: Option<u64>,
    /// Whether background work has ended of which the model may not have heard.
    pub(crate) unsettled: bool,
}

impl Current {
    /// Whether a session is open or was.
    pub(crate) fn is_open(&self) -> bool {
        self.facts.is_some()
    }

    /// Whether every session is closed, and its events have ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.streams.is_empty() && self.closing.is_empty()
    }

    /// Whether the session that was opened last has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.generation > 0 && !self.streams.contains_key(&self.generation)
    }
}
