//! Messages of [`Priority::Next`](crate::Priority::Next) that join the turn that continues.
//!
//! Such a message stays in the queue until the session reports its fate: joined, kept out by hooks, or returned with a
//! turn of its own. A request to take it back, or to stop the run, is answered when that is known.

use super::Conversation;
use crate::output::{MessageState, SessionOrder, Update};
use crate::queue::QueuedMessage;
use crate::receipts::TakeBack;
use windlass_types::{EntryId, Prompt, Steered, SteeredFate};

/// Fate of a message that the session was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Consumed,
    Returned,
}

impl Conversation {
    /// Lets messages join the run that continues, if there is one.
    pub(super) fn offer_waiting(&mut self) {
        if !self.turns.has_run() || !self.session.is_open() {
            return;
        }
        let commands = &self.turns.commands;
        let is_text = |waiting: &QueuedMessage| waiting.command().is_none_or(|text| !commands.lists(text));
        let (mut offered, ids) = (Vec::new(), &self.ids);
        self.turns.queue.offer(is_text, |waiting| {
            let new_id = || EntryId::from_bits(ids.bits());
            let id = waiting.id.as_deref().map_or_else(new_id, EntryId::from);
            let mut prompt = Prompt::new(waiting.content.clone()).with_id(id.clone());
            prompt.quoted.clone_from(&waiting.quoted);
            offered.push(if waiting.is_verbatim { prompt.ignoring_keywords() } else { prompt });
            id
        });
        for prompt in offered {
            // A session that has ended reports none of it: with its end all messages come back.
            self.order_session(SessionOrder::Offer(prompt));
        }
    }

    /// Takes messages back that the session has: all of them or those with an id.
    pub(super) fn take_back(&mut self, request: &str, id: Option<&str>, take_back: TakeBack, cancelled: Vec<String>) {
        let forgets = take_back != (TakeBack::Interrupt { cancels: false });
        let open = self.turns.queue.ask_back(id, forgets);
        for entry in &open {
            self.order_session(SessionOrder::Withdraw(entry.clone()));
        }
        self.turns.receipts.add(request, open, cancelled, take_back);
    }

    /// Gives the answers that are complete.
    pub(super) fn give_receipts(&mut self) {
        let queue = &self.turns.queue;
        for (request, answer) in self.turns.receipts.complete(|| queue.ids()) {
            self.update(Update::Answer(request, Ok(answer)));
        }
    }

    /// Records the fate of a message. Hands out the message if it waits no more.
    fn settle_message(&mut self, id: &EntryId, fate: Fate) -> Option<QueuedMessage> {
        let message = match fate {
            Fate::Consumed => self.turns.queue.take_offered(id),
            Fate::Returned => self.turns.queue.give_back(id),
        };
        let taken_back = message.as_ref().filter(|_| fate == Fate::Returned).map(|waiting| waiting.id.as_deref());
        self.turns.receipts.settle(id, taken_back);
        message
    }

    /// The session reports the fate of a message.
    pub(super) fn steered(&mut self, steered: &Steered) {
        let Some(id) = &steered.id else { return };
        let fate = match &steered.fate {
            SteeredFate::Joined { .. } => Fate::Consumed,
            // Hooks may have failed only because the run was stopped: the message may try again.
            SteeredFate::Blocked { .. } if !self.turns.stopping => Fate::Consumed,
            _ => Fate::Returned,
        };
        match (&steered.fate, self.settle_message(id, fate)) {
            (SteeredFate::Joined { .. }, Some(waiting)) => self.joined(waiting, id.as_str()),
            (SteeredFate::Blocked { reason }, Some(waiting)) if fate == Fate::Consumed => {
                let text = format!("A message was kept out of the conversation: {reason}");
                self.update(Update::Warning(text));
                self.update_message(waiting.id.as_deref(), MessageState::Cancelled);
            }
            (_, Some(waiting)) => self.update_message(waiting.id.as_deref(), MessageState::Cancelled),
            (_, None) => {}
        }
        self.give_receipts();
        if fate == Fate::Returned {
            // The turn before may be over already.
            self.advance();
            if !self.is_at_work() {
                self.update_if_idle();
            }
        }
    }

    fn joined(&mut self, mut message: QueuedMessage, entry: &str) {
        self.take(&mut message, entry.to_owned(), true);
        self.turns.joined.extend(message.id);
    }

    /// Messages that joined a run which is over have their result.
    pub(super) fn complete_joined(&mut self) {
        self.turns.stopping = false;
        self.turns.queue.turn_over();
        for id in std::mem::take(&mut self.turns.joined) {
            self.update(Update::Message(id, MessageState::Completed));
        }
    }

    /// The session has ended: it reports no further fates.
    pub(super) fn release_waiting(&mut self) {
        for id in self.turns.queue.offered() {
            if let Some(waiting) = self.settle_message(&id, Fate::Returned) {
                self.update_message(waiting.id.as_deref(), MessageState::Cancelled);
            }
        }
        self.give_receipts();
    }

    /// `true` while a run continues, or an agent that no run waits for.
    pub(super) fn is_at_work(&self) -> bool {
        self.turns.has_run() || self.questions.shown.has_background()
    }
}
