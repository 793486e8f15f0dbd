//! Messages that wait for their turn.

use crate::message::{Message, Priority};
use std::collections::VecDeque;
use windlass_types::{ContentBlock, EntryId, JsonText, Quotation};

/// Maximum number of messages that wait.
const MAX_WAITING: usize = 256;
/// Maximum number of their bytes.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// A message that waits for its turn.
#[derive(Debug)]
pub(crate) struct QueuedMessage {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) quoted: Vec<Quotation>,
    pub(crate) original: Option<JsonText>,
    pub(crate) id: Option<String>,
    pub(crate) wants_answer: bool,
    pub(crate) is_verbatim: bool,
    size: usize,
    priority: Priority,
    joining: Joining,
}

/// Relation of a message to the run that continued when it came.
#[derive(Debug, PartialEq, Eq)]
enum Joining {
    /// The message has a turn of its own.
    No,
    /// The message joins as soon as the session can be given it.
    Wanted,
    /// The session has the message, under this id, and reports its fate.
    Offered { id: EntryId, taken_back: bool },
}

impl QueuedMessage {
    fn is_offered(&self) -> bool {
        matches!(self.joining, Joining::Offered { .. })
    }

    fn is_offered_as(&self, known: &EntryId) -> bool {
        matches!(&self.joining, Joining::Offered { id, .. } if id == known)
    }

    /// The text that may be a slash command: the text of its only block after the slash.
    pub(crate) fn command(&self) -> Option<&str> {
        match self.content.as_slice() {
            // A message that wants no answer is no command either.
            [block] if self.wants_answer && !self.is_verbatim => block.as_text()?.trim_start().strip_prefix('/'),
            _ => None,
        }
    }
}

/// Messages in the order of their turns, bounded.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<QueuedMessage>,
    bytes: usize,
}

impl Queue {
    /// Takes a message in. Where a turn is running or about to begin, it may be one that joins it.
    ///
    /// # Errors
    /// The message cannot be a prompt, or too many wait already.
    pub(crate) fn push(&mut self, message: Message, in_turn: bool) -> Result<(), String> {
        let Message { content, quoted, id, priority, wants_answer, is_verbatim, size, original } = message;
        let content = content?;
        if self.waiting.len() >= MAX_WAITING || self.bytes + size > MAX_WAITING_BYTES {
            return Err(format!(
                "too many messages wait for the run to end ({}): this one was not taken",
                self.waiting.len()
            ));
        }
        self.bytes += size;
        // Without a turn, that of the first message is about to begin.
        let starting_count = usize::from(!in_turn && !self.waiting.is_empty());
        let wants_to_join = (in_turn || starting_count > 0) && wants_answer && priority == Priority::Next;
        let joining = if wants_to_join { Joining::Wanted } else { Joining::No };
        let waiting =
            QueuedMessage { content, quoted, original, id, wants_answer, is_verbatim, size, priority, joining };
        match priority {
            Priority::Later => self.waiting.push_back(waiting),
            Priority::Now => self.waiting.push_front(waiting),
            Priority::Next => {
                let later =
                    self.waiting.iter().skip(starting_count).position(|waiting| waiting.priority == Priority::Later);
                self.waiting.insert(later.map_or(self.waiting.len(), |at| at + starting_count), waiting);
            }
        }
        Ok(())
    }

    /// The message whose turn is next. `None` while it is not known whether that one needs a turn.
    pub(crate) fn front(&self) -> Option<&QueuedMessage> {
        self.waiting.front().filter(|waiting| !waiting.is_offered())
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedMessage> {
        self.front()?;
        self.remove(0)
    }

    fn remove(&mut self, index: usize) -> Option<QueuedMessage> {
        let waiting = self.waiting.remove(index)?;
        self.bytes = self.bytes.saturating_sub(waiting.size);
        Some(waiting)
    }

    /// Gives messages to the session that want to join its run, in their order: none overtakes another one that
    /// does not. `give` returns the id under which the session knows the message.
    pub(crate) fn offer(
        &mut self,
        is_text: impl Fn(&QueuedMessage) -> bool,
        mut give: impl FnMut(&QueuedMessage) -> EntryId,
    ) {
        for waiting in &mut self.waiting {
            match waiting.joining {
                Joining::Offered { .. } => {}
                Joining::Wanted if is_text(waiting) => {
                    let id = give(waiting);
                    waiting.joining = Joining::Offered { id, taken_back: false };
                }
                Joining::Wanted | Joining::No => return,
            }
        }
    }

    /// The messages that the session has, by the ids that it knows.
    pub(crate) fn offered(&self) -> Vec<EntryId> {
        let id = |waiting: &QueuedMessage| match &waiting.joining {
            Joining::Offered { id, .. } => Some(id.clone()),
            _ => None,
        };
        self.waiting.iter().filter_map(id).collect()
    }

    /// The session needs no more of a message that it has.
    pub(crate) fn take_offered(&mut self, id: &EntryId) -> Option<QueuedMessage> {
        let index = self.waiting.iter().position(|waiting| waiting.is_offered_as(id))?;
        self.remove(index)
    }

    /// The session gives a message back: it has a turn of its own, or is handed out if the host has taken it back.
    pub(crate) fn give_back(&mut self, id: &EntryId) -> Option<QueuedMessage> {
        let index = self.waiting.iter().position(|waiting| waiting.is_offered_as(id))?;
        let waiting = self.waiting.get_mut(index)?;
        let joining = std::mem::replace(&mut waiting.joining, Joining::No);
        if matches!(joining, Joining::Offered { taken_back: true, .. }) { self.remove(index) } else { None }
    }

    /// Names the messages that the session has, all of them or those with an id of the host; `forgets` returns whether
    /// they have no turn when they come back.
    pub(crate) fn ask_back(&mut self, id: Option<&str>, forgets: bool) -> Vec<EntryId> {
        let mut ids = Vec::new();
        for waiting in &mut self.waiting {
            let is_meant = id.is_none() || waiting.id.as_deref() == id;
            if let (true, Joining::Offered { id, taken_back }) = (is_meant, &mut waiting.joining) {
                *taken_back |= forgets;
                ids.push(id.clone());
            }
        }
        ids
    }

    /// The turn is over: what could not be given to it has a turn of its own.
    pub(crate) fn turn_over(&mut self) {
        for waiting in &mut self.waiting {
            if waiting.joining == Joining::Wanted {
                waiting.joining = Joining::No;
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The ids of the messages that wait.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.waiting.iter().filter_map(|waiting| waiting.id.clone()).collect()
    }

    /// Forgets messages that the session does not have, all of them or the one with an id. Returns their ids.
    pub(crate) fn forget(&mut self, id: Option<&str>) -> Vec<String> {
        let (removed, kept) = std::mem::take(&mut self.waiting).into_iter().partition::<VecDeque<_>, _>(|waiting| {
            !waiting.is_offered() && (id.is_none() || waiting.id.as_deref() == id)
        });
        self.bytes = kept.iter().map(|waiting| waiting.size).sum();
        self.waiting = kept;
        removed.into_iter().filter_map(|waiting| waiting.id).collect()
    }
}

#[cfg(test)]
mod tests;
