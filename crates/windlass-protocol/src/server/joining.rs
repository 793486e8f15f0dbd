//! Messages with `priority: "next"` that join the turn that goes on.
//!
//! Such a message stays in the queue until the session says what became of it:
//! it joined the run, or hooks kept it out, or it came back and has a turn of its
//! own. A host that wants it back, or stops the run, is answered when that is known.

use super::commands::Asked;
use super::core::{Core, State};
use super::frames::Lifecycle;
use super::outbox::Gone;
use super::queue::Waiting;
use serde_json::{Value, json};
use windlass_runtime::Prompt;
use windlass_types::{EntryId, Steered, SteeredFate};

/// Most answers that wait for the session.
const MAX_RECEIPTS: usize = 256;

/// An answer to the host that waits until it is known what became of messages.
#[derive(Debug)]
pub(crate) struct Receipt {
    request: String,
    /// The messages, by the ids that the session knows.
    open: Vec<EntryId>,
    /// Those that the host took back.
    cancelled: Vec<String>,
    order: Order,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// One message is taken back.
    Cancel { done: bool },
    /// The run is stopped; with all messages taken back, or not.
    Interrupt { cancels: bool },
}

impl Receipt {
    fn answer(&self, still_queued: &[String]) -> Value {
        match self.order {
            Order::Cancel { done } => json!({ "cancelled": done }),
            Order::Interrupt { cancels: false } => json!({ "still_queued": still_queued }),
            Order::Interrupt { cancels: true } => {
                json!({ "still_queued": still_queued, "cancelled": self.cancelled })
            }
        }
    }
}

impl State {
    /// Gives the session what may join its run.
    fn offer(&mut self, mut uuid: impl FnMut() -> String) {
        let Some(live) = self.session.as_ref().filter(|_| self.running || self.woken) else { return };
        let commands = &self.commands;
        let is_text = |waiting: &Waiting| waiting.command().is_none_or(|text| commands.read(text) == Asked::Text);
        self.queue.offer(is_text, |waiting| {
            let id: EntryId = waiting.uuid.clone().unwrap_or_else(&mut uuid).as_str().into();
            let prompt = Prompt::new(waiting.content.clone()).with_id(id.clone());
            live.handle.offer(prompt).ok().map(|()| id)
        });
    }

    /// Takes note of what became of a message. Hands out the message if it waits no more, and the answers that are complete.
    fn settle(&mut self, id: &EntryId, fate: Fate) -> (Option<Waiting>, Vec<(String, Value)>) {
        let (gone, cancelled) = match fate {
            Fate::Consumed => (self.queue.take_offered(id), false),
            Fate::Returned => {
                let gone = self.queue.give_back(id);
                let cancelled = gone.is_some();
                (gone, cancelled)
            }
        };
        for receipt in &mut self.receipts {
            let Some(at) = receipt.open.iter().position(|open| open == id) else { continue };
            receipt.open.remove(at);
            if let (true, Order::Cancel { done }) = (cancelled, &mut receipt.order) {
                *done = true;
            }
            if let (true, Order::Interrupt { cancels: true }) = (cancelled, receipt.order) {
                receipt.cancelled.extend(gone.as_ref().and_then(|waiting| waiting.uuid.clone()));
            }
        }
        (gone, self.complete_receipts())
    }

    fn complete_receipts(&mut self) -> Vec<(String, Value)> {
        if self.receipts.iter().all(|receipt| !receipt.open.is_empty()) {
            return Vec::new();
        }
        let still_queued = self.queue.ids();
        let receipts = std::mem::take(&mut self.receipts);
        let (done, open): (Vec<_>, Vec<_>) = receipts.into_iter().partition(|receipt| receipt.open.is_empty());
        self.receipts = open;
        done.into_iter()
            .map(|receipt| {
                let answer = receipt.answer(&still_queued);
                (receipt.request, answer)
            })
            .collect()
    }
}

/// Whether the session has a message, or gave it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Consumed,
    Returned,
}

impl Core {
    /// Lets messages join the run that goes on, if there is one.
    pub(crate) fn offer_waiting(&self) {
        self.lock().offer(|| self.uuid());
    }

    /// Takes messages back that the session has: all of them or those with an id. Hands out the answers to the host
    /// that need not wait for the session.
    pub(crate) fn take_back(
        &self,
        request: &str,
        uuid: Option<&str>,
        order: Order,
        cancelled: Vec<String>,
    ) -> Vec<(String, Value)> {
        let mut state = self.lock();
        let forgets = order != (Order::Interrupt { cancels: false });
        let mut open = state.queue.ask_back(uuid, forgets);
        if let Some(live) = &state.session {
            for id in &open {
                // A session that is closed gives everything back.
                let _ = live.handle.withdraw(id.clone());
            }
        }
        if state.receipts.len() >= MAX_RECEIPTS {
            // It is answered with what is known.
            open.clear();
        }
        state.receipts.push(Receipt { request: request.to_owned(), open, cancelled, order });
        state.complete_receipts()
    }

    /// The session says what became of a message.
    pub(crate) async fn steered(&self, steered: &Steered) -> Result<(), Gone> {
        let Some(id) = &steered.id else { return Ok(()) };
        let (gone, answers, fate) = {
            let mut state = self.lock();
            let fate = match &steered.fate {
                SteeredFate::Joined { .. } => Fate::Consumed,
                // Its hooks may have failed only because the run was stopped: it may try again.
                SteeredFate::Blocked { .. } if !state.stopping => Fate::Consumed,
                _ => Fate::Returned,
            };
            let (gone, answers) = state.settle(id, fate);
            (gone, answers, fate)
        };
        match (&steered.fate, gone) {
            (SteeredFate::Joined { .. }, Some(waiting)) => self.joined(&waiting, id.as_str()).await?,
            (SteeredFate::Blocked { reason }, Some(waiting)) if fate == Fate::Consumed => {
                let text = format!("A message was kept out of the conversation: {reason}");
                let session_id = self.lock().session_id.clone();
                self.outbox.send(self.frames(|mapper, out| mapper.warn(&session_id, &text, out))).await?;
                self.say_lifecycle(waiting.uuid.as_deref(), Lifecycle::Cancelled).await?;
            }
            (_, Some(waiting)) => self.say_lifecycle(waiting.uuid.as_deref(), Lifecycle::Cancelled).await?,
            (_, None) => {}
        }
        self.give_receipts(answers).await?;
        if fate == Fate::Returned {
            // The turn before may be over already.
            self.advance();
            if !self.is_at_work() {
                self.say_idle().await?;
            }
            self.settled.notify_one();
        }
        Ok(())
    }

    async fn joined(&self, waiting: &Waiting, shown: &str) -> Result<(), Gone> {
        let bytes = self.taken(waiting, shown);
        if let Some(uuid) = waiting.uuid.clone() {
            self.frames(|mapper, _| mapper.joined(uuid.clone()));
            self.lock().joined.push(uuid);
        }
        self.outbox.send(bytes).await
    }

    /// Messages that joined a run which is over have their result.
    pub(crate) async fn complete_joined(&self) -> Result<(), Gone> {
        let joined = {
            let mut state = self.lock();
            state.stopping = false;
            state.queue.turn_over();
            std::mem::take(&mut state.joined)
        };
        for uuid in joined {
            self.say_lifecycle(Some(&uuid), Lifecycle::Completed).await?;
        }
        Ok(())
    }

    /// The session has ended: what it did not say is not said any more.
    pub(crate) async fn release_waiting(&self) -> Result<(), Gone> {
        let answers = {
            let mut state = self.lock();
            let mut answers = Vec::new();
            for id in state.queue.offered() {
                answers.extend(state.settle(&id, Fate::Returned).1);
            }
            answers
        };
        self.give_receipts(answers).await
    }

    pub(crate) async fn give_receipts(&self, answers: Vec<(String, Value)>) -> Result<(), Gone> {
        for (request, answer) in answers {
            self.reply(&request, Ok(Some(answer))).await?;
        }
        Ok(())
    }
}
