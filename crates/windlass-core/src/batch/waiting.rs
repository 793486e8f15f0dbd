//! Calls whose agents wait for answers: they stay open as those do whose own questions wait, and continue with the agent.

use super::call::{Call, Consent, Cx, Read, Running, Settling, Stage};
use windlass_context::runtime_text;
use windlass_types::{Access, AgentIdentity, EntryId, EntryKind, ToolOutcome, WaitingAgent, WaitingCall};

impl Call {
    /// Whether it may stay open for an agent that it runs. It runs again then, so it must have no effect of its own.
    pub(super) fn may_wait_for_agents(&self, cx: &Cx<'_>, access: &Access) -> bool {
        *access == Access::Agents && self.waits(cx).is_some()
    }

    /// An agent that it runs is about to ask. The log says so before the question is put, so that the answer counts whatever
    /// happens to the process meanwhile.
    pub(super) fn agent_asks(&mut self, cx: &mut Cx<'_>, identity: AgentIdentity) {
        let may_wait = |read: &Read| self.may_wait_for_agents(cx, &read.facts.access);
        if matches!(self.stage, Stage::Running(..)) && cx.committed && self.read().is_some_and(may_wait) {
            // Who asks waits for the entry.
            self.recorded_waiting = None;
            self.record_waiting(cx, identity);
        }
    }

    /// An agent that it has run waits for answers: it stays open for it, if it may. The entry stands before that of the end of
    /// the run, so it is durable when the host reads that the run waits.
    pub(super) fn agent_waits(&mut self, cx: &mut Cx<'_>, running: Running, waiting: Box<WaitingAgent>) {
        let is_stopped = self.stopping && !cx.interrupted;
        if !cx.committed || is_stopped || !self.may_wait_for_agents(cx, &running.allowed.read.facts.access) {
            self.waiting = None;
            let why = if is_stopped { runtime_text::AGENT_STOPPED } else { runtime_text::AGENT_GIVEN_UP };
            return self.review(cx, running, Box::new(ToolOutcome::error(why)));
        }
        self.record_waiting(cx, waiting.identity.clone());
        self.waiting = Some(waiting);
        // What was answered about the call was for this once.
        self.consent = Consent::default();
        self.stage = Stage::Pending(Some(running.allowed.read));
    }

    /// Answers it in place of its agent, which is not continued.
    pub(super) fn give_up_agent(&mut self, cx: &mut Cx<'_>, why: &'static str) {
        self.waiting = None;
        self.settle(cx, ToolOutcome::error(why), Settling::Ended(None));
    }

    /// Whether only its agent waits, and not a question about it.
    pub(super) fn only_waits_for_agent(&self) -> bool {
        matches!(self.stage, Stage::Pending(_)) && self.waiting.is_some() && self.consent.question.is_none()
    }

    /// Records that it waits for an agent, unless the log says so already.
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
