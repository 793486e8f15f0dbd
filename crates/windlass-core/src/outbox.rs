//! What waits to leave the machine.
//!
//! Effects leave at once. Events leave in order, and an event that tells the
//! host something that must not be lost waits until the entries that say it
//! are durable.

use crate::{Effect, EffectId, Output};
use std::collections::VecDeque;
use windlass_types::{Event, EventKind, RunId, SessionId};

#[derive(Debug)]
pub(crate) struct Outbox {
    session_id: SessionId,
    effects: VecDeque<(EffectId, Effect)>,
    events: VecDeque<Waiting>,
    last: VecDeque<Output>,
    durable: EffectId,
    next_seq: u64,
}

#[derive(Debug)]
struct Waiting {
    after: Option<EffectId>,
    run: RunId,
    turn: u32,
    kind: EventKind,
}

impl Outbox {
    pub(crate) fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            effects: VecDeque::new(),
            events: VecDeque::new(),
            last: VecDeque::new(),
            durable: EffectId(0),
            next_seq: 0,
        }
    }

    pub(crate) fn effect(&mut self, id: EffectId, effect: Effect) {
        self.effects.push_back((id, effect));
    }

    /// Queues an event; with `after`, until that append is durable.
    pub(crate) fn event(&mut self, run: RunId, turn: u32, kind: EventKind, after: Option<EffectId>) {
        self.events.push_back(Waiting { after, run, turn, kind });
    }

    /// Queues the end: it leaves when everything else has.
    pub(crate) fn last(&mut self, output: Output) {
        self.last.push_back(output);
    }

    /// An append is durable, and so are all before it.
    pub(crate) fn durable(&mut self, append: EffectId) {
        self.durable = self.durable.max(append);
    }

    /// Events that wait for durability will never get it: drop them.
    pub(crate) fn forget_unacknowledged(&mut self) {
        let durable = self.durable;
        self.events.retain(|event| event.after.is_none_or(|after| after <= durable));
    }

    pub(crate) fn poll(&mut self) -> Option<Output> {
        if let Some((id, effect)) = self.effects.pop_front() {
            return Some(Output::Effect(id, effect));
        }
        let ready = self.events.front().is_some_and(|event| event.after.is_none_or(|after| after <= self.durable));
        if ready && let Some(Waiting { run, turn, kind, .. }) = self.events.pop_front() {
            let seq = self.next_seq;
            self.next_seq += 1;
            return Some(Output::Event(Box::new(Event::new(seq, self.session_id.clone(), run, turn, kind))));
        }
        if self.events.is_empty() { self.last.pop_front() } else { None }
    }
}
