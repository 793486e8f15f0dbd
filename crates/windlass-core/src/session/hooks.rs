//! The occasions on which hooks are asked.

use super::Session;
use crate::steering::prompt_text;
use crate::{Attach, Effect, EffectId, Prompt, PromptKind};
use windlass_types::hook::event::{SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit};
use windlass_types::{EventKind, HookCall, HookEventName, HookOutcome, ToolUseId};

impl Session {
    pub(crate) fn run_hooks(&mut self, call: impl Into<HookCall>) -> EffectId {
        let (call, cwd) = (call.into(), self.state.cwd().to_path_buf());
        self.effect(Effect::RunHooks { call, cwd, attach: Attach::default() })
    }

    /// Asks the hooks that a prompt has to pass, and for what is attached to it. `begins`: it begins a run.
    pub(crate) fn review_prompt(&mut self, prompt: &Prompt, begins: bool) -> EffectId {
        let (call, cwd) = (UserPromptSubmit { prompt: prompt_text(prompt) }.into(), self.state.cwd().to_path_buf());
        let attaches = self.attaches() && prompt.kind == PromptKind::Query;
        let attach = Attach { mentions: attaches && !prompt.ignores_keywords, changes: attaches && begins };
        self.effect(Effect::RunHooks { call, cwd, attach })
    }

    fn attaches(&self) -> bool {
        self.config.context.attachments && self.config.agent.is_none()
    }

    /// Reports what hooks did.
    pub(crate) fn hooks_ran(&mut self, event: HookEventName, tool: Option<ToolUseId>, outcome: &HookOutcome) {
        if !outcome.ran.is_empty() {
            self.event(EventKind::HookRan { event, tool_use_id: tool, outcome: outcome.clone() }, None);
        }
    }

    /// Whether this is the main agent, and a hook listens to an event that agents below it do not have.
    pub(crate) fn main_listens(&self, event: HookEventName) -> bool {
        self.config.agent.is_none() && self.config.listens(event, None)
    }

    /// Whether a prompt waits for an answer of hooks, or for what is attached to it.
    pub(crate) fn reviews_prompts(&self) -> bool {
        self.attaches() || self.main_listens(HookEventName::UserPromptSubmit)
    }

    /// The occasion before the first prompt.
    pub(crate) fn opening(&self) -> HookCall {
        match &self.config.agent {
            Some(agent) => SubagentStart { agent: agent.identity.clone() }.into(),
            None => {
                let source = if self.state.is_empty() { "startup" } else { "resume" };
                SessionStart { source: source.to_owned() }.into()
            }
        }
    }

    /// The occasion on which the model is done. `continued`: Stop hooks have kept the run going before.
    pub(crate) fn stopping(&self, continued: bool) -> HookCall {
        let last_assistant_message = self.run.text.clone();
        match &self.config.agent {
            Some(agent) => {
                SubagentStop { agent: agent.identity.clone(), stop_hook_active: continued, last_assistant_message }
                    .into()
            }
            None => Stop { stop_hook_active: continued, last_assistant_message }.into(),
        }
    }
}
