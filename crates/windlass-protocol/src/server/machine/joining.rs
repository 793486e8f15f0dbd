//! Messages with `priority: "next"` that join the turn that continues.
//!
//! Such a message stays in the queue until the session reports its fate:
//! it joined the run, or hooks kept it out, or it came back and has a turn of its
//! own. A host that wants it back, or stops the run, is answered when that is known.

use super::Machine;
use super::io::SessionOrder;
use super::queue::Waiting;
use super::receipts::TakeBack;
use crate::server::frames::Lifecycle;
use windlass_runtime::Prompt;
use windlass_types::{EntryId, Steered, SteeredFate};

/// Whether the session has a message, or gave it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Consumed,
    Returned,
}

impl Machine {
    /// Lets messages join the run that continues, if there is one.
    pub(super) fn offer_waiting(&mut self) {
        if !self.turns.has_run() || !self.session.is_open() {
            return;
        }
        let commands = &self.turns.commands;
        let is_text = |waiting: &Waiting| waiting.command().is_none_or(|text| !commands.lists(text));
        let (mut offered, ids) = (Vec::new(), &self.ids);
        self.turns.queue.offer(is_text, |waiting| {
            let own = || EntryId::from_bits(ids.bits());
            let id = waiting.uuid.as_deref().map_or_else(own, EntryId::from);
            let prompt = Prompt::new(waiting.content.clone()).with_id(id.clone());
            offered.push(if waiting.verbatim { prompt.ignoring_keywords() } else { prompt });
            id
        });
        for prompt in offered {
            // A session that has ended reports none of it: with its end all messages come back.
            self.order_session(SessionOrder::Offer(prompt));
        }
    }

    /// Takes messages back that the session has: all of them or those with an id.
    pub(super) fn take_back(&mut self, request: &str, uuid: Option<&str>, order: TakeBack, cancelled: Vec<String>) {
        let forgets = order != (TakeBack::Interrupt { cancels: false });
        let open = self.turns.queue.ask_back(uuid, forgets);
        for id in &open {
            self.order_session(SessionOrder::Withdraw(id.clone()));
        }
        self.turns.receipts.add(request, open, cancelled, order);
    }

    /// Gives the host the answers that are complete.
    pub(super) fn give_receipts(&mut self) {
        let queue = &self.turns.queue;
        for (request, answer) in self.turns.receipts.complete(|| queue.ids()) {
            self.reply(&request, Ok(Some(answer)));
        }
    }

    /// Records the fate of a message. Hands out the message if it waits no more.
    fn settle_message(&mut self, id: &EntryId, fate: Fate) -> Option<Waiting> {
        let gone = match fate {
            Fate::Consumed => self.turns.queue.take_offered(id),
            Fate::Returned => self.turns.queue.give_back(id),
        };
        let taken_back = gone.as_ref().filter(|_| fate == Fate::Returned).map(|waiting| waiting.uuid.as_deref());
        self.turns.receipts.settle(id, taken_back);
        gone
    }

    /// The session reports the fate of a message.
    pub(super) fn steered(&mut self, steered: &Steered) {
        let Some(id) = &steered.id else { return };
        let fate = match &steered.fate {
            SteeredFate::Joined { .. } => Fate::Consumed,
            // Its hooks may have failed only because the run was stopped: it may try again.
            SteeredFate::Blocked { .. } if !self.turns.stopping => Fate::Consumed,
            _ => Fate::Returned,
        };
        match (&steered.fate, self.settle_message(id, fate)) {
            (SteeredFate::Joined { .. }, Some(waiting)) => self.joined(&waiting, id.as_str()),
            (SteeredFate::Blocked { reason }, Some(waiting)) if fate == Fate::Consumed => {
                let text = format!("A message was kept out of the conversation: {reason}");
                self.frames(|mapper, session, out| mapper.warn(session, &text, out));
                self.say_lifecycle(waiting.uuid.as_deref(), Lifecycle::Cancelled);
            }
            (_, Some(waiting)) => self.say_lifecycle(waiting.uuid.as_deref(), Lifecycle::Cancelled),
            (_, None) => {}
        }
        self.give_receipts();
        if fate == Fate::Returned {
            // The turn before may be over already.
            self.advance();
            if !self.is_at_work() {
                self.say_idle();
            }
        }
    }

    fn joined(&mut self, waiting: &Waiting, shown: &str) {
        self.say_taken(waiting, shown);
        if let Some(uuid) = waiting.uuid.clone() {
            self.mapper.joined(uuid.clone());
            self.turns.joined.push(uuid);
        }
    }

    /// Messages that joined a run which is over have their result.
    pub(super) fn complete_joined(&mut self) {
        self.turns.stopping = false;
        self.turns.queue.turn_over();
        for uuid in std::mem::take(&mut self.turns.joined) {
            self.say_lifecycle(Some(&uuid), Lifecycle::Completed);
        }
    }

    /// The session has ended: it reports no further fates.
    pub(super) fn release_waiting(&mut self) {
        for id in self.turns.queue.offered() {
            if let Some(waiting) = self.settle_message(&id, Fate::Returned) {
                self.say_lifecycle(waiting.uuid.as_deref(), Lifecycle::Cancelled);
            }
        }
        self.give_receipts();
    }

    /// Whether a run continues, or an agent that no run waits for.
    pub(super) fn is_at_work(&self) -> bool {
        self.turns.has_run() || self.questions.shown.has_background()
    }
}
