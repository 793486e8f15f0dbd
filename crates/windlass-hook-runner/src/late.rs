//! Outcomes of background programs.

use async_trait::async_trait;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_hook::{Hook, HookContext, HookError, Interest};
use windlass_types::{HookCall, HookEventName, HookOutcome};

/// Maximum number of waiting texts.
const MOST: usize = 32;

/// Texts that wait for the model and for people.
#[derive(Debug, Default)]
pub(crate) struct Late(Mutex<HookOutcome>);

impl Late {
    /// Keeps a program's additions. Decisions come too late and are ignored.
    pub(crate) fn add(&self, hook: &str, said: Result<HookOutcome, String>) {
        let said = match said {
            Ok(said) => said,
            Err(error) => return tracing::warn!(hook, error, "a hook failed that no run waits for"),
        };
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.additional_context.extend(said.additional_context);
        waiting.system_messages.extend(said.system_messages);
        waiting.additional_context.truncate(MOST);
        waiting.system_messages.truncate(MOST);
    }

    /// Returns the text that wakes a model.
    pub(crate) fn wake_text(hook: &str, text: &str) -> String {
        format!("The hook {hook:?}, which ran in the background, reports:\n\n{}", text.trim())
    }

    fn is_empty(&self) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) == HookOutcome::default()
    }

    fn take(&self) -> HookOutcome {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Delivers the outcomes of background programs with the next prompt or result.
pub(crate) struct LateHook(Arc<Late>);

impl LateHook {
    pub(crate) fn new(late: Arc<Late>) -> Self {
        Self(late)
    }
}

#[async_trait]
impl Hook for LateHook {
    fn name(&self) -> &str {
        "background hooks"
    }

    fn interests(&self) -> Vec<Interest> {
        let events = [HookEventName::UserPromptSubmit, HookEventName::PostToolUse, HookEventName::PostToolUseFailure];
        events.into_iter().map(Interest::all).collect()
    }

    fn listens(&self, cx: &HookContext, _: &HookCall) -> bool {
        cx.agent.is_none() && !self.0.is_empty()
    }

    async fn answer(&self, _: &HookContext, _: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        Ok(Some(self.0.take()))
    }
}
