//! Tool calls of one assistant message: scheduling of their preparation, decision and execution.

mod call;
mod classify;
mod gate;
mod made;
mod pending;
mod review;
mod running;
mod waiting;

pub(crate) use call::Notes;

use crate::pending::not_awaited;
use crate::session::Session;
use crate::{EffectId, Input, UnfitInput, Unprepared};
use call::{Call, Cx, Settled, Stage, Step};
use review::Review;
use windlass_context::runtime_text;
use windlass_types::{
    ContentBlock, ContextChange, DecisionReason, EntryId, EntryKind, PromptCommand, StateChange, StopReason, ToolUse,
    ToolUseId,
};

/// Maximum number of tool calls of a message that are processed concurrently. The others wait until one of these is
/// answered.
const MAX_CONCURRENT_CALLS: usize = 32;

/// The tool calls of one assistant message, in call order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    calls: Vec<Call>,
    /// Indices of the calls in progress, in call order: neither settled nor done early.
    open: Vec<usize>,
    /// Index of the first call whose processing has not begun. Later calls wait behind it.
    next: usize,
    settled: usize,
    /// Number of calls whose changes of the session state were applied; a prefix of `calls`.
    applied: usize,
    /// `true` when the message is complete and stored. Calls that can have an effect wait for it. Until then the batch
    /// may be discarded.
    committed: bool,
    /// `true` when the user has stopped the run: open calls are being settled.
    interrupted: bool,
    /// Results of the calls for the run.
    pub(crate) notes: Notes,
    review: Review,
}

impl Batch {
    /// Appends a call. `malformed`: reason why its input cannot be parsed.
    pub(crate) fn push(&mut self, call: ToolUse, malformed: Option<String>) {
        let malformed = malformed.map(|error| Unprepared::new(DecisionReason::InvalidInput, error));
        self.calls.push(Call::new(call, malformed));
    }

    /// Returns the calls of a prompt. No message contains them, so none is awaited.
    pub(crate) fn of_prompt(calls: impl IntoIterator<Item = (ToolUse, Option<PromptCommand>)>) -> Self {
        let calls = calls.into_iter().map(|(call, command)| {
            let command = command.map(Box::new);
            Call { of_prompt: true, command, ..Call::new(call, None) }
        });
        Self { calls: calls.collect(), committed: true, ..Self::default() }
    }

    /// Returns the results of a prompt's calls in order, each with `true` if the call failed.
    pub(crate) fn given(&self) -> impl Iterator<Item = (bool, String)> {
        self.calls.iter().map(|call| match &call.stage {
            Stage::Settled(Settled { failed, given: Some(given), .. }) => (*failed, given.text()),
            _ => (true, String::new()),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// `true` if all calls are answered.
    pub(crate) fn is_done(&self) -> bool {
        self.committed && self.settled == self.calls.len() && !self.is_reviewed()
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    /// `true` if all calls failed.
    pub(crate) fn all_failed(&self) -> bool {
        let mut direct_calls = self.calls.iter().filter(|call| call.made.is_none());
        direct_calls.all(|call| matches!(call.stage, Stage::Settled(Settled { failed: true, .. })))
    }

    /// Assigns stored entries to the calls, and handles the stop reason of the message.
    pub(crate) fn belongs_to(
        &mut self,
        session: &mut Session,
        content: &[ContentBlock],
        lines: &[EntryId],
        stop_reason: &StopReason,
    ) {
        let is_call = |block: &ContentBlock| matches!(block, ContentBlock::ToolUse(_));
        let lines = content.iter().zip(lines).filter(|(block, _)| is_call(block));
        for (call, (_, line)) in self.calls.iter_mut().zip(lines) {
            call.line = Some(line.clone());
        }
        let unusable = |why: &str| Unprepared::new(DecisionReason::InvalidInput, why);
        let unusable_reason = match stop_reason {
            StopReason::Refusal | StopReason::ContentFilter => Some(runtime_text::REFUSED_CALL),
            StopReason::MalformedToolCall => Some(runtime_text::UNREADABLE_CALL),
            _ => None,
        };
        if let Some(why) = unusable_reason {
            self.each(session, |call, cx| call.make_unusable(cx, unusable(why)));
        } else if is_cut(stop_reason) && content.last().is_some_and(is_call) {
            let last = self.calls.len().saturating_sub(1);
            self.with(session, last, |call, cx| call.make_unusable(cx, unusable(runtime_text::CUT_CALL)));
        }
    }

    /// Continues all deferred calls: the message is complete and stored.
    pub(crate) fn commit(&mut self, session: &mut Session) {
        self.committed = true;
        self.each(session, Call::commit);
    }

    /// Discards the calls and their answers: the message is not part of the conversation any more.
    pub(crate) fn forget(&self, session: &mut Session) {
        self.review.forget(session);
        for call in &self.calls {
            call.forget(session);
        }
    }

    /// Prepares new calls and begins those that may begin.
    pub(crate) fn advance(&mut self, session: &mut Session) {
        let max_open = MAX_CONCURRENT_CALLS.max(session.config.limits.max_parallel_tools.saturating_mul(2));
        let mut next = 0;
        loop {
            self.open_more(max_open);
            let Some(index) = self.open.get(self.open.partition_point(|open| *open < next)).copied() else { break };
            next = index + 1;
            self.advance_call(session, index);
        }
        self.ask_about_all(session);
    }

    fn advance_call(&mut self, session: &mut Session, index: usize) {
        let Some(call) = self.calls.get(index) else { return };
        let (stopped, committed) = (call.stopping, self.committed);
        match &call.stage {
            Stage::New if self.interrupted || (stopped && !committed) => {}
            Stage::New => self.with(session, index, |call, cx| call.prepare(cx, false)),
            Stage::Unusable(why) if committed && !self.interrupted => {
                let why = why.clone();
                self.with(session, index, |call, cx| call.refuse(cx, why));
            }
            Stage::Allowed(Step::Ready, _) if !stopped => self.begin(session, index),
            _ => {}
        }
    }

    /// Begins an allowed call, unless another call or the log blocks it.
    fn begin(&mut self, session: &mut Session, index: usize) {
        let max_running = session.config.limits.max_parallel_tools.max(1);
        let Some(call) = self.calls.get(index) else { return };
        // Other calls wait until their intent is durable.
        let waits_for_log = call.only_reads() && session.out.is_behind();
        // A call that only makes other calls occupies no slot.
        let running = self.open_calls().filter(|(_, call)| call.has_begun() && !call.makes_calls()).count();
        let is_full = running >= max_running && !call.makes_calls();
        if waits_for_log || is_full || !self.is_clear(index) {
            return;
        }
        self.with(session, index, |call, cx| {
            if call.is_still_allowed(cx) {
                call.begin(cx);
            }
        });
    }

    /// `true` if no other call blocks this one: neither an earlier open call, nor a later one that has begun. (A later
    /// call may have begun before the input of this one was changed.)
    fn is_clear(&self, index: usize) -> bool {
        let Some(call) = self.calls.get(index) else { return false };
        // No earlier call was skipped, and no call beyond those in progress has begun.
        self.open_calls()
            .filter(|(other, later)| *other != index && (self.comes_before(*other, index) || later.has_begun()))
            .filter(|(_, other)| call.made.is_none() || !other.makes_calls())
            .all(|(_, other)| !other.conflicts_with(call))
    }

    fn open_calls(&self) -> impl Iterator<Item = (usize, &Call)> {
        self.open.iter().filter_map(|index| Some((*index, self.calls.get(*index)?)))
    }

    /// Starts processing further calls, up to `max_open` at a time.
    fn open_more(&mut self, max_open: usize) {
        if self.next >= self.calls.len() {
            return;
        }
        // A call whose permission request stays open occupies no slot.
        let waiting = self.open_calls().filter(|(_, call)| call.is_pending()).count();
        while self.open.len() - waiting < max_open
            && let Some(call) = self.calls.get(self.next)
        {
            // A call made by another call is in progress already.
            if let (false, Err(place)) = (call.is_settled(), self.open.binary_search(&self.next)) {
                self.open.insert(place, self.next);
            }
            self.next += 1;
        }
    }

    /// Applies a step to all calls, in call order.
    fn each(&mut self, session: &mut Session, step: impl Fn(&mut Call, &mut Cx<'_>)) {
        for index in 0..self.calls.len() {
            self.with(session, index, &step);
        }
    }

    /// Applies a step to a call, then records its stage and applies its changes.
    fn with(&mut self, session: &mut Session, index: usize, step: impl FnOnce(&mut Call, &mut Cx<'_>)) {
        let Some(call) = self.calls.get_mut(index) else { return };
        let was_settled = call.is_settled();
        let (committed, interrupted) = (self.committed, self.interrupted);
        step(call, &mut Cx { session, notes: &mut self.notes, committed, interrupted });
        let (is_open, is_settled) = (call.is_open(), call.is_settled());
        match self.open.binary_search(&index) {
            Ok(place) if !is_open => drop(self.open.remove(place)),
            Err(place) if is_open && index < self.next => self.open.insert(place, index),
            _ => {}
        }
        if is_settled && !was_settled {
            self.settled += 1;
            self.apply_changes(session);
        }
    }

    /// Applies the changes of settled calls, in call order.
    fn apply_changes(&mut self, session: &mut Session) {
        while let Some(Stage::Settled(settled)) = self.calls.get_mut(self.applied).map(|call| &mut call.stage) {
            self.applied += 1;
            for change in std::mem::take(&mut settled.changes) {
                self.apply_change(session, change);
            }
        }
    }

    fn apply_change(&mut self, session: &mut Session, change: ContextChange) {
        match change {
            ContextChange::Cwd(cwd) if cwd != session.state.cwd() => {
                let kind = EntryKind::Cwd(cwd.to_string_lossy().into_owned());
                session.record_change(kind, StateChange::Cwd { cwd });
                // Calls that have not begun were decided for another directory.
                for index in self.open.clone() {
                    self.with(session, index, Call::read_again);
                }
            }
            ContextChange::Todos(todos) => {
                session.record_change(EntryKind::Todos(todos.clone()), StateChange::Todos { todos });
            }
            ContextChange::StopTask(id) => self.notes.tasks_to_stop.push(id),
            ContextChange::Scope(scope) => {
                if let Err(error) = session.begin_scope(*scope) {
                    session.notice(format!("What a skill may do was left out: {error}"));
                }
            }
            _ => {}
        }
    }

    /// Prepares affected calls again after the tool set has changed. Answers about a tool, given or awaited, do not
    /// apply to another tool of the same name.
    pub(crate) fn tools_changed(&mut self, session: &mut Session) {
        for index in self.open.clone() {
            let Some(call) = self.calls.get(index) else { return };
            let now = session.offered(&call.original.name);
            if now.is_some() && call.tool().is_some_and(|before| Some(before) != now.as_ref()) {
                self.with(session, index, Call::read_again);
            }
        }
    }

    /// Stops running calls and waits for them; answers all others now. The user stopped the run.
    pub(crate) fn interrupt(&mut self, session: &mut Session) {
        if std::mem::replace(&mut self.interrupted, true) {
            return;
        }
        self.end_review(session);
        self.each(session, Call::interrupt);
    }

    /// Stops one call on behalf of the user; the run continues. Ids are unique in one message.
    pub(crate) fn stop(&mut self, session: &mut Session, id: &ToolUseId) {
        let is_open = |call: &Call| call.original.id == *id && !call.is_settled();
        if let Some(index) = self.calls.iter().position(is_open) {
            self.with(session, index, Call::stop);
            self.stop_made(session, id);
        }
    }

    /// Returns the index of the call that waits for an effect.
    fn waiting_for(&self, effect: EffectId) -> Option<usize> {
        self.open_calls().find(|(_, call)| call.waits_for() == Some(effect)).map(|(index, _)| index)
    }

    /// `true` if a call waits for the effect.
    pub(crate) fn waits_for(&self, effect: EffectId) -> bool {
        self.review.waits_for(effect) || self.waiting_for(effect).is_some()
    }

    /// `true` if the effect runs a call of a stored message. Background work of a prompt's calls does not continue.
    pub(crate) fn runs(&self, effect: EffectId) -> bool {
        self.committed && self.open_calls().any(|(_, call)| call.is_run_by(effect) && !call.of_prompt)
    }

    /// Applies an answer to an effect of a call.
    pub(crate) fn handle(&mut self, session: &mut Session, effect: EffectId, input: Input) -> Result<(), UnfitInput> {
        if let (true, Input::Hooked(_, outcome)) = (self.review.waits_for(effect), &input) {
            self.reviewed(session, outcome);
            return Ok(());
        }
        let index = self.waiting_for(effect).ok_or_else(|| not_awaited(effect, &input))?;
        if let Input::Made(_, number, tool, input) = input {
            self.make(session, (index, effect, number), tool, input);
            return Ok(());
        }
        let has_ended = matches!(input, Input::Ran(..));
        self.with(session, index, |call, cx| call.handle(cx, input));
        if has_ended && let Some(id) = self.calls.get(index).map(|call| call.original.id.clone()) {
            self.stop_made(session, &id);
        }
        if std::mem::take(&mut self.notes.interrupts) {
            self.interrupt(session);
        }
        Ok(())
    }

    /// Handles a durable append. If it was the intent of a call, the call continues.
    pub(crate) fn appended(&mut self, session: &mut Session, append: EffectId) {
        if let Some(index) = self.waiting_for(append) {
            self.with(session, index, Call::durable);
        }
    }
}

/// `true` if the message ended at a limit.
pub(crate) fn is_cut(stop_reason: &StopReason) -> bool {
    matches!(stop_reason, StopReason::MaxTokens | StopReason::ContextWindowExceeded)
}
