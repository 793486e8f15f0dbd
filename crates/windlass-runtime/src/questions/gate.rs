//! The permission gate of tool calls, for requests that are no call of the model.

use crate::hooks::{HookReports, ask};
use crate::ports::HostAnswers;
use crate::questions::open_questions::OpenQuestions;
use crate::questions::question::{self, QuestionHooks, QuestionHost};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use windlass_core::Input;
use windlass_hook::{HookContext, Hooks};
use windlass_permission::{CallFacts, Policy};
use windlass_types::hook::event::PreToolUse;
use windlass_types::text::visible_line;
use windlass_types::{
    AnsweredBy, AuditedAnswer, AuditedDecision, Behavior, Decision, DecisionReason, EditPreview, EventKind, HookCall,
    HookOutcome, HookVerdict, JsonText, MadeCall, PermissionAnswer, PermissionGroup, PermissionMode, PermissionRequest,
    ToolUse, ToolUseId,
};

/// Policy, hooks and host that decide.
pub(crate) struct GateParts {
    pub(crate) policy: Arc<Policy>,
    pub(crate) hooks: Hooks,
    pub(crate) cx: HookContext,
    pub(crate) reports: HookReports,
    pub(crate) answers: HostAnswers,
    pub(crate) questions: OpenQuestions,
    pub(crate) results: mpsc::UnboundedSender<Input>,
}

/// The permission gate of one request.
pub(crate) struct Gate {
    pub(crate) id: ToolUseId,
    pub(crate) facts: CallFacts,
    pub(crate) title: String,
    pub(crate) of: GateParts,
}

impl Gate {
    /// Lets the request pass, or returns the reason why it does not.
    pub(crate) async fn pass(&self) -> Result<(), String> {
        let (tool_name, tool_input) = (self.facts.tool.clone(), self.facts.input.clone());
        let call = HookCall::from(PreToolUse { tool_name, tool_input, tool_use_id: self.id.clone() });
        let outcome = ask(&self.of.hooks, &self.of.cx, &call, &self.of.reports).await;
        self.report_hooks(&call, &outcome);
        if self.is_changed(outcome.updated_input.as_ref()) || outcome.verdict.as_ref().is_some_and(|said| said.defers) {
            let message = "A hook wants it changed or decided later, which it cannot be.";
            return self.settle(Decision::new(Behavior::Deny, DecisionReason::Hook, message), outcome.verdict, None);
        }
        let decision = self.of.policy.decide(&self.facts, outcome.verdict.as_ref(), None);
        match decision.behavior {
            // No one was asked: the host sees the effects of the allowed request.
            Behavior::Allow => {
                self.record(decision, outcome.verdict, None);
                Ok(())
            }
            Behavior::Deny => self.settle(decision, outcome.verdict, None),
            Behavior::Ask => self.ask(decision, outcome.verdict, None).await,
        }
    }

    /// Asks hooks and host, and shows them these changes of files.
    pub(crate) async fn ask(
        &self,
        decision: Decision,
        hook: Option<HookVerdict>,
        edits: Option<EditPreview>,
    ) -> Result<(), String> {
        let call = ToolUse::new(self.id.clone(), self.facts.tool.clone(), self.facts.input.clone());
        let digest = self.facts.digest.clone();
        let mut request = PermissionRequest::new(call, visible_line(&self.title), decision.clone(), digest);
        request.group = PermissionGroup::of(&self.facts.tool, &self.facts.access);
        request.impact = Some(Box::new(self.facts.impact(&decision)));
        request.edits = edits;
        let question = request.id.clone();
        let GateParts { hooks, cx, reports, answers, questions, .. } = &self.of;
        let open = answers.are_possible().then(|| questions.open(&request));
        if open.is_some() {
            reports.report(EventKind::PermissionRequested(request.clone()));
        }
        let host = QuestionHost { answers: answers.clone(), open, remote: None, deferred: false };
        let asking = QuestionHooks { hooks: hooks.clone(), cx: cx.clone(), reports: reports.clone() };
        let (can_ask, by_hook) = (answers.are_possible(), AtomicBool::new(false));
        let reported = |outcome: HookOutcome| {
            by_hook.store(outcome.answer.is_some(), Ordering::Relaxed);
            let (event, tool_use_id) = (windlass_types::HookEventName::PermissionRequest, Some(self.id.clone()));
            reports.report(EventKind::HookRan { event, tool_use_id, outcome });
        };
        let denied = |message: String| {
            let reason = match can_ask {
                _ if by_hook.load(Ordering::Relaxed) => DecisionReason::Hook,
                true => DecisionReason::Host,
                false => DecisionReason::NobodyToAsk,
            };
            Decision::new(Behavior::Deny, reason, message)
        };
        let answer = question::ask(host, asking, request, reported).await;
        let by = if by_hook.load(Ordering::Relaxed) { AnsweredBy::Hook } else { AnsweredBy::Host };
        let answered = answer.is_ok() && (can_ask || by == AnsweredBy::Hook);
        let answered = answered.then(|| AuditedAnswer::new(question, by));
        let settle = |decision| self.settle(decision, hook, answered);
        let input = match answer {
            Ok(PermissionAnswer::Allow { updated_input, updates }) => {
                if !updates.is_empty() {
                    self.give(Input::UpdatePermissions(updates));
                }
                updated_input
            }
            Ok(PermissionAnswer::Deny { message, interrupt }) => {
                if interrupt {
                    self.give(Input::Interrupt);
                }
                return settle(denied(message));
            }
            _ => return settle(denied("The answer was not understood.".to_owned())),
        };
        if self.is_changed(input.as_ref()) {
            return settle(denied("The answer changes what was asked about, which cannot be changed.".to_owned()));
        }
        settle(Decision::new(Behavior::Allow, DecisionReason::Host, "It was approved."))
    }

    /// Asks the host about an act, whatever rules and mode say. In the mode dontAsk the answer is no.
    pub(crate) async fn approve(&self, reason: String, edits: Option<EditPreview>) -> Result<(), String> {
        if self.of.policy.mode() == PermissionMode::DontAsk {
            return Err("Nobody is asked in the mode dontAsk.".to_owned());
        }
        let mut decision = Decision::new(Behavior::Ask, DecisionReason::Protected, reason);
        decision.protected = true;
        self.ask(decision, None, edits).await
    }

    fn is_changed(&self, input: Option<&JsonText>) -> bool {
        input.is_some_and(|input| *input != self.facts.input)
    }

    fn report_hooks(&self, call: &HookCall, outcome: &HookOutcome) {
        if !outcome.ran.is_empty() {
            let (event, tool_use_id) = (call.event(), Some(self.id.clone()));
            self.of.reports.report(EventKind::HookRan { event, tool_use_id, outcome: outcome.clone() });
        }
    }

    /// Records and reports a verdict, and returns its consequence.
    fn settle(
        &self,
        decision: Decision,
        hook: Option<HookVerdict>,
        answer: Option<AuditedAnswer>,
    ) -> Result<(), String> {
        self.record(decision.clone(), hook, answer);
        let (allows, message) = (decision.behavior == Behavior::Allow, decision.message.clone());
        let (tool_use_id, tool) = (self.id.clone(), self.facts.tool.clone());
        self.of.reports.report(EventKind::PermissionResolved { tool_use_id, tool, decision });
        if allows { Ok(()) } else { Err(message) }
    }

    /// Records in the log the reason for the verdict.
    fn record(&self, decision: Decision, hook: Option<HookVerdict>, answer: Option<AuditedAnswer>) {
        let mut verdict = AuditedDecision::new(self.id.clone(), Some(self.facts.digest.clone()), decision);
        (verdict.hook, verdict.answer) = (hook, answer);
        let call = MadeCall::new(self.id.clone(), self.facts.tool.clone(), self.facts.input.clone());
        verdict.made = Some(Box::new(call));
        self.give(Input::Judged(Box::new(verdict)));
    }

    /// Hands an input to the machine. Sending fails when the session has ended.
    fn give(&self, input: Input) {
        let _ = self.of.results.send(input);
    }
}
