//! Which messages of the host are being answered.

use crate::frame::Answers;
use windlass_types::RunOrigin;

/// How many messages a result names at most beside the one that began its turn: hosts expect 64 in all.
const MOST_JOINED: usize = 63;

/// The messages of the host that the current turn answers, by the host's own ids.
#[derive(Debug, Default)]
pub(super) struct Answering {
    /// The one that began the turn.
    first: Option<String>,
    /// Those that have joined it.
    joined: Vec<String>,
    /// Whether the first event of the stream has yet to name it.
    marks_stream: bool,
    /// Whether the first message has yet to name it.
    marks_message: bool,
    /// Whether the current run answers no message of the host.
    wakes_itself: bool,
}

impl Answering {
    /// From now on this message is answered.
    pub(super) fn begin(&mut self, uuid: Option<String>) {
        (self.marks_stream, self.marks_message) = (uuid.is_some(), uuid.is_some());
        self.first = uuid;
    }

    /// Another message is answered as well.
    pub(super) fn join(&mut self, uuid: String) {
        if self.joined.len() < MOST_JOINED {
            self.joined.push(uuid);
        }
    }

    pub(super) fn run_started(&mut self, origin: RunOrigin) {
        self.wakes_itself = origin != RunOrigin::User;
    }

    /// Whether the next event of the stream names a message.
    pub(super) fn marks_stream(&self) -> bool {
        self.marks_stream
    }

    /// What an event of the stream names: only the first one names a message.
    pub(super) fn mark_stream(&mut self) -> Option<&str> {
        let marks = !self.wakes_itself && std::mem::take(&mut self.marks_stream);
        self.first.as_deref().filter(|_| marks)
    }

    /// What a message of the model names: only the first one names a message.
    pub(super) fn mark_message(&mut self) -> Option<Answers> {
        let marks = !self.wakes_itself && std::mem::take(&mut self.marks_message);
        self.first.clone().filter(|_| marks).map(Answers::new)
    }

    /// What the result names. The end of a run that woke itself leaves the message that began the turn unanswered.
    pub(super) fn end(&mut self, woken: bool) -> Option<Answers> {
        let first = if woken { None } else { self.first.take() };
        Answers::with_joined(first, std::mem::take(&mut self.joined))
    }
}
