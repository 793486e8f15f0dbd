//! Gate of one call: preparation, hooks, decision, permission request.

use super::call::{Allowed, Call, Cx, Preparing, Read, Settling, SkillHooks, Stage, Step, footprint};
use crate::{Effect, EffectId, Prepared, Unprepared};
use windlass_context::{foreign_text, runtime_text, withheld_call};
use windlass_types::hook::event::{PreSkillShellCommand, PreToolUse};
use windlass_types::text::sentence;
use windlass_types::{
    AnsweredBy, AuditedAnswer, AuditedDecision, Behavior, Decision, DecisionReason, Entry, EntryKind, EventKind,
    HookEventName, HookOutcome, InputChange, InputChangedBy, JsonText, PendingQuestion, PermissionAnswer,
    PermissionDenial, PermissionGroup, PermissionRequest, PermissionUpdate, PromptCommand, ToolOutcome,
};

impl Call {
    /// Prepares the call, or prepares it again because its input changed. `approves`: the host approved this input.
    pub(super) fn prepare(&mut self, cx: &mut Cx<'_>, approves: bool) {
        if cx.session.withholds(&self.original.name) {
            let text = withheld_call(&self.original.name);
            return self.cannot_run(cx, Unprepared::new(DecisionReason::UnknownTool, text));
        }
        let tool = cx.session.offered(&self.original.name);
        let cwd = cx.session.state.cwd().to_path_buf();
        let effect = cx.session.effect(Effect::Prepare { call: self.current(), cwd });
        self.stage = Stage::Preparing(effect, Preparing { tool, approves });
    }

    /// Prepares a call again that has not begun, and decides on it anew: earlier answers do not apply to it.
    pub(super) fn read_again(&mut self, cx: &mut Cx<'_>) {
        let is_unstarted = matches!(
            self.stage,
            Stage::Preparing(..)
                | Stage::Held(_)
                | Stage::Hooking(..)
                | Stage::Classifying(..)
                | Stage::Keeping(..)
                | Stage::Asking(..)
                | Stage::Pending(_)
                | Stage::Allowed(..)
        );
        if !is_unstarted || self.only_waits_for_agent() {
            return;
        }
        if let Some(effect) = self.cancellable() {
            cx.session.cancel(effect);
        }
        self.consent.hooks_asked = false;
        self.consent.skill_hooks = SkillHooks::Unasked;
        self.consent.hook_verdict = None;
        self.consent.approved = None;
        self.prepare(cx, false);
    }

    /// Handles the result of the preparation.
    pub(super) fn prepared(
        &mut self,
        cx: &mut Cx<'_>,
        effect: EffectId,
        preparing: Preparing,
        result: Result<Box<Prepared>, Unprepared>,
    ) {
        match result {
            Ok(prepared) => {
                let Prepared { facts, title, hinted_read_only, edits } = *prepared;
                if facts.input != self.input {
                    self.replace_input(InputChangedBy::Schema, facts.input.clone());
                }
                if preparing.approves {
                    self.consent.approved = Some(facts.digest.clone());
                }
                let read_only = cx.session.rights.policy.is_proven_read_only(&facts);
                let footprint = footprint(&facts);
                let tool = preparing.tool;
                let read = Read { facts, footprint, title, read_only, hinted_read_only, edits, prepared: effect, tool };
                self.judge(cx, Box::new(read));
            }
            Err(unprepared) => self.cannot_run(cx, unprepared),
        }
    }

    /// Answers a call that cannot run, once its message is complete.
    fn cannot_run(&mut self, cx: &mut Cx<'_>, why: Unprepared) {
        if cx.committed { self.refuse(cx, why) } else { self.stage = Stage::Unusable(why) }
    }

    /// Answers a call that cannot run.
    pub(super) fn refuse(&mut self, cx: &mut Cx<'_>, unprepared: Unprepared) {
        let decision = Decision::new(Behavior::Deny, unprepared.reason, unprepared.text.clone());
        let verdict = self.record_verdict(cx, None, &decision);
        self.settle(cx, ToolOutcome::error(unprepared.text), Settling::Denied(decision, Some(verdict)));
    }

    /// Decides on a prepared call.
    ///
    /// Before its message is complete, a call stays at this stage unless it is proven read-only, needs no permission
    /// request and concerns no hook.
    pub(super) fn judge(&mut self, cx: &mut Cx<'_>, read: Box<Read>) {
        let (config, name) = (&cx.session.config, self.original.name.as_str());
        let concerns_hooks = [HookEventName::PreToolUse, HookEventName::PostToolUse, HookEventName::PostToolUseFailure]
            .into_iter()
            .any(|event| config.listens(event, Some(name)));
        if !cx.committed && (concerns_hooks || !read.read_only) {
            self.stage = Stage::Held(read);
            return;
        }
        if self.consent.skill_hooks == SkillHooks::Unasked
            && let Some(command) = &self.command
            && config.listens(HookEventName::PreSkillShellCommand, Some(name))
        {
            let command = PromptCommand::clone(command);
            return self.ask_skill_hooks(cx, read, command);
        }
        if !self.consent.hooks_asked && config.listens(HookEventName::PreToolUse, Some(name)) {
            return self.ask_hooks(cx, read);
        }
        let (verdict, approved) = (self.consent.hook_verdict.as_ref(), self.consent.approved.as_ref());
        let decision = cx.session.rights.policy.decide(&read.facts, verdict, approved);
        let decision = match self.with_classifier(cx, &read, decision) {
            Ok(decision) => decision,
            Err(undecided) => return self.classify(cx, read, &undecided),
        };
        let can_ask = config.listeners.can_ask
            || self.waits(cx).is_some()
            || config.listens(HookEventName::PermissionRequest, Some(name));
        match decision.behavior {
            Behavior::Allow => {
                let epoch = cx.session.rights.epoch;
                self.stage = Stage::Allowed(Step::Ready, Allowed { read, decision, epoch });
            }
            _ if !cx.committed => self.stage = Stage::Held(read),
            Behavior::Deny => self.deny(cx, &read, decision),
            Behavior::Ask if verdict.is_some_and(|verdict| verdict.defers) => self.defer(cx, read, decision),
            Behavior::Ask if can_ask => self.ask_host(cx, read, decision),
            Behavior::Ask => {
                let denied = denied_unasked(cx, decision);
                self.deny(cx, &read, denied);
            }
        }
    }

    /// `true` if the decision on the call holds under the current policy. A call that was allowed before the policy
    /// changed is decided again.
    pub(super) fn is_still_allowed(&mut self, cx: &mut Cx<'_>) -> bool {
        let Stage::Allowed(step, allowed) = &self.stage else { return false };
        if allowed.epoch == cx.session.rights.epoch {
            return true;
        }
        let former_step = *step;
        let Stage::Allowed(_, Allowed { mut read, .. }) = std::mem::take(&mut self.stage) else { return false };
        read.read_only = cx.session.rights.policy.is_proven_read_only(&read.facts);
        self.judge(cx, read);
        match &mut self.stage {
            Stage::Allowed(step, _) => {
                *step = former_step;
                true
            }
            _ => false,
        }
    }

    fn ask_skill_hooks(&mut self, cx: &mut Cx<'_>, read: Box<Read>, command: PromptCommand) {
        let effect = cx.session.run_hooks(PreSkillShellCommand {
            tool_name: self.original.name.clone(),
            tool_input: self.input.clone(),
            tool_use_id: self.original.id.clone(),
            command_name: command.name,
            command_source: command.source,
            invoked_by: "user".to_owned(),
        });
        self.consent.skill_hooks = SkillHooks::Asked;
        self.stage = Stage::Hooking(effect, read);
    }

    /// Handles the outcome of PreSkillShellCommand hooks: anything but an allow of the unchanged call stops it.
    fn skill_hooked(&mut self, cx: &mut Cx<'_>, read: Box<Read>, mut outcome: HookOutcome) {
        self.hooks_ran(cx, HookEventName::PreSkillShellCommand, &mut outcome);
        self.consent.skill_hooks = SkillHooks::Passed;
        let stopped =
            outcome.verdict.filter(|verdict| verdict.behavior != Behavior::Allow).map(|verdict| verdict.reason);
        let changed = outcome.updated_input.map(|_| "a hook wanted another command, which is not run here".to_owned());
        match stopped.or(changed) {
            Some(reason) => self.deny(cx, &read, Decision::new(Behavior::Deny, DecisionReason::Hook, reason)),
            None => self.judge(cx, read),
        }
    }

    fn ask_hooks(&mut self, cx: &mut Cx<'_>, read: Box<Read>) {
        let effect = cx.session.run_hooks(PreToolUse {
            tool_name: self.original.name.clone(),
            tool_input: self.input.clone(),
            tool_use_id: self.original.id.clone(),
        });
        self.stage = Stage::Hooking(effect, read);
    }

    /// Handles the outcome of PreToolUse hooks.
    pub(super) fn hooked(&mut self, cx: &mut Cx<'_>, read: Box<Read>, mut outcome: HookOutcome) {
        if self.consent.skill_hooks == SkillHooks::Asked {
            return self.skill_hooked(cx, read, outcome);
        }
        self.hooks_ran(cx, HookEventName::PreToolUse, &mut outcome);
        self.consent.hooks_asked = true;
        self.consent.hook_verdict = outcome.verdict;
        let input = outcome.updated_input.filter(|input| *input != self.input);
        self.judge_as(cx, read, input, false);
    }

    /// Reports hook outcomes, and notes their further effects.
    pub(super) fn hooks_ran(&self, cx: &mut Cx<'_>, event: HookEventName, outcome: &mut HookOutcome) {
        cx.session.hooks_ran(event, Some(self.original.id.clone()), outcome);
        cx.notes.feedback.context.append(&mut outcome.additional_context);
        cx.notes.feedback.stop(outcome.stop.take());
    }

    /// Decides on a call, or prepares it again if its input was replaced.
    fn judge_as(&mut self, cx: &mut Cx<'_>, read: Box<Read>, replaced: Option<JsonText>, approves: bool) {
        let Some(input) = replaced else { return self.judge(cx, read) };
        let by = if approves { InputChangedBy::Host } else { InputChangedBy::Hook };
        self.replace_input(by, input);
        self.prepare(cx, approves);
    }

    fn replace_input(&mut self, by: InputChangedBy, input: JsonText) {
        self.input_changes.push(InputChange::new(by, input.clone()));
        self.input = input;
    }

    pub(super) fn ask_host(&mut self, cx: &mut Cx<'_>, read: Box<Read>, decision: Decision) {
        let digest = read.facts.digest.clone();
        let mut request = PermissionRequest::new(self.current(), read.title.clone(), decision, digest);
        request.id = cx.session.ids.question();
        request.group = PermissionGroup::of(&self.original.name, &read.facts.access);
        request.impact = Some(Box::new(read.facts.impact(&request.decision)));
        request.edits.clone_from(&read.edits);
        request.identity = cx.session.config.agent.as_ref().map(|agent| agent.identity.clone());
        match self.waits(cx).cloned() {
            Some(secret) => self.keep_question(cx, read, request, &secret),
            None => self.put_question(cx, read, request, None),
        }
    }

    /// Sends a permission request to hooks and host. `kept`: the request as recorded in the log, if the run waits for
    /// answers.
    pub(super) fn put_question(
        &mut self,
        cx: &mut Cx<'_>,
        read: Box<Read>,
        request: PermissionRequest,
        kept: Option<PendingQuestion>,
    ) {
        let cwd = cx.session.state.cwd().to_path_buf();
        self.consent.asked = Some(request.id.clone());
        self.consent.hook_answer = None;
        let deferred = self.consent.hook_verdict.as_ref().is_some_and(|verdict| verdict.defers);
        // Sent before the event is emitted, so that a host which answers at once finds the request.
        let ask = Effect::Ask { request: Box::new(request.clone()), cwd, kept: kept.map(Box::new), deferred };
        let effect = cx.session.effect(ask);
        if !deferred {
            cx.session.event(EventKind::PermissionRequested(request), None);
        }
        self.stage = Stage::Asking(effect, read);
    }

    /// Looks for an answer to a request of the log. Hooks and host are not asked.
    pub(super) fn seek_answer(
        &mut self,
        cx: &mut Cx<'_>,
        read: Box<Read>,
        request: PermissionRequest,
        question: PendingQuestion,
    ) {
        let cwd = cx.session.state.cwd().to_path_buf();
        self.consent.asked = Some(request.id.clone());
        self.consent.hook_answer = None;
        let kept = Some(Box::new(question));
        let effect = cx.session.effect(Effect::Ask { request: Box::new(request), cwd, kept, deferred: true });
        self.stage = Stage::Asking(effect, read);
    }

    /// Handles the answer of the host.
    pub(super) fn answered(&mut self, cx: &mut Cx<'_>, read: Box<Read>, answer: PermissionAnswer) {
        let by = if self.consent.hook_answer.as_ref() == Some(&answer) { AnsweredBy::Hook } else { AnsweredBy::Host };
        self.consent.answer = self.consent.asked.clone().map(|question| AuditedAnswer::new(question, by));
        let message = match answer {
            PermissionAnswer::Allow { updated_input, updates } => {
                return self.allowed(cx, read, updated_input, &updates);
            }
            PermissionAnswer::Deny { message, interrupt } => {
                cx.notes.interrupts = interrupt;
                message
            }
            _ => "The host's answer was not understood.".to_owned(),
        };
        self.deny(cx, &read, Decision::new(Behavior::Deny, DecisionReason::Host, message));
    }

    /// Handles an approval of the exact call shown, or of an input supplied by the host. Either is decided again: an
    /// answer lifts a permission request, never a deny.
    fn allowed(&mut self, cx: &mut Cx<'_>, read: Box<Read>, input: Option<JsonText>, updates: &[PermissionUpdate]) {
        let input = input.filter(|input| *input != self.input);
        if input.is_none() {
            self.consent.approved = Some(read.facts.digest.clone());
        }
        cx.session.update_permissions(updates);
        self.judge_as(cx, read, input, true);
    }

    /// Answers a call with the reason why it does not run.
    pub(super) fn deny(&mut self, cx: &mut Cx<'_>, read: &Read, decision: Decision) {
        cx.session.run.denials.push(PermissionDenial::new(&self.current()));
        let entry = self.record_verdict(cx, Some(read), &decision);
        let append = cx.session.append(vec![entry]);
        self.report_verdict(cx, &decision, append);
        let text = match decision.reason {
            DecisionReason::Hook => foreign_text(&decision.message),
            _ => decision.message.clone(),
        };
        self.settle(cx, ToolOutcome::error(text), Settling::Denied(decision, None));
    }

    /// Records the decision on a prepared call; `read` is `None` for one that cannot be prepared.
    pub(super) fn record_verdict(&self, cx: &mut Cx<'_>, read: Option<&Read>, decision: &Decision) -> Entry {
        let digest = read.map(|read| read.facts.digest.clone());
        let mut audited = AuditedDecision::new(self.original.id.clone(), digest, decision.clone());
        audited.input_changes.clone_from(&self.input_changes);
        audited.hook.clone_from(&self.consent.hook_verdict);
        audited.answer.clone_from(&self.consent.answer);
        audited.made = self.made.as_ref().map(|maker| Box::new(maker.record(&self.original)));
        audited.sandbox = read.and_then(|read| cx.session.rights.policy.sandbox_of(&read.facts));
        cx.session.record(None, EntryKind::Decision(audited))
    }

    /// Reports a decision once it is durable.
    pub(super) fn report_verdict(&self, cx: &mut Cx<'_>, decision: &Decision, append: EffectId) {
        let (tool_use_id, tool) = (self.original.id.clone(), self.original.name.clone());
        let resolved = EventKind::PermissionResolved { tool_use_id, tool, decision: decision.clone() };
        cx.session.event(resolved, Some(append));
    }
}

/// Denies a call that would ask, because no host can answer.
fn denied_unasked(cx: &Cx<'_>, mut decision: Decision) -> Decision {
    let denied = format!("{} Nobody is there to approve it, so it was denied.", sentence(&decision.message));
    (decision.behavior, decision.reason) = (Behavior::Deny, DecisionReason::NobodyToAsk);
    decision.message = with_what_can_wait(cx, denied);
    decision
}

/// Returns a denial with a hint for an agent whose requests cannot wait although those of the main agent can.
pub(super) fn with_what_can_wait(cx: &Cx<'_>, denied: String) -> String {
    if cx.session.config.cannot_wait() { format!("{denied} {}", runtime_text::AGENT_CANNOT_WAIT) } else { denied }
}
