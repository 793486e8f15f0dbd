//! What waits to leave the machine.
//!
//! Effects leave at once. Events leave in order, and an event that reports to the host
//! what must not be lost waits until the entries that hold it are durable.

use crate::pending::Pending;
use crate::unsaved::UnsavedEntries;
use crate::{Effect, EffectId, Input, Output, UnfitInput, coalesce};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use windlass_types::{Event, EventKind, Outcome, RunFailure, RunFailureKind, RunId, SessionId, Status};

/// What waits to leave the machine.
#[derive(Debug)]
pub(crate) struct Outbox {
    session_id: SessionId,
    effects: VecDeque<(EffectId, Effect)>,
    pending: Pending,
    events: VecDeque<Waiting>,
    /// Leaves after all events.
    last: Option<Output>,
    /// Whether the last output was queued.
    ended: bool,
    /// Durable appends that are not answered yet.
    awaited: BTreeSet<EffectId>,
    /// The entries of all appends that are not answered yet.
    unsaved: UnsavedEntries,
    /// The last append that is durable.
    durable: Option<EffectId>,
    /// The last durable append that was handed out before the last request.
    before_request: Option<EffectId>,
    /// For how long the log had been silent when the host read of it. `None`: it has answered since.
    silence: Option<Duration>,
    next_seq: u64,
    /// What the host reads when the next run begins.
    notices: Vec<String>,
}

/// Most notices that wait for a run.
const MOST_NOTICES: usize = 200;

/// An event that waits to leave. Boxed from the beginning: events are large, and moved often.
#[derive(Debug)]
struct Waiting {
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
            notices: Vec::new(),
        }
    }

    /// Keeps a notice until the next run begins.
    pub(crate) fn keep_notice(&mut self, message: String) {
        if self.notices.len() < MOST_NOTICES {
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

    /// No answer of this effect counts any more.
    pub(crate) fn forget(&mut self, effect: EffectId) {
        self.pending.forget(effect);
    }

    /// Whether an input counts.
    pub(crate) fn admit(&mut self, input: &Input) -> Result<bool, UnfitInput> {
        self.pending.admit(input)
    }

    /// Whether a durable append that was handed out before the last request is unanswered. While that is so, no
    /// request is sent, and no call that reads begins: a disk that hangs stops the run after one more model call, and
    /// what waits in memory is bounded.
    pub(crate) fn is_behind(&self) -> bool {
        self.awaited.first().is_some_and(|append| Some(*append) <= self.before_request)
    }

    /// The log has not answered for this long. Returns whether the host should read of it.
    pub(crate) fn silent_for(&mut self, silence: Duration) -> bool {
        let is_new = self.silence.is_none();
        self.silence.get_or_insert(silence);
        is_new
    }

    /// The log has answered.
    pub(crate) fn heard(&mut self) {
        self.silence = None;
    }

    /// Reports that the log does not answer, if it does not: all other events wait for that. `run`: the run that this
    /// belongs to if no other event waits.
    pub(crate) fn report_silence(&mut self, run: Option<(RunId, u32)>) {
        let Some(silence) = self.silence else { return };
        let message = format!(
            "The session log has not answered for {} seconds: the disk may hang. The session waits for it.",
            silence.as_secs()
        );
        self.at_once(run, EventKind::Status(Status::Notice { message }));
    }

    /// Queues an event; with `after`, until that append is durable. Text and progress join what waits already.
    pub(crate) fn event(&mut self, run: RunId, turn: u32, kind: EventKind, after: Option<EffectId>) {
        let mut event = self.boxed(run, turn, kind);
        let waiting = self.events.iter_mut().rev().map(|waiting| (true, &mut waiting.event.kind));
        if !coalesce(waiting, &mut event.kind) {
            self.events.push_back(Waiting { after, event });
        }
    }

    /// An event of this session, which gets its number when it leaves.
    fn boxed(&self, run: RunId, turn: u32, kind: EventKind) -> Box<Event> {
        Box::new(Event::new(0, self.session_id.clone(), run, turn, kind))
    }

    /// Queues an event that passes all that wait. It belongs to the run of the first event that waits, else to this
    /// one; without either it is dropped.
    fn at_once(&mut self, run: Option<(RunId, u32)>, kind: EventKind) {
        let first = self.events.front().map(|Waiting { event, .. }| (event.run_id.clone(), event.turn));
        if let Some((run, turn)) = first.or(run) {
            let event = self.boxed(run, turn, kind);
            self.events.push_front(Waiting { after: None, event });
        }
    }

    /// How many events wait until the log has answered, once all others have been taken out.
    pub(crate) fn backlog(&self) -> usize {
        self.events.len()
    }

    /// Queues the last output: it leaves after all others. Only the first one counts.
    pub(crate) fn last(&mut self, output: Output) {
        if !std::mem::replace(&mut self.ended, true) {
            self.last = Some(output);
        }
    }

    /// An append that is to be durable was handed out.
    pub(crate) fn await_durable(&mut self, append: EffectId) {
        self.awaited.insert(append);
    }

    /// The entries that the log has not answered for, in words; empty if there are none.
    pub(crate) fn unsaved(&self) -> String {
        self.unsaved.to_string()
    }

    /// An append was answered.
    pub(crate) fn saved(&mut self, append: EffectId) {
        self.unsaved.remove(append);
    }

    /// An append was answered. Returns whether it is durable, and with it all
    /// before it: one that was merely handed to the writer may still be lost.
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

    /// Events that wait for durability will never get it, and later ones would report things whose cause the host
    /// never reads. All are dropped but the beginnings and ends of runs; the ends have the refusal as their reason.
    pub(crate) fn forget_unacknowledged(&mut self, refusal: &str) {
        let durable = self.durable;
        let mut refused = false;
        self.events.retain_mut(|Waiting { after, event }| {
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

    /// The next output of a session.
    pub(crate) fn poll(&mut self) -> Option<Output> {
        if let Some((id, effect)) = self.effects.pop_front() {
            return Some(Output::Effect(id, effect));
        }
        if self.events.front().is_some_and(|event| event.after <= self.durable)
            && let Some(Waiting { mut event, .. }) = self.events.pop_front()
        {
            event.seq = self.next_seq;
            self.next_seq += 1;
            return Some(Output::Event(event));
        }
        if self.events.is_empty() { self.last.take() } else { None }
    }
}
