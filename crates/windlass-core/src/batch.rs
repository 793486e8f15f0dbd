//! The tool calls of one assistant message.

use crate::{EffectId, Unprepared};
use std::sync::Arc;
use windlass_permission::CallFacts;
use windlass_types::{
    Access, CallDigest, ContextChange, Decision, EntryId, HookVerdict, JsonText, Timestamp, ToolOutcome, ToolSpec,
    ToolUse, ToolUseId,
};

/// The tool calls of one assistant message, in call order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) calls: Vec<Call>,
    /// Whether the message is complete and stored: calls that can have an
    /// effect wait for it, and without it nothing of the batch counts.
    pub(crate) committed: bool,
    /// Calls whose changes of the session's state were applied, a prefix.
    pub(crate) applied: usize,
    /// The calls that are looked at now, in call order: neither settled nor done early.
    open: Vec<usize>,
    /// The first call that was never looked at. What comes later waits behind it.
    next: usize,
    settled: usize,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    /// As the model wrote it.
    pub(crate) original: ToolUse,
    /// The input that would run: the model's, or what a hook or the host made of it.
    pub(crate) input: JsonText,
    /// The assistant line that holds the tool use, once the message is stored.
    pub(crate) line: Option<EntryId>,
    /// Changed by [`Batch::set_stage`] alone.
    stage: Stage,
    /// Why it cannot run at all, known before its message was complete.
    pub(crate) unusable: Option<Unprepared>,
    /// What was read of the current input.
    pub(crate) facts: Option<Box<CallFacts>>,
    /// What it touches, by resolved paths.
    footprint: Option<Access>,
    /// The effect that read it.
    pub(crate) prepared: Option<EffectId>,
    /// The tool that it was read for, if that was offered.
    pub(crate) tool: Option<Arc<ToolSpec>>,
    pub(crate) title: String,
    pub(crate) read_only: bool,
    /// Whether its tool says that it only reads: it may run beside readers, and nothing else follows.
    pub(crate) hinted_read_only: bool,
    /// Whether the hooks were asked, and what they said.
    pub(crate) hooked: bool,
    pub(crate) hook_verdict: Option<HookVerdict>,
    /// The exact call that somebody approved.
    pub(crate) approved: Option<CallDigest>,
    /// Somebody approved the input that is being read again.
    pub(crate) approve_next: bool,
    /// Whether the host was asked about it.
    pub(crate) asked: bool,
    /// The verdict that let it run, and the policy's epoch then.
    pub(crate) decision: Option<(Decision, u64)>,
    /// Whether the host was told that it runs.
    pub(crate) announced: bool,
    /// When it began to run.
    pub(crate) started: Timestamp,
    pub(crate) changes: Vec<ContextChange>,
    /// Whether the user stopped it, before or while it ran.
    pub(crate) stopping: bool,
    pub(crate) failed: bool,
}

/// Where a call is.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Nothing happened yet.
    New,
    /// It is being read.
    Preparing(EffectId),
    /// It was read; its judgement waits for the message.
    Held,
    /// Hooks are asked.
    Hooking(EffectId),
    /// The host is asked.
    Asking(EffectId),
    /// It may run, when nothing stands in its way.
    Ready,
    /// Its intent is being made durable.
    Intending(EffectId),
    /// Its files are being kept.
    Snapshotting(EffectId),
    /// It runs.
    Running(EffectId),
    /// It ran before its message was complete.
    Early(Box<ToolOutcome>),
    /// It ran; hooks are asked.
    Reviewing(EffectId, Box<ToolOutcome>),
    /// It is answered.
    Settled,
}

impl Call {
    pub(crate) fn new(original: ToolUse, unusable: Option<Unprepared>) -> Self {
        Self {
            input: original.input.clone(),
            original,
            line: None,
            stage: Stage::New,
            unusable,
            facts: None,
            footprint: None,
            prepared: None,
            tool: None,
            title: String::new(),
            read_only: false,
            hinted_read_only: false,
            hooked: false,
            hook_verdict: None,
            approved: None,
            approve_next: false,
            asked: false,
            decision: None,
            announced: false,
            started: Timestamp::default(),
            changes: Vec::new(),
            stopping: false,
            failed: false,
        }
    }

    /// The call with the input that would run.
    pub(crate) fn current(&self) -> ToolUse {
        ToolUse::new(self.original.id.clone(), self.original.name.clone(), self.input.clone())
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// It was read, or has to be read again.
    pub(crate) fn know(&mut self, facts: Option<CallFacts>) {
        self.footprint = facts.as_ref().map(footprint);
        self.facts = facts.map(Box::new);
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Settled)
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }

    /// Whether it is on its way to run: it takes a place among those that run
    /// at the same time, and what it touches is taken.
    pub(crate) fn has_begun(&self) -> bool {
        matches!(self.stage, Stage::Intending(_) | Stage::Snapshotting(_) | Stage::Running(_))
    }

    /// The effect that the call waits for, if it waits for one.
    pub(crate) fn waits_for(&self) -> Option<EffectId> {
        match self.stage {
            Stage::Preparing(id)
            | Stage::Hooking(id)
            | Stage::Asking(id)
            | Stage::Intending(id)
            | Stage::Snapshotting(id)
            | Stage::Running(id)
            | Stage::Reviewing(id, _) => Some(id),
            Stage::New | Stage::Held | Stage::Ready | Stage::Early(_) | Stage::Settled => None,
        }
    }

    /// Whether two calls must not run at the same time. A call that was not
    /// read yet stands in everybody's way.
    fn conflicts_with(&self, other: &Self) -> bool {
        let (Some(ours), Some(theirs)) = (&self.footprint, &other.footprint) else { return true };
        let reads = |call: &Self| call.read_only || call.hinted_read_only;
        if reads(self) && reads(other) {
            return false;
        }
        ours.conflicts_with(theirs)
    }
}

/// What a call touches, by resolved paths: two names of one file conflict.
fn footprint(facts: &CallFacts) -> Access {
    let resolved = || facts.paths.iter().map(|path| path.resolved.clone()).collect();
    match &facts.access {
        Access::Reads(paths) if !paths.is_empty() => Access::Reads(resolved()),
        Access::Writes(_) => Access::Writes(resolved()),
        other => other.clone(),
    }
}

impl Batch {
    /// Adds a call behind the others.
    pub(crate) fn push(&mut self, call: Call) {
        self.calls.push(call);
    }

    /// Moves a call on. Returns where it was.
    pub(crate) fn set_stage(&mut self, at: usize, stage: Stage) -> Stage {
        let Some(call) = self.calls.get_mut(at) else { return Stage::Settled };
        let is_open = !matches!(stage, Stage::Settled | Stage::Early(_));
        let (was_settled, is_settled) = (call.is_settled(), matches!(stage, Stage::Settled));
        let before = std::mem::replace(&mut call.stage, stage);
        if is_settled && !was_settled {
            self.settled += 1;
        }
        match self.open.binary_search(&at) {
            Ok(place) if !is_open => drop(self.open.remove(place)),
            Err(place) if is_open && at < self.next => self.open.insert(place, at),
            _ => {}
        }
        before
    }

    /// Looks at more calls, up to so many at a time.
    pub(crate) fn look_at_more(&mut self, most: usize) {
        while self.open.len() < most
            && let Some(call) = self.calls.get(self.next)
        {
            if !call.is_settled() {
                self.open.push(self.next);
            }
            self.next += 1;
        }
    }

    /// The first call from this one on that is looked at.
    pub(crate) fn open_from(&self, at: usize) -> Option<usize> {
        self.open.get(self.open.partition_point(|open| *open < at)).copied()
    }

    /// The calls that are looked at.
    pub(crate) fn open(&self) -> Vec<usize> {
        self.open.clone()
    }

    fn open_calls(&self) -> impl Iterator<Item = (usize, &Call)> {
        self.open.iter().filter_map(|at| Some((*at, self.calls.get(*at)?)))
    }

    /// The call that waits for an effect.
    pub(crate) fn waiting_for(&self, effect: EffectId) -> Option<usize> {
        self.open_calls().find(|(_, call)| call.waits_for() == Some(effect)).map(|(at, _)| at)
    }

    /// The call that an id names; ids are unique in one message, and of equal
    /// ones the first that is still open counts.
    pub(crate) fn open_call(&self, id: &ToolUseId) -> Option<usize> {
        self.calls.iter().position(|call| call.original.id == *id && !call.is_settled())
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled == self.calls.len()
    }

    /// How many calls are on their way to run, or run.
    pub(crate) fn begun(&self) -> usize {
        self.open_calls().filter(|(_, call)| call.has_begun()).count()
    }

    /// Whether nothing stands in the way of a call: no call before it that is
    /// still open, and no call behind it that has begun. (A later call may have
    /// begun before the input of this one was changed.)
    pub(crate) fn is_clear(&self, at: usize) -> bool {
        let Some(call) = self.calls.get(at) else { return false };
        // Of the calls before it none was passed over, and none behind those that are looked at has begun.
        self.open_calls()
            .filter(|(other, later)| *other < at || (*other > at && later.has_begun()))
            .all(|(_, other)| !other.conflicts_with(call))
    }
}
