//! Hook events of a session.

use super::Session;
use crate::steering::{own_text, prompt_text};
use crate::{Attach, Effect, EffectId, Prompt, PromptKind};
use windlass_context::foreign_text;
use windlass_types::hook::event::{SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit};
use windlass_types::{EventKind, HookCall, HookEventName, HookOutcome, ToolUseId};

/// Maximum number of texts that wait for a turn.
const MAX_TEXTS: usize = 100;

/// Returns a hook's objection as text for the model.
pub(crate) fn feedback(hook: &str, reason: &str) -> String {
    format!("Feedback of the hook {hook:?}: {}", foreign_text(reason))
}

impl Session {
    pub(crate) fn run_hooks(&mut self, call: impl Into<HookCall>) -> EffectId {
        let (call, cwd) = (call.into(), self.state.cwd().to_path_buf());
        self.effect(Effect::RunHooks { call, cwd, attach: Attach::default() })
    }

    /// Runs the hooks that a prompt has to pass, and requests its attachments. `begins`: the prompt begins a run.
    pub(crate) fn review_prompt(&mut self, prompt: &Prompt, begins: bool) -> EffectId {
        let (call, cwd) = (UserPromptSubmit { prompt: prompt_text(prompt) }.into(), self.state.cwd().to_path_buf());
        let attaches = self.attaches() && prompt.kind == PromptKind::Query;
        let mentions = (attaches && !prompt.ignores_keywords).then(|| own_text(prompt));
        let attach = Attach { mentions, changes: attaches && begins };
        self.effect(Effect::RunHooks { call, cwd, attach })
    }

    fn attaches(&self) -> bool {
        self.config.context.attachments && self.config.agent.is_none()
    }

    /// Reports hook outcomes.
    pub(crate) fn hooks_ran(&mut self, event: HookEventName, tool: Option<ToolUseId>, outcome: &HookOutcome) {
        if !outcome.ran.is_empty() {
            self.event(EventKind::HookRan { event, tool_use_id: tool, outcome: outcome.clone() }, None);
        }
    }

    /// Reports hook events seen by the driver, in the run or between two.
    pub(crate) fn report(&mut self, kind: EventKind) {
        if let EventKind::HookRan { outcome, .. } = &kind {
            let feedback = outcome.block.iter().map(|block| feedback(&block.hook, &block.reason));
            self.add_context(feedback.chain(outcome.additional_context.iter().cloned()).collect());
        }
        if self.run.is_open { self.event(kind, None) } else { self.event_between_runs(kind, None) }
    }

    /// Keeps texts that the model reads with its next turn. Excess texts are dropped: hooks may run often while no turn
    /// comes.
    pub(crate) fn add_context(&mut self, texts: Vec<String>) {
        let remaining = MAX_TEXTS.saturating_sub(self.unread.context.len());
        self.unread.context.extend(texts.into_iter().filter(|text| !text.trim().is_empty()).take(remaining));
    }

    /// `true` if this is the main agent, and a hook listens to an event that agents below it do not have.
    pub(crate) fn main_listens(&self, event: HookEventName) -> bool {
        self.config.agent.is_none() && self.config.listens(event, None)
    }

    /// `true` if a prompt waits for hooks, or for its attachments.
    pub(crate) fn reviews_prompts(&self) -> bool {
        self.attaches() || self.main_listens(HookEventName::UserPromptSubmit)
    }

    /// Returns the hook event before the first prompt.
    pub(crate) fn opening(&self) -> HookCall {
        match &self.config.agent {
            Some(agent) => SubagentStart { agent: agent.identity.clone() }.into(),
            None => {
                let source = if self.state.is_empty() { "startup" } else { "resume" };
                SessionStart { source: source.to_owned() }.into()
            }
        }
    }

    /// Returns the hook event when the model is done. `continued`: Stop hooks have continued the run before.
    pub(crate) fn stopping(&self, continued: bool) -> HookCall {
        let last_assistant_message = self.run.last.text.clone();
        match &self.config.agent {
            Some(agent) => {
                SubagentStop { agent: agent.identity.clone(), stop_hook_active: continued, last_assistant_message }
                    .into()
            }
            None => Stop { stop_hook_active: continued, last_assistant_message }.into(),
        }
    }
}
