//! Messages that were sent and have no turn yet.

use windlass_conversation::{Message, Priority};

/// A message that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueuedMessage {
    /// Id that the program gave it.
    pub id: String,
    /// Text.
    pub text: String,
    /// `true` if it joins the run at its next safe point; otherwise it waits for the end of the run.
    pub joins: bool,
    is_queued: bool,
}

/// Messages without a turn, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct SentMessages {
    messages: Vec<QueuedMessage>,
}

impl SentMessages {
    pub(super) fn add(&mut self, message: &Message) {
        let (Some(id), Ok(content)) = (&message.id, &message.content) else { return };
        let texts: Vec<&str> = content.iter().map(|block| block.as_text().unwrap_or("[attachment]")).collect();
        let joins = message.priority != Priority::Later;
        self.messages.push(QueuedMessage { id: id.clone(), text: texts.join("\n"), joins, is_queued: false });
    }

    pub(super) fn queue(&mut self, id: &str) {
        if let Some(message) = self.messages.iter_mut().find(|message| message.id == id) {
            message.is_queued = true;
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.messages.retain(|message| message.id != id);
    }

    pub(super) fn take(&mut self, id: &str) -> Option<String> {
        let at = self.messages.iter().position(|message| message.id == id)?;
        Some(self.messages.remove(at).text)
    }

    pub(super) fn queued(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.messages.iter().filter(|message| message.is_queued)
    }
}
