//! Calls made by a running call: they pass the same gate, and their results return to their maker.

use super::Batch;
use super::call::{Call, Cx, Maker, Settled, Settling, Stage};
use crate::session::Session;
use crate::{Effect, EffectId};
use windlass_context::runtime_text;
use windlass_types::{Access, EventKind, JsonText, MadeCall, ToolOutcome, ToolResult, ToolUse, ToolUseId};

/// Maximum number of calls that the calls of one message make together.
const MAX_CALLS: usize = 1_000;

impl Batch {
    /// Accepts a call made by a running call, or returns the reason why it is refused.
    pub(super) fn make(
        &mut self,
        session: &mut Session,
        (at, effect, number): (usize, EffectId, u64),
        tool: String,
        input: JsonText,
    ) {
        let Some(call) = self.calls.get(at) else { return };
        if let Some(why) = self.refusal(session, call, &tool) {
            let outcome = Box::new(ToolOutcome::error(why));
            session.effect(Effect::Return { to: effect, number, outcome });
            return;
        }
        let (maker, line) = (call.original.id.clone(), call.line.clone());
        let id = ToolUseId::from(format!("{}{maker}_{}", MadeCall::ID_PREFIX, self.calls.len()));
        let made = Some(Maker { effect, number, id: maker, at });
        let call = Call { made, line, ..Call::new(ToolUse::new(id, tool, input), None) };
        self.open.push(self.calls.len());
        self.calls.push(call);
    }

    /// Returns the reason to refuse a made call of this tool, if any.
    fn refusal(&self, session: &Session, maker: &Call, tool: &str) -> Option<String> {
        if self.interrupted || maker.stopping {
            return Some(runtime_text::CALL_STOPPED.to_owned());
        }
        if !self.committed || maker.of_prompt || !maker.makes_calls() {
            return Some(format!("{} cannot make calls of other tools here.", maker.original.name));
        }
        let is_structured_output = session.config.tools.structured_output.as_deref() == Some(tool);
        if tool == maker.original.name || is_structured_output {
            return Some(format!("{tool} cannot be called from {}.", maker.original.name));
        }
        let made = self.calls.iter().filter(|call| call.made.is_some()).count();
        (made >= MAX_CALLS).then(|| format!("The calls of one message make at most {MAX_CALLS} calls of other tools."))
    }

    /// `true` if the call must wait for the other one while that has not begun. A made call has the place of its maker.
    pub(super) fn comes_before(&self, other: usize, at: usize) -> bool {
        let maker = |at: usize| self.calls.get(at)?.made.as_ref().map(|maker| maker.at);
        match (maker(other), maker(at)) {
            (None, Some(maker)) => other < maker,
            _ => other < at,
        }
    }

    /// Stops the calls made by a call that has ended or is being stopped.
    pub(super) fn stop_made(&mut self, session: &mut Session, maker: &ToolUseId) {
        for at in self.open.clone() {
            if self.calls.get(at).and_then(|call| call.made.as_ref()).is_some_and(|made| made.id == *maker) {
                self.with(session, at, Call::stop);
            }
        }
    }
}

impl Call {
    /// `true` if the call does nothing but make calls of other tools.
    pub(super) fn makes_calls(&self) -> bool {
        self.read().is_some_and(|read| read.footprint == Access::Calls)
    }

    /// Answers a call to its maker. No message contains it, so the log has only its verdict.
    pub(super) fn settle_made(&mut self, cx: &mut Cx<'_>, mut outcome: ToolOutcome, how: Settling) {
        let Some(Maker { effect, number, .. }) = self.made.clone() else { return };
        let changes = std::mem::take(&mut outcome.changes);
        self.stage = Stage::Settled(Settled { failed: outcome.is_error, changes, given: None });
        cx.session.effect(Effect::Return { to: effect, number, outcome: Box::new(outcome.clone()) });
        let mut result = ToolResult::ok(self.original.id.clone(), outcome.content.clone());
        result.is_error = outcome.is_error;
        let mut finished = self.finished(result, &mut outcome);
        let (denied, verdict) = match how {
            Settling::Ended(verdict) => (None, verdict),
            Settling::Denied(decision, verdict) => (Some(decision), verdict),
            Settling::Unrun => (None, None),
        };
        finished.denied = denied;
        let append = verdict.map(|verdict| cx.session.append(vec![verdict]));
        cx.session.event(EventKind::ToolFinished(finished), append);
    }
}
