//! Messages of the host that are being answered.

use crate::frame::AnsweredMessages;
use windlass_types::RunOrigin;

/// Maximum number of messages in a result besides the one that began its turn. Hosts expect 64 in all.
const MAX_JOINED_MESSAGES: usize = 63;

/// Messages of the host that the present turn answers, by the host's own ids.
#[derive(Debug, Default)]
pub(super) struct AnsweredPrompts {
    /// Message that began the turn.
    first: Option<String>,
    /// Messages that have joined the turn.
    joined: Vec<String>,
    /// `true` until the first event of the stream names the message.
    marks_stream: bool,
    /// `true` until the first message names the message.
    marks_message: bool,
    /// `true` if the present run answers no message of the host.
    wakes_itself: bool,
}

impl AnsweredPrompts {
    /// Sets the message that is answered from now on.
    pub(super) fn begin(&mut self, uuid: Option<String>) {
        (self.marks_stream, self.marks_message) = (uuid.is_some(), uuid.is_some());
        self.first = uuid;
    }

    /// Adds a message that is answered as well.
    pub(super) fn join(&mut self, uuid: String) {
        if self.joined.len() < MAX_JOINED_MESSAGES {
            self.joined.push(uuid);
        }
    }

    pub(super) fn run_started(&mut self, origin: RunOrigin) {
        self.wakes_itself = origin != RunOrigin::User;
    }

    /// `true` if the next event of the stream names a message.
    pub(super) fn marks_stream(&self) -> bool {
        self.marks_stream
    }

    /// Message named by an event of the stream: only the first event names one.
    pub(super) fn mark_stream(&mut self) -> Option<&str> {
        let marks = !self.wakes_itself && std::mem::take(&mut self.marks_stream);
        self.first.as_deref().filter(|_| marks)
    }

    /// Message named by a message of the model: only the first one names one.
    pub(super) fn mark_message(&mut self) -> Option<AnsweredMessages> {
        let marks = !self.wakes_itself && std::mem::take(&mut self.marks_message);
        self.first.clone().filter(|_| marks).map(AnsweredMessages::new)
    }

    /// Messages named by the result. When a run that woke itself ends, the message that began the turn stays
    /// unanswered.
    pub(super) fn end(&mut self, woken: bool) -> Option<AnsweredMessages> {
        let first = if woken { None } else { self.first.take() };
        AnsweredMessages::with_joined(first, std::mem::take(&mut self.joined))
    }
}
