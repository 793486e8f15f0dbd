//! What waits to leave the machine.
//!
//! Effects leave at once. Events leave in order, and an event that tells the
//! host something that must not be lost waits until the entries that say it
//! are durable.

use crate::{Effect, EffectId, Output};
use std::collections::{BTreeSet, VecDeque};
use windlass_types::{Event, EventKind, Outcome, RunFailure, RunFailureKind, RunId, SessionId};

#[derive(Debug)]
pub(crate) struct Outbox {
    session_id: SessionId,
    effects: VecDeque<(EffectId, Effect)>,
    events: VecDeque<Waiting>,
    last: Last,
    /// Durable appends that are not answered yet.
    awaited: BTreeSet<EffectId>,
    durable: EffectId,
    next_seq: u64,
}

/// The end of the session.
#[derive(Debug)]
enum Last {
    NotYet,
    Waiting(Output),
    Said,
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
            last: Last::NotYet,
            awaited: BTreeSet::new(),
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

    /// Whether the host has yet to hear of something.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Queues the end: it leaves when everything else has. There is one.
    pub(crate) fn last(&mut self, output: Output) {
        if matches!(self.last, Last::NotYet) {
            self.last = Last::Waiting(output);
        }
    }

    /// An append that is to be durable was handed out.
    pub(crate) fn await_durable(&mut self, append: EffectId) {
        self.awaited.insert(append);
    }

    /// An append was answered. Returns whether it is durable, and with it all
    /// before it: of one that was merely handed to the writer this says nothing.
    pub(crate) fn durable(&mut self, append: EffectId) -> bool {
        if !self.awaited.contains(&append) {
            return false;
        }
        self.awaited = self.awaited.split_off(&EffectId(append.0.saturating_add(1)));
        self.durable = self.durable.max(append);
        true
    }

    /// Events that wait for durability will never get it, and what follows them
    /// would tell of things whose cause the host never hears of: all are dropped
    /// but the beginnings of runs and their ends, which the refusal now is.
    pub(crate) fn forget_unacknowledged(&mut self, refusal: &str) {
        let durable = self.durable;
        let mut refused = false;
        self.events.retain_mut(|event| {
            refused |= event.after.is_some_and(|after| after > durable);
            if refused && let EventKind::RunFinished(result) = &mut event.kind {
                result.outcome = Outcome::Failed(RunFailure::new(RunFailureKind::Store, refusal));
                result.text.clear();
                event.after = None;
                return true;
            }
            !refused || matches!(event.kind, EventKind::RunStarted(_))
        });
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
        if self.events.is_empty() && matches!(self.last, Last::Waiting(_)) {
            let Last::Waiting(output) = std::mem::replace(&mut self.last, Last::Said) else { return None };
            return Some(output);
        }
        None
    }
}
