//! Queues of outputs that leave the machine.
//!
//! Effects leave at once. Events leave in order; an event that reports facts which must not be lost waits until their
//! entries are durable.

use crate::pending::Pending;
use crate::unsaved::UnsavedEntries;
use crate::{Effect, EffectId, Input, Output, UnfitInput, coalesce};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use windlass_types::{Event, EventKind, Outcome, RunFailure, RunFailureKind, RunId, SessionId, Status, Timestamp};

/// Queues of outputs that leave the machine.
#[derive(Debug)]
pub(crate) struct Outbox {
    session_id: SessionId,
    effects: VecDeque<(EffectId, Effect)>,
    pending: Pending,
    events: VecDeque<QueuedEvent>,
    /// Last output, which leaves after all events.
    last: Option<Output>,
    /// `true` when the last output was queued.
    ended: bool,
    /// Durable appends that are not answered yet.
    awaited: BTreeSet<EffectId>,
    /// Entries of all appends that are not answered yet.
    unsaved: UnsavedEntries,
    /// Last append that is durable.
    durable: Option<EffectId>,
    /// Last durable append that was handed out before the last request.
    before_request: Option<EffectId>,
    /// Silence of the log when it was reported to the host. `None`: the log has answered since.
    silence: Option<Duration>,
    next_seq: u64,
    /// Time of the events that are queued now.
    now: Timestamp,
    /// Notices for the host at the beginning of the next run.
    notices: Vec<String>,
}

/// Maximum number of notices that wait for a run.
const MAX_NOTICES: usize = 200;

/// A queued event. Boxed from the beginning: events are large, and moved often.
#[derive(Debug)]
struct QueuedEvent {
    after: Option<EffectId>,
    event: Box<Event>,
}

impl Outbox {
    pub(crate) fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            effects: VecDeque::new(),
            pending: Pending::default(),
            events: VecDeque::new(),
            last: None,
            ended: false,
            awaited: BTreeSet::new(),
            unsaved: UnsavedEntries::default(),
            durable: None,
            before_request: None,
            silence: None,
            next_seq: 0,
            now: Timestamp::default(),
            notices: Vec::new(),
        }
    }

    /// Sets the time of the events that are queued from now on.
    pub(crate) fn advance_clock(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Keeps a notice until the next run begins.
    pub(crate) fn keep_notice(&mut self, message: String) {
        if self.notices.len() < MAX_NOTICES {
            self.notices.push(message);
        }
    }

    pub(crate) fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Hands out an effect.
    pub(crate) fn effect(&mut self, effect: Effect) -> EffectId {
        if matches!(effect, Effect::CallModel(_)) {
            self.before_request = self.awaited.last().copied().or(self.durable);
        }
        let id = self.pending.add(&effect);
        if let Effect::Append { entries, .. } = &effect {
            self.unsaved.add(id, entries);
        }
        self.effects.push_back((id, effect));
        id
    }

    /// Ignores all further answers to this effect.
    pub(crate) fn forget(&mut self, effect: EffectId) {
        self.pending.forget(effect);
    }

    /// Returns `true` if an input is to be processed, `false` if it is late.
    pub(crate) fn admit(&mut self, input: &Input) -> Result<bool, UnfitInput> {
        self.pending.admit(input)
    }

    /// `true` if a durable append that was handed out before the last request is unanswered. Until it is answered, no
    /// request is sent, and no read-only call begins: a hanging disk stops the run after one more model request, so
    /// memory use is bounded.
    pub(crate) fn is_behind(&self) -> bool {
        self.awaited.first().is_some_and(|append| Some(*append) <= self.before_request)
    }

    /// Records the silence of the log. Returns `true` if the host should be told.
    pub(crate) fn silent_for(&mut self, silence: Duration) -> bool {
        let is_new = self.silence.is_none();
        self.silence.get_or_insert(silence);
        is_new
    }

    /// Ends the silence: the log has answered.
    pub(crate) fn heard(&mut self) {
        self.silence = None;
    }

    /// Reports the silence of the log, if there is one; the report passes all other events. `run`: the run of the
    /// report if no other event waits.
    pub(crate) fn report_silence(&mut self, run: Option<(RunId, u32)>) {
        let Some(silence) = self.silence else { return };
        let message = format!(
            "The session log has not answered for {} seconds: the disk may hang. The session waits for it.",
            silence.as_secs()
        );
        self.at_once(run, EventKind::Status(Status::Notice { message }));
    }

    /// Queues an event; with `after`, until that append is durable. Text and progress are coalesced with queued events.
    pub(crate) fn event(&mut self, run: RunId, turn: u32, kind: EventKind, after: Option<EffectId>) {
        let mut event = self.boxed(run, turn, kind);
        let waiting = self.events.iter_mut().rev().map(|waiting| (true, &mut waiting.event.kind));
        if !coalesce(waiting, &mut event.kind) {
            self.events.push_back(QueuedEvent { after, event });
        }
    }

    /// Returns an event of this session, which gets its sequence number when it leaves.
    fn boxed(&self, run: RunId, turn: u32, kind: EventKind) -> Box<Event> {
        let mut event = Event::new(0, self.session_id.clone(), run, turn, kind);
        event.at = self.now;
        Box::new(event)
    }

    /// Queues an event ahead of all others. It belongs to the run of the first queued event, else to the given one;
    /// without either it is dropped.
    fn at_once(&mut self, run: Option<(RunId, u32)>, kind: EventKind) {
        let first = self.events.front().map(|QueuedEvent { event, .. }| (event.run_id.clone(), event.turn));
        if let Some((run, turn)) = first.or(run) {
            let event = self.boxed(run, turn, kind);
            self.events.push_front(QueuedEvent { after: None, event });
        }
    }

    /// Returns the number of events that wait for the log, once all others have been taken out.
    pub(crate) fn backlog(&self) -> usize {
        self.events.len()
    }

    /// Queues the last output, which leaves after all others. Later calls are ignored.
    pub(crate) fn last(&mut self, output: Output) {
        if !std::mem::replace(&mut self.ended, true) {
            self.last = Some(output);
        }
    }

    /// Records that a durable append was handed out.
    pub(crate) fn await_durable(&mut self, append: EffectId) {
        self.awaited.insert(append);
    }

    /// Describes the unacknowledged entries in words; empty if there are none.
    pub(crate) fn unsaved(&self) -> String {
        self.unsaved.to_string()
    }

    /// Removes the entries of an answered append.
    pub(crate) fn saved(&mut self, append: EffectId) {
        self.unsaved.remove(append);
    }

    /// Records an answered append. Returns `true` if it is durable, and with it all earlier ones: one that was merely
    /// passed to the writer may still be lost.
    pub(crate) fn durable(&mut self, append: EffectId) -> bool {
        if !self.awaited.contains(&append) {
            return false;
        }
        while self.awaited.first().is_some_and(|first| *first <= append) {
            self.awaited.pop_first();
        }
        self.durable = self.durable.max(Some(append));
        true
    }

    /// Drops all events that wait for durability and later ones, whose causes the host never reads. Beginnings and ends
    /// of runs stay; the ends have the refusal as their reason.
    pub(crate) fn forget_unacknowledged(&mut self, refusal: &str) {
        let durable = self.durable;
        let mut refused = false;
        self.events.retain_mut(|QueuedEvent { after, event }| {
            refused |= *after > durable;
            if refused && let EventKind::RunFinished(result) = &mut event.kind {
                result.outcome = Outcome::Failed(RunFailure::new(RunFailureKind::Store, refusal));
                result.text.clear();
                *after = None;
                return true;
            }
            !refused || matches!(event.kind, EventKind::RunStarted(_))
        });
    }

    /// Returns the next output of a session.
    pub(crate) fn poll(&mut self) -> Option<Output> {
        if let Some((id, effect)) = self.effects.pop_front() {
            return Some(Output::Effect(id, effect));
        }
        if self.events.front().is_some_and(|event| event.after <= self.durable)
            && let Some(QueuedEvent { mut event, .. }) = self.events.pop_front()
        {
            event.seq = self.next_seq;
            self.next_seq += 1;
            return Some(Output::Event(event));
        }
        if self.events.is_empty() { self.last.take() } else { None }
    }
}
