//! From a prompt to the first model call, and from the last to the end: the
//! hooks around a run and a session.

use crate::machine::Phase;
use crate::steering::SafePoint;
use crate::{Effect, EffectId, Machine, Prompt, PromptKind};
use windlass_context::{reminder, runtime_text, unusable_media};
use windlass_types::{
    ContentBlock, Continuation, EventKind, HookCall, HookEventName, HookOutcome, ModelErrorKind, Outcome,
    RunFailureKind, RunStarted, ToolUseId,
};

impl Machine {
    pub(crate) fn run_started(&self, resumed: bool) -> RunStarted {
        let tools = self.config.tools.iter().map(|tool| tool.name.clone()).collect();
        let mut started = RunStarted::new(
            self.state.cwd().to_path_buf(),
            self.config.model.id.clone(),
            tools,
            self.policy.mode(),
            resumed,
        );
        started.identity = self.config.agent.as_ref().map(|agent| agent.identity.clone());
        started
    }

    pub(crate) fn run_hooks(&mut self, call: HookCall) -> EffectId {
        let cwd = self.state.cwd().to_path_buf();
        self.effect(Effect::RunHooks { call, cwd })
    }

    /// Tells the host what hooks did.
    pub(crate) fn hooks_ran(&mut self, event: HookEventName, tool: Option<ToolUseId>, outcome: &HookOutcome) {
        if !outcome.ran.is_empty() {
            self.event(EventKind::HookRan { event, tool_use_id: tool, outcome: outcome.clone() }, None);
        }
    }

    /// Asks the hooks that a prompt has to pass, then calls the model.
    pub(crate) fn open_or_submit(&mut self, prompt: Prompt) {
        if !self.opened {
            self.opened = true;
            let opening = self.opening();
            if self.config.listens(opening.event(), None) {
                let effect = self.run_hooks(opening);
                self.phase = Phase::Opening(effect, prompt);
                return;
            }
        }
        if self.main_listens(HookEventName::UserPromptSubmit) {
            let text: Vec<&str> = prompt.content.iter().filter_map(ContentBlock::as_text).collect();
            let effect = self.run_hooks(HookCall::UserPromptSubmit { prompt: text.join("\n") });
            self.phase = Phase::Submitting(effect, prompt);
            return;
        }
        self.accept(prompt);
    }

    /// The prompt enters the conversation.
    fn accept(&mut self, prompt: Prompt) {
        if let Some(problem) = unusable_media(&prompt.content) {
            return self.fail(RunFailureKind::Model(ModelErrorKind::InvalidRequest), problem);
        }
        let asks = prompt.kind == PromptKind::Query;
        let mut entries = vec![self.record_prompt(prompt)];
        entries.extend(self.take_context());
        if asks {
            entries.extend(self.record_instructions());
            entries.extend(self.record_news());
        }
        self.append(entries, false);
        if !asks {
            return self.finish(Outcome::Success);
        }
        if !self.state.transcript().is_ready() {
            let text = "The prompt has nothing in it that can be sent: give it text, an image or a document.";
            return self.fail(RunFailureKind::Model(ModelErrorKind::InvalidRequest), text);
        }
        self.call_model(Continuation::Prompt);
    }

    /// What hooks want the model to read, as one text of the runtime.
    pub(crate) fn take_context(&mut self) -> Option<windlass_types::Entry> {
        let run = self.run.as_mut()?;
        if run.context.is_empty() {
            return None;
        }
        let texts = std::mem::take(&mut run.context);
        let blocks = texts.iter().map(|text| ContentBlock::text(reminder(text))).collect();
        Some(self.record_user(blocks, true))
    }

    /// Hooks answered.
    pub(crate) fn hooked(&mut self, effect: EffectId, outcome: HookOutcome) {
        if let Some(at) = self.batch.waiting_for(effect) {
            self.call_hooked(at, outcome);
            return;
        }
        if let Some(at) = self.steered_asking(effect) {
            self.steered_hooked(at, outcome);
            return;
        }
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Opening(waiting, prompt) if waiting == effect => {
                self.hooks_ran(self.opening().event(), None, &outcome);
                self.add_context(outcome.additional_context);
                self.open_or_submit(prompt);
            }
            Phase::Submitting(waiting, prompt) if waiting == effect => self.submitted(prompt, outcome),
            Phase::Compacting(compaction) if compaction.effect == effect => {
                self.compact_hooks_answered(*compaction, &outcome);
            }
            Phase::Stopping(waiting) if waiting == effect => self.stop_hooks_answered(outcome),
            Phase::Closing(waiting) if waiting == effect => self.closed(),
            other => self.phase = other,
        }
    }

    pub(crate) fn add_context(&mut self, texts: Vec<String>) {
        if let Some(run) = &mut self.run {
            run.context.extend(texts);
        }
    }

    fn submitted(&mut self, prompt: Prompt, outcome: HookOutcome) {
        self.hooks_ran(HookEventName::UserPromptSubmit, None, &outcome);
        if let Some(block) = outcome.block {
            self.finish(Outcome::PromptBlocked { reason: block.reason });
        } else if let Some(reason) = outcome.stop {
            self.finish(Outcome::StoppedByHook { reason });
        } else {
            self.add_context(outcome.additional_context);
            self.accept(prompt);
        }
    }

    /// The model is done: asks the Stop hooks, or ends the run.
    pub(crate) fn stop(&mut self) {
        self.safe_point(SafePoint::End);
    }

    /// Nothing was said meanwhile: the run may end.
    pub(crate) fn nothing_more_said(&mut self) {
        if self.lacks_output() {
            return self.ask_for_output();
        }
        let stopping = self.stopping();
        if self.config.listens(stopping.event(), None) {
            let effect = self.run_hooks(stopping);
            self.phase = Phase::Stopping(effect);
            return;
        }
        self.finish(Outcome::Success);
    }

    fn stop_hooks_answered(&mut self, outcome: HookOutcome) {
        self.hooks_ran(self.stopping().event(), None, &outcome);
        self.safe_point(SafePoint::Stopping(Box::new(outcome)));
    }

    /// Ends the run, unless hooks want it to go on.
    pub(crate) fn may_stop(&mut self, outcome: HookOutcome) {
        let allowed = self.config.limits.max_stop_continuations;
        let so_far = self.run.as_ref().map_or(allowed, |run| run.stop_continuations);
        match (outcome.stop, outcome.block) {
            (Some(reason), _) => self.finish(Outcome::StoppedByHook { reason }),
            (None, Some(block)) if so_far < allowed => {
                if let Some(run) = &mut self.run {
                    run.stop_continuations += 1;
                }
                let text = format!("{}\n{}", runtime_text::STOP_FEEDBACK, block.reason);
                let entry = self.record_user(vec![ContentBlock::text(text)], true);
                self.append(vec![entry], false);
                self.call_model(Continuation::StopHook);
            }
            _ => self.finish(Outcome::Success),
        }
    }

    /// Closes the session: SessionEnd hooks, then everything becomes durable.
    pub(crate) fn close(&mut self) {
        // Whoever resumes the session should not wait for work that is gone.
        if self.opened
            && let Some(entry) = self.record_news()
        {
            self.append(vec![entry], false);
        }
        if self.opened && self.main_listens(HookEventName::SessionEnd) {
            let effect = self.run_hooks(HookCall::SessionEnd { reason: "other".to_owned() });
            self.phase = Phase::Closing(effect);
        } else {
            self.closed();
        }
    }
}
