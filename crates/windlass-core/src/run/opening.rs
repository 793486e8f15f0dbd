//! Opening of a run: the hooks between a prompt and the first model request.

use super::{Flow, Phase, Run, fails};
use crate::compaction::AfterCompaction;
use crate::session::Session;
use crate::steering::{own_text, prompt_text};
use crate::{Prompt, PromptKind};
use windlass_context::ThinkingLevel;
use windlass_types::{
    CompactTrigger, Continuation, EventKind, HookEventName, HookOutcome, ModelErrorKind, Outcome, RunFailureKind,
    RunOrigin, RunStarted,
};

/// Failure kind of an unusable prompt.
pub(super) const INVALID: RunFailureKind = RunFailureKind::Model(ModelErrorKind::InvalidRequest);

impl Run {
    /// Begins the run with a prompt. `resumed`: the session has had runs before.
    pub(crate) fn begin(&mut self, session: &mut Session, mut prompt: Prompt, resumed: bool) -> Flow {
        Self::started(session, RunOrigin::User, resumed);
        session.run.asked.clone_from(&prompt.id);
        if matches!(prompt.kind, PromptKind::Query | PromptKind::Continue) {
            for message in std::mem::take(&mut session.left) {
                self.steering.add(message, false);
            }
        }
        if let Err(error) = session.begin_scope(std::mem::take(&mut prompt.scope)) {
            return fails(RunFailureKind::PromptCall, format!("The prompt was not sent: {error}"));
        }
        if prompt.kind == PromptKind::Compact {
            self.withdraw_questions(session);
            let focus = Some(prompt_text(&prompt)).filter(|focus| !focus.trim().is_empty());
            return self.compact(session, CompactTrigger::Manual, focus, AfterCompaction::EndOfRun);
        }
        self.open_or_submit(session, prompt)
    }

    /// Begins the run with the ends of background tasks, which the model reads first.
    pub(crate) fn begin_with_news(&mut self, session: &mut Session) -> Flow {
        Self::started(session, RunOrigin::TaskNotification, true);
        let news = session.record_news();
        session.append_unawaited(news.into_iter().collect());
        self.call_model(session, Continuation::Prompt)
    }

    fn started(session: &mut Session, origin: RunOrigin, resumed: bool) {
        session.begin_run(origin);
        let config = &session.config;
        let tools = session.offered_now().iter().chain(&session.withheld_now()).map(|tool| tool.name.clone()).collect();
        let (cwd, mode) = (session.state.cwd().to_path_buf(), session.rights.policy.mode());
        let mut started = RunStarted::new(cwd, config.model.id.clone(), tools, mode, resumed);
        started.identity = config.agent.as_ref().map(|agent| agent.identity.clone());
        started.origin = origin;
        session.event(EventKind::RunStarted(started), None);
        session.send_notices();
    }

    /// Runs the hooks that a prompt has to pass, then calls the model.
    pub(super) fn open_or_submit(&mut self, session: &mut Session, prompt: Prompt) -> Flow {
        if !std::mem::replace(&mut session.opened, true) {
            let opening = session.opening();
            // An agent that waited has begun before.
            let continues = session.config.agent.is_some() && prompt.kind == PromptKind::Continue;
            if !continues && session.config.listens(opening.event(), None) {
                self.phase = Phase::Opening(session.run_hooks(opening), prompt);
                return Flow::Continue(());
            }
        }
        if prompt.kind == PromptKind::Continue {
            return self.continue_run(session);
        }
        if !prompt.parts.is_empty() {
            return self.put_together(session, prompt);
        }
        if session.reviews_prompts() {
            let effect = session.review_prompt(&prompt, true);
            self.phase = Phase::Submitting(effect, prompt);
            return Flow::Continue(());
        }
        self.accept(session, prompt)
    }

    /// Handles the outcome of SessionStart hooks.
    pub(super) fn opened(&mut self, session: &mut Session, prompt: Prompt, outcome: HookOutcome) -> Flow {
        session.hooks_ran(session.opening().event(), None, &outcome);
        self.feedback.context.extend(outcome.additional_context);
        self.open_or_submit(session, prompt)
    }

    /// Handles the outcome of UserPromptSubmit hooks.
    pub(super) fn submitted(&mut self, session: &mut Session, prompt: Prompt, outcome: HookOutcome) -> Flow {
        session.hooks_ran(HookEventName::UserPromptSubmit, None, &outcome);
        if let Some(block) = outcome.block {
            return Flow::Break(Outcome::PromptBlocked { reason: block.reason });
        }
        if let Some(reason) = outcome.stop {
            return Flow::Break(Outcome::StoppedByHook { reason });
        }
        self.feedback.context.extend(outcome.additional_context);
        self.accept(session, prompt)
    }

    /// Adds the prompt to the conversation.
    fn accept(&mut self, session: &mut Session, prompt: Prompt) -> Flow {
        if let Some((kind, problem)) = session.unsendable(&prompt) {
            return fails(kind, problem);
        }
        let is_query = prompt.kind == PromptKind::Query;
        if is_query {
            self.withdraw_questions(session);
        }
        if is_query && !prompt.ignores_keywords && session.config.request.thinking_keywords.is_some() {
            session.run.level = ThinkingLevel::in_text(&own_text(&prompt));
        }
        let (entry, unqueued) = session.record_prompt(prompt);
        let mut entries: Vec<_> = [Some(entry), unqueued].into_iter().flatten().collect();
        entries.extend(session.record_context(&mut self.feedback));
        if is_query {
            entries.extend(session.record_instructions());
            entries.extend(session.record_news());
        }
        session.append_unawaited(entries);
        if !is_query {
            return Flow::Break(Outcome::Success);
        }
        if !session.state.transcript().is_ready() {
            let text = "The prompt has nothing in it that can be sent: give it text, an image or a document.";
            return fails(INVALID, text);
        }
        self.call_model(session, Continuation::Prompt)
    }
}
