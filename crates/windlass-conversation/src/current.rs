//! The open session, and those whose events are still arriving.

use crate::input::{Generation, SessionFacts};
use crate::spent::Spent;
use crate::task_outputs::TaskOutputs;
use std::collections::{BTreeMap, BTreeSet};
use windlass_types::{Event, PermissionMode};

/// The session that is open, or the one that will be.
#[derive(Debug, Default)]
pub(crate) struct CurrentSession {
    /// Number of the session: how many were opened.
    pub(crate) generation: Generation,
    pub(crate) facts: Option<SessionFacts>,
    /// The sessions whose events have not ended.
    pub(crate) streams: BTreeMap<Generation, SessionStream>,
    /// The sessions that are being closed.
    pub(crate) closing: BTreeSet<Generation>,
    pub(crate) permission_mode: PermissionMode,
    pub(crate) spent: Spent,
    pub(crate) outputs: TaskOutputs,
}

/// The state of the events of one session.
#[derive(Debug, Default)]
pub(crate) struct SessionStream {
    /// The start of a run whose prompt is still being looked at by hooks.
    pub(crate) begun: Option<Box<Event>>,
    /// Ticket of the wait for the end of runs that background work may begin: until then the session is not idle.
    pub(crate) settling: Option<u64>,
    /// `true` if background work has ended that the model may not have been told.
    pub(crate) unsettled: bool,
}

impl CurrentSession {
    /// `true` if a session is open or was.
    pub(crate) fn is_open(&self) -> bool {
        self.facts.is_some()
    }

    /// `true` if every session is closed, and its events have ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.streams.is_empty() && self.closing.is_empty()
    }

    /// `true` if the session that was opened last has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.generation > 0 && !self.streams.contains_key(&self.generation)
    }
}
