//! What waits to leave the machine.
//!
//! Effects leave at once. Events leave in order, and an event that tells the
//! host something that must not be lost waits until the entries that say it
//! are durable.

use crate::{Effect, EffectId, Output, coalesce};
use std::collections::{BTreeSet, VecDeque};
use windlass_types::{Event, EventKind, Outcome, RunFailure, RunFailureKind, RunId, SessionId};

#[derive(Debug)]
pub(crate) struct Outbox {
    session_id: SessionId,
    effects: VecDeque<(EffectId, Effect)>,
    events: VecDeque<Waiting>,
    /// Events that wait for none of the others.
    at_once: VecDeque<Waiting>,
    last: Last,
    /// Durable appends that are not answered yet.
    pub(crate) awaited: BTreeSet<EffectId>,
    pub(crate) durable: EffectId,
    /// The last durable append that was handed out before the last request.
    pub(crate) before_request: EffectId,
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
            at_once: VecDeque::new(),
            last: Last::NotYet,
            awaited: BTreeSet::new(),
            durable: EffectId(0),
            before_request: EffectId(0),
            next_seq: 0,
        }
    }

    pub(crate) fn effect(&mut self, id: EffectId, effect: Effect) {
        self.effects.push_back((id, effect));
    }

    /// Queues an event; with `after`, until that append is durable. Text and progress join what waits already.
    pub(crate) fn event(&mut self, run: RunId, turn: u32, kind: EventKind, after: Option<EffectId>) {
        let waiting = self.events.iter_mut().rev().map(|waiting| (true, &mut waiting.kind));
        if let Some(kind) = coalesce(waiting, kind) {
            self.events.push_back(Waiting { after, run, turn, kind });
        }
    }

    /// Queues an event that passes all that wait. It belongs to the run that the host hears of next, else to this
    /// one; without either it is dropped.
    pub(crate) fn at_once(&mut self, run: Option<(RunId, u32)>, kind: EventKind) {
        let first = self.events.front().map(|waiting| (waiting.run.clone(), waiting.turn));
        if let Some((run, turn)) = first.or(run) {
            self.at_once.push_back(Waiting { after: None, run, turn, kind });
        }
    }

    /// How many events wait until the log has answered, once all others have been taken out.
    pub(crate) fn backlog(&self) -> usize {
        self.events.len()
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
        while self.awaited.first().is_some_and(|first| *first <= append) {
            self.awaited.pop_first();
        }
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
        let next = match self.at_once.pop_front() {
            None if ready => self.events.pop_front(),
            next => next,
        };
        if let Some(Waiting { run, turn, kind, .. }) = next {
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
