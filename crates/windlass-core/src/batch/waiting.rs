//! Calls whose agents wait for answers: they stay open like those with open requests, and continue with the agent.

use super::call::{Call, Consent, Cx, Read, Running, Settling, Stage};
use windlass_context::runtime_text;
use windlass_types::{Access, AgentIdentity, EntryId, EntryKind, ToolOutcome, WaitingAgent, WaitingCall};

impl Call {
    /// `true` if the call may stay open for an agent that it runs. It runs again then, so it must have no effect of its
    /// own.
    pub(super) fn may_wait_for_agents(&self, cx: &Cx<'_>, access: &Access) -> bool {
        *access == Access::Agents && self.waits(cx).is_some()
    }

    /// Records that an agent of the call is about to ask. The entry precedes the request, so that the answer counts
    /// even if the process ends meanwhile.
    pub(super) fn agent_asks(&mut self, cx: &mut Cx<'_>, identity: AgentIdentity) {
        let may_wait = |read: &Read| self.may_wait_for_agents(cx, &read.facts.access);
        if matches!(self.stage, Stage::Running(..)) && cx.committed && self.read().is_some_and(may_wait) {
            // The agent waits for the entry before it asks.
            self.recorded_waiting = None;
            self.record_waiting(cx, identity);
        }
    }

    /// Keeps the call open for its waiting agent, if it may. The entry precedes that of the end of the run, so it is
    /// durable when the host reads that the run waits.
    pub(super) fn agent_waits(&mut self, cx: &mut Cx<'_>, running: Running, waiting: Box<WaitingAgent>) {
        let is_stopped = self.stopping && !cx.interrupted;
        if !cx.committed || is_stopped || !self.may_wait_for_agents(cx, &running.allowed.read.facts.access) {
            self.waiting = None;
            let why = if is_stopped { runtime_text::AGENT_STOPPED } else { runtime_text::AGENT_GIVEN_UP };
            return self.review(cx, running, Box::new(ToolOutcome::error(why)));
        }
        self.record_waiting(cx, waiting.identity.clone());
        self.waiting = Some(waiting);
        // Earlier answers about the call were for one execution only.
        self.consent = Consent::default();
        self.stage = Stage::Pending(Some(running.allowed.read));
    }

    /// Answers the call in place of its agent, which is not continued.
    pub(super) fn give_up_agent(&mut self, cx: &mut Cx<'_>, why: &'static str) {
        self.waiting = None;
        self.settle(cx, ToolOutcome::error(why), Settling::Ended(None));
    }

    /// `true` if only the agent of the call waits, and no permission request about it.
    pub(super) fn only_waits_for_agent(&self) -> bool {
        matches!(self.stage, Stage::Pending(_)) && self.waiting.is_some() && self.consent.question.is_none()
    }

    /// Records that the call waits for an agent, unless the log has it already.
    fn record_waiting(&mut self, cx: &mut Cx<'_>, identity: AgentIdentity) {
        if self.recorded_waiting.as_ref() == Some(&identity.id) {
            return;
        }
        self.recorded_waiting = Some(identity.id.clone());
        let line = self.line.clone().unwrap_or_else(|| EntryId::from(""));
        let mut call = WaitingCall::new(self.original.id.clone(), line, identity);
        call.denied.clone_from(&cx.session.run.scope.denied);
        call.skills = cx.session.skills().into_iter().collect();
        let entry = cx.session.record(None, EntryKind::AgentWaits(call));
        cx.session.append(vec![entry]);
    }
}
