//! Messages that were sent and that no run has taken yet.

use crate::composer::SavedPrompt;
use windlass_conversation::Priority;

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingMessage {
    /// Number of the message, from 1 on.
    pub number: u64,
    /// Text of the message.
    pub prompt: SavedPrompt,
    /// Place among the messages that wait: [`Priority::Next`] joins the run, [`Priority::Later`] follows it.
    pub priority: Priority,
    /// `true` if it was sent while a run continued, and is shown above the prompt.
    pub is_shown: bool,
    /// `true` while it is being taken back.
    pub is_leaving: bool,
}

/// The messages that wait, in the order in which they were sent. A message stays until it is taken or comes back.
#[derive(Debug, Clone, Default)]
pub struct WaitingMessages {
    messages: Vec<WaitingMessage>,
    last: u64,
}

impl WaitingMessages {
    /// The messages to show above the prompt.
    pub fn shown(&self) -> impl Iterator<Item = &WaitingMessage> {
        self.messages.iter().filter(|message| message.is_shown)
    }

    /// All messages.
    #[must_use]
    pub fn all(&self) -> &[WaitingMessage] {
        &self.messages
    }

    pub(super) fn push(&mut self, prompt: SavedPrompt, priority: Priority, is_shown: bool) -> u64 {
        self.last = self.last.saturating_add(1);
        let number = self.last;
        self.messages.push(WaitingMessage { number, prompt, priority, is_shown, is_leaving: false });
        number
    }

    /// Marks the newest shown message as one that is being taken back. Returns its number.
    pub(super) fn take_back_last(&mut self) -> Option<u64> {
        let last = self.messages.iter_mut().rev().find(|message| message.is_shown && !message.is_leaving)?;
        last.is_leaving = true;
        Some(last.number)
    }

    /// The message stays after all.
    pub(super) fn stays(&mut self, number: u64) {
        for message in self.messages.iter_mut().filter(|message| message.number == number) {
            message.is_leaving = false;
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<SavedPrompt> {
        let at = self.messages.iter().position(|message| message.number == number)?;
        Some(self.messages.remove(at).prompt)
    }

    /// Takes all messages out.
    pub(super) fn take(&mut self) -> Vec<SavedPrompt> {
        std::mem::take(&mut self.messages).into_iter().map(|message| message.prompt).collect()
    }
}
