//! The gate of one call: reading it, asking hooks, deciding, asking the host.

use crate::batch::Stage;
use crate::machine::Phase;
use crate::{Effect, EffectId, Machine, Prepared, Unprepared};
use std::sync::Arc;
use windlass_context::runtime_text;
use windlass_types::text::sentence;
use windlass_types::{
    AuditedDecision, Behavior, Decision, DecisionReason, EntryKind, EventKind, HookCall, HookEventName, HookOutcome,
    JsonText, PermissionAnswer, PermissionRequest, PermissionUpdate, StateChange, Status, ToolOutcome, ToolSpec,
};

impl Machine {
    /// Reads a call, or reads it again because its input changed.
    pub(crate) fn prepare(&mut self, at: usize) {
        let cwd = self.state.cwd().to_path_buf();
        let Some(call) = self.batch.calls.get(at) else { return };
        let call = call.current();
        let tool = self.offered(&call.name);
        let effect = self.effect(Effect::Prepare { call, cwd });
        if let Some(call) = self.batch.calls.get_mut(at) {
            call.tool = tool;
            call.know(None);
            call.prepared = Some(effect);
        }
        self.batch.set_stage(at, Stage::Preparing(effect));
    }

    fn offered(&self, name: &str) -> Option<Arc<ToolSpec>> {
        self.config.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// Offers other tools. What was said, or is being asked, of a tool does not hold for another one of its name.
    pub(crate) fn set_tools(&mut self, tools: Arc<[Arc<ToolSpec>]>) {
        if self.policy.offer(&tools) {
            self.policy_epoch += 1;
        }
        self.config.tools = tools;
        for at in self.batch.open() {
            let Some(name) = self.batch.calls.get(at).map(|call| call.original.name.clone()) else { return };
            let now = self.offered(&name);
            let Some(call) = self.batch.calls.get(at) else { return };
            if now.is_some() && call.tool.is_some() && call.tool != now {
                self.read_again(at);
            }
        }
    }

    /// A call that has not begun is read and judged anew: what was said of it was said of another call.
    pub(crate) fn read_again(&mut self, at: usize) {
        let Some(call) = self.batch.calls.get_mut(at) else { return };
        let is_append = matches!(call.stage(), Stage::Intending(_));
        let pending = match *call.stage() {
            Stage::Preparing(effect)
            | Stage::Hooking(effect)
            | Stage::Asking(effect)
            | Stage::Intending(effect)
            | Stage::Snapshotting(effect) => Some(effect),
            Stage::Held | Stage::Ready => None,
            _ => return,
        };
        call.approved = None;
        call.approve_next = false;
        call.decision = None;
        call.hooked = false;
        call.hook_verdict = None;
        if let Some(effect) = pending.filter(|_| !is_append) {
            self.effect(Effect::Cancel(effect));
        }
        self.prepare(at);
    }

    /// A call was read, or cannot be.
    pub(crate) fn prepared(&mut self, effect: EffectId, result: Result<Box<Prepared>, Unprepared>) {
        let Some(at) = self.batch.waiting_for(effect) else { return };
        let Some(call) = self.batch.calls.get_mut(at) else { return };
        match result {
            Ok(prepared) => {
                let Prepared { facts, title, hinted_read_only } = *prepared;
                call.hinted_read_only = hinted_read_only;
                call.read_only = self.policy.is_proven_read_only(&facts);
                if std::mem::take(&mut call.approve_next) {
                    call.approved = Some(facts.digest.clone());
                }
                call.know(Some(facts));
                call.title = title;
                self.batch.set_stage(at, Stage::Held);
                self.judge(at);
            }
            Err(unprepared) if self.batch.committed => {
                let decision = Decision::new(Behavior::Deny, unprepared.reason, unprepared.text.clone());
                self.settle(at, ToolOutcome::error(unprepared.text), Some(decision), None);
            }
            Err(unprepared) => {
                call.unusable = Some(unprepared);
                self.batch.set_stage(at, Stage::New);
            }
        }
    }

    /// Decides on a call that was read.
    ///
    /// Before its message is complete only a call that is proven read-only, needs
    /// no question and concerns no hook gets further than being read.
    pub(crate) fn judge(&mut self, at: usize) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let Some(facts) = &call.facts else { return };
        let concerns_hooks = self.concerns_hooks(&call.original.name);
        if !self.batch.committed && (concerns_hooks || !call.read_only) {
            return;
        }
        if !call.hooked && self.config.listens(HookEventName::PreToolUse, Some(&call.original.name)) {
            return self.ask_hooks(at);
        }
        let decision = self.policy.decide(facts, call.hook_verdict.as_ref(), call.approved.as_ref());
        match decision.behavior {
            Behavior::Allow => {
                let epoch = self.policy_epoch;
                if let Some(call) = self.batch.calls.get_mut(at) {
                    call.decision = Some((decision, epoch));
                }
                self.batch.set_stage(at, Stage::Ready);
            }
            _ if !self.batch.committed => {}
            Behavior::Deny => self.deny(at, decision),
            Behavior::Ask if self.can_be_asked(at) => self.ask_host(at, decision),
            Behavior::Ask => self.deny(at, nobody_to_ask(decision)),
        }
    }

    /// Whether anybody is there to answer a question about a call.
    fn can_be_asked(&self, at: usize) -> bool {
        let tool = self.batch.calls.get(at).map(|call| call.original.name.as_str());
        self.config.can_ask || self.config.listens(HookEventName::PermissionRequest, tool)
    }

    /// Hooks were asked the question that the host was asked. What they said of
    /// it is part of the answer.
    pub(crate) fn asked_hooks(&mut self, effect: EffectId, outcome: &HookOutcome) {
        let Some(call) = self.batch.waiting_for(effect).and_then(|at| self.batch.calls.get(at)) else { return };
        let id = call.original.id.clone();
        self.hooks_ran(HookEventName::PermissionRequest, Some(id), outcome);
        self.add_context(outcome.additional_context.clone());
        self.stop_after_batch(outcome.stop.clone());
    }

    /// Whether any hook wants to hear of a tool.
    fn concerns_hooks(&self, tool: &str) -> bool {
        [HookEventName::PreToolUse, HookEventName::PostToolUse, HookEventName::PostToolUseFailure]
            .into_iter()
            .any(|event| self.config.listens(event, Some(tool)))
    }

    fn ask_hooks(&mut self, at: usize) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let occasion = HookCall::PreToolUse {
            tool_name: call.original.name.clone(),
            tool_input: call.input.clone(),
            tool_use_id: call.original.id.clone(),
        };
        let effect = self.run_hooks(occasion);
        self.batch.set_stage(at, Stage::Hooking(effect));
    }

    /// Hooks of a call answered: before it runs, or after.
    pub(crate) fn call_hooked(&mut self, at: usize, outcome: HookOutcome) {
        match self.batch.set_stage(at, Stage::Held) {
            Stage::Hooking(_) => {
                let Some(call) = self.batch.calls.get_mut(at) else { return };
                call.hooked = true;
                call.hook_verdict.clone_from(&outcome.verdict);
                let id = call.original.id.clone();
                let rewritten = outcome.updated_input.clone().filter(|input| *input != call.input);
                if let Some(input) = &rewritten {
                    call.input = input.clone();
                }
                self.hooks_ran(HookEventName::PreToolUse, Some(id), &outcome);
                self.add_context(outcome.additional_context);
                self.stop_after_batch(outcome.stop);
                if rewritten.is_some() { self.prepare(at) } else { self.judge(at) }
            }
            Stage::Reviewing(_, done) => self.reviewed(at, *done, outcome),
            other => drop(self.batch.set_stage(at, other)),
        }
    }

    pub(crate) fn stop_after_batch(&mut self, reason: Option<String>) {
        if let (Some(run), Some(reason)) = (&mut self.run, reason) {
            run.stopped_by.get_or_insert(reason);
        }
    }

    fn ask_host(&mut self, at: usize, decision: Decision) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let Some(facts) = &call.facts else { return };
        let mut request = PermissionRequest::new(call.current(), call.title.clone(), decision, facts.digest.clone());
        request.identity = self.agent().cloned();
        self.event(EventKind::PermissionRequested(request.clone()), None);
        let cwd = self.state.cwd().to_path_buf();
        let effect = self.effect(Effect::Ask { request: Box::new(request), cwd });
        if let Some(call) = self.batch.calls.get_mut(at) {
            call.asked = true;
        }
        self.batch.set_stage(at, Stage::Asking(effect));
    }

    /// The host answered.
    pub(crate) fn answered(&mut self, effect: EffectId, answer: PermissionAnswer) {
        let Some(at) = self.batch.waiting_for(effect) else { return };
        match answer {
            PermissionAnswer::Allow { updated_input, updates } => self.allowed(at, updated_input, &updates),
            PermissionAnswer::Deny { message, interrupt } => {
                self.deny(at, Decision::new(Behavior::Deny, DecisionReason::Host, message));
                if interrupt {
                    self.interrupt_tools();
                }
            }
            _ => self
                .deny(at, Decision::new(Behavior::Deny, DecisionReason::Host, "The host's answer was not understood.")),
        }
    }

    /// The host allowed exactly what it was shown, or an input of its own.
    /// Either is judged again: an answer lifts a question, never a deny.
    fn allowed(&mut self, at: usize, updated_input: Option<JsonText>, updates: &[PermissionUpdate]) {
        self.batch.set_stage(at, Stage::Held);
        let Some(call) = self.batch.calls.get_mut(at) else { return };
        let rewritten = updated_input.filter(|input| *input != call.input);
        match &rewritten {
            Some(input) => {
                call.input = input.clone();
                call.approve_next = true;
            }
            None => call.approved = call.facts.as_ref().map(|facts| facts.digest.clone()),
        }
        self.apply_updates(updates);
        if rewritten.is_some() { self.prepare(at) } else { self.judge(at) }
    }

    pub(crate) fn apply_updates(&mut self, updates: &[PermissionUpdate]) {
        let mode = self.policy.mode();
        for update in updates {
            // The mode of the session is the main agent's, who hears of it, too. This one's follows from that, and may
            // be narrower.
            if self.config.agent.is_some() && matches!(update, PermissionUpdate::SetMode { .. }) {
                continue;
            }
            let before = self.policy.mode();
            match self.policy.apply(update) {
                Ok(()) => {
                    self.policy_epoch += 1;
                    self.note_mode(before, self.policy.mode());
                }
                Err(error) => {
                    let message = format!("A permission update was ignored: {error}");
                    self.event(EventKind::Status(Status::Notice { message }), None);
                }
            }
        }
        let now = self.policy.mode();
        if now != mode {
            let entry = self.record(None, EntryKind::Mode(now));
            let append = self.append(vec![entry], true);
            self.event(EventKind::StateChanged(StateChange::PermissionMode { mode: now }), Some(append));
        }
    }

    /// Answers a call with the reason why it does not run.
    pub(crate) fn deny(&mut self, at: usize, decision: Decision) {
        let Some(call) = self.batch.calls.get(at) else { return };
        let (id, tool) = (call.original.id.clone(), call.original.name.clone());
        let digest = call.facts.as_ref().map(|facts| facts.digest.clone());
        let denial = windlass_types::PermissionDenial::new(&call.current());
        if let Some(run) = &mut self.run {
            run.denials.push(denial);
        }
        let audited = AuditedDecision::new(id.clone(), digest, decision.clone());
        let entry = self.record(None, EntryKind::Decision(audited));
        let append = self.append(vec![entry], true);
        self.event(EventKind::PermissionResolved { tool_use_id: id, tool, decision: decision.clone() }, Some(append));
        self.settle(at, ToolOutcome::error(decision.message.clone()), Some(decision), None);
    }

    /// Everything that was held back while the message was incomplete goes on.
    pub(crate) fn commit(&mut self) {
        self.phase = Phase::Tools;
        self.batch.committed = true;
        for at in 0..self.batch.calls.len() {
            let Some(call) = self.batch.calls.get(at) else { return };
            if call.unusable.is_some() {
                // It may have been read, or run, before its message turned out to be cut.
                let pending = call.waits_for();
                self.batch.set_stage(at, Stage::New);
                if let Some(effect) = pending {
                    self.effect(Effect::Cancel(effect));
                }
                continue;
            }
            let ran = call.is_running() || matches!(call.stage(), Stage::Early(_));
            let is_stopped = call.stopping && !ran;
            if ran {
                self.announce(at);
            }
            if is_stopped {
                self.settle_unrun(at, runtime_text::CALL_STOPPED);
                continue;
            }
            match self.batch.set_stage(at, Stage::Held) {
                Stage::Early(outcome) => self.review(at, *outcome),
                Stage::Held => self.judge(at),
                other => drop(self.batch.set_stage(at, other)),
            }
        }
    }
}

/// What would ask is denied when nobody is there.
fn nobody_to_ask(asked: Decision) -> Decision {
    let message = format!("{} Nobody is there to approve it, so it was denied.", sentence(&asked.message));
    let mut decision = Decision::new(Behavior::Deny, DecisionReason::NobodyToAsk, message);
    decision.rule = asked.rule;
    decision.protected = asked.protected;
    decision.blocked_path = asked.blocked_path;
    decision.suggestions = asked.suggestions;
    decision
}
