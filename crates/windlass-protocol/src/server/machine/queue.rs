//! Messages of the host that wait for their turn.

use crate::input::{Priority, UserMessage};
use std::collections::VecDeque;
use windlass_types::{ContentBlock, EntryId, JsonText};

/// Most messages that wait, and most bytes of them.
const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// A message that waits for its turn.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) content: Vec<ContentBlock>,
    /// The message as it came.
    pub(crate) message: JsonText,
    pub(crate) uuid: Option<String>,
    pub(crate) should_query: bool,
    /// `true` if none of its text is a command, a mention or a keyword, whatever it looks like.
    pub(crate) verbatim: bool,
    size: usize,
    priority: Priority,
    joins: Joins,
}

/// Whether a message joins the turn that was running when it came.
#[derive(Debug, PartialEq, Eq)]
enum Joins {
    /// It has a turn of its own.
    No,
    /// As soon as the session can be given it.
    Wants,
    /// The session has it, under this id, and reports its fate.
    Offered { id: EntryId, taken_back: bool },
}

impl Waiting {
    fn is_offered(&self) -> bool {
        matches!(self.joins, Joins::Offered { .. })
    }

    fn is_offered_as(&self, known: &EntryId) -> bool {
        matches!(&self.joins, Joins::Offered { id, .. } if id == known)
    }

    /// The text that may be a slash command: the text of its only block after the slash.
    pub(crate) fn command(&self) -> Option<&str> {
        match self.content.as_slice() {
            // What asks for no answer asks for no command either.
            [block] if self.should_query && !self.verbatim => block.as_text()?.trim_start().strip_prefix('/'),
            _ => None,
        }
    }
}

/// Messages in the order of their turns, bounded.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
}

impl Queue {
    /// Takes a message in. Where a turn is running or about to begin, it may be one that joins it.
    ///
    /// # Errors
    /// It cannot be a prompt, or too many wait already.
    pub(crate) fn push(&mut self, message: UserMessage, in_turn: bool) -> Result<(), String> {
        let UserMessage { content, message, uuid, priority, should_query, verbatim, size } = message;
        let (content, message) = (content?, message.unwrap_or_else(JsonText::empty_object));
        if self.waiting.len() >= MAX_WAITING || self.bytes + size > MAX_WAITING_BYTES {
            return Err(format!(
                "too many messages wait for the run to end ({}): this one was not taken",
                self.waiting.len()
            ));
        }
        self.bytes += size;
        // Where no turn is running, that of the first one is about to begin.
        let begins = usize::from(!in_turn && !self.waiting.is_empty());
        let wants = (in_turn || begins > 0) && should_query && priority == Priority::Next;
        let joins = if wants { Joins::Wants } else { Joins::No };
        let waiting = Waiting { content, message, uuid, should_query, verbatim, size, priority, joins };
        match priority {
            Priority::Later => self.waiting.push_back(waiting),
            Priority::Now => self.waiting.push_front(waiting),
            Priority::Next => {
                let later = self.waiting.iter().skip(begins).position(|waiting| waiting.priority == Priority::Later);
                self.waiting.insert(later.map_or(self.waiting.len(), |at| at + begins), waiting);
            }
        }
        Ok(())
    }

    /// The message whose turn is next. `None` while it is not known whether that one needs a turn.
    pub(crate) fn front(&self) -> Option<&Waiting> {
        self.waiting.front().filter(|waiting| !waiting.is_offered())
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.front()?;
        self.remove(0)
    }

    fn remove(&mut self, at: usize) -> Option<Waiting> {
        let waiting = self.waiting.remove(at)?;
        self.bytes = self.bytes.saturating_sub(waiting.size);
        Some(waiting)
    }

    /// Gives messages to the session that want to join its run, in their order: none overtakes another one that
    /// does not. `give` returns the id under which the session knows the message.
    pub(crate) fn offer(&mut self, is_text: impl Fn(&Waiting) -> bool, mut give: impl FnMut(&Waiting) -> EntryId) {
        for waiting in &mut self.waiting {
            match waiting.joins {
                Joins::Offered { .. } => {}
                Joins::Wants if is_text(waiting) => {
                    let id = give(waiting);
                    waiting.joins = Joins::Offered { id, taken_back: false };
                }
                Joins::Wants | Joins::No => return,
            }
        }
    }

    /// The messages that the session has, by the ids that it knows.
    pub(crate) fn offered(&self) -> Vec<EntryId> {
        let id = |waiting: &Waiting| match &waiting.joins {
            Joins::Offered { id, .. } => Some(id.clone()),
            _ => None,
        };
        self.waiting.iter().filter_map(id).collect()
    }

    /// The session needs no more of a message that it has.
    pub(crate) fn take_offered(&mut self, id: &EntryId) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.is_offered_as(id))?;
        self.remove(at)
    }

    /// The session gives a message back: it has a turn of its own, or is handed out if the host has taken it back.
    pub(crate) fn give_back(&mut self, id: &EntryId) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.is_offered_as(id))?;
        let waiting = self.waiting.get_mut(at)?;
        let joins = std::mem::replace(&mut waiting.joins, Joins::No);
        if matches!(joins, Joins::Offered { taken_back: true, .. }) { self.remove(at) } else { None }
    }

    /// Names the messages that the session has, all of them or those with an id of the host; `forgets` returns whether
    /// they have no turn when they come back.
    pub(crate) fn ask_back(&mut self, uuid: Option<&str>, forgets: bool) -> Vec<EntryId> {
        let mut asked = Vec::new();
        for waiting in &mut self.waiting {
            let is_meant = uuid.is_none() || waiting.uuid.as_deref() == uuid;
            if let (true, Joins::Offered { id, taken_back }) = (is_meant, &mut waiting.joins) {
                *taken_back |= forgets;
                asked.push(id.clone());
            }
        }
        asked
    }

    /// The turn is over: what could not be given to it has a turn of its own.
    pub(crate) fn turn_over(&mut self) {
        for waiting in &mut self.waiting {
            if waiting.joins == Joins::Wants {
                waiting.joins = Joins::No;
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The ids of the messages that wait.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.waiting.iter().filter_map(|waiting| waiting.uuid.clone()).collect()
    }

    /// Forgets messages that the session does not have, all of them or the one with an id. Returns their ids.
    pub(crate) fn forget(&mut self, id: Option<&str>) -> Vec<String> {
        let (gone, kept) = std::mem::take(&mut self.waiting).into_iter().partition::<VecDeque<_>, _>(|waiting| {
            !waiting.is_offered() && (id.is_none() || waiting.uuid.as_deref() == id)
        });
        self.bytes = kept.iter().map(|waiting| waiting.size).sum();
        self.waiting = kept;
        gone.into_iter().filter_map(|waiting| waiting.uuid).collect()
    }
}

#[cfg(test)]
mod tests;
