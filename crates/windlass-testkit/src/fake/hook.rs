//! A hook that records its occasions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use windlass_hook::{Hook, HookContext, HookError, HookEvent, Interest};
use windlass_types::hook::HookAction;
use windlass_types::{HookCall, HookEventName, HookOutcome};

use super::lock;
use crate::Gate;

/// Answers an occasion for the hook with this name.
type HookAnswer = Arc<dyn Fn(&str, &HookCall) -> Result<HookOutcome, HookError> + Send + Sync>;

/// A hook that records every occasion and answers with closures; without a closure it has no opinion.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use std::sync::Arc;
/// use windlass_hook::{Hook, HookContext, Hooks, Interest, PreToolUse, PreToolUseAction};
/// use windlass_testkit::fake::RecordingHook;
/// use windlass_types::{Behavior, HookCall, HookEventName, JsonText, SessionId};
///
/// let hook = RecordingHook::new("guard", [Interest::tools(HookEventName::PreToolUse, ["Bash"])])
///     .on(|event: &PreToolUse| Ok(PreToolUseAction::deny(format!("no {}", event.tool_name))));
///
/// let hooks = Hooks::new([Arc::new(hook.clone()) as Arc<dyn Hook>]);
/// let call = HookCall::from(PreToolUse {
///     tool_name: "Bash".into(),
///     tool_input: JsonText::empty_object(),
///     tool_use_id: "toolu_1".into(),
/// });
/// let outcome = hooks.run(&HookContext::new(SessionId::new("s"), "/work".into()), &call).await;
/// assert_eq!(outcome.verdict.unwrap().behavior, Behavior::Deny);
/// assert_eq!(hook.occasions().len(), 1);
/// # });
/// ```
#[derive(Clone)]
pub struct RecordingHook {
    name: String,
    interests: Vec<Interest>,
    gate: Option<Gate>,
    answers: BTreeMap<HookEventName, HookAnswer>,
    occasions: Arc<Mutex<Vec<HookCall>>>,
}

impl RecordingHook {
    /// Returns a hook with a name that listens to these occasions.
    pub fn new(name: impl Into<String>, interests: impl IntoIterator<Item = Interest>) -> Self {
        Self {
            name: name.into(),
            interests: interests.into_iter().collect(),
            gate: None,
            answers: BTreeMap::new(),
            occasions: Arc::default(),
        }
    }

    /// Returns a hook that listens to all events.
    pub fn of_all(name: impl Into<String>) -> Self {
        Self::new(name, HookEventName::ALL.iter().copied().map(Interest::all))
    }

    /// Waits at the gate before every answer, after the occasion was recorded. A gate that is never opened makes a hook
    /// that hangs.
    #[must_use]
    pub fn wait_at(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Sets the answer to an event. An error means that the hook fails.
    #[must_use]
    pub fn on<E: HookEvent>(
        mut self,
        answer: impl Fn(&E) -> Result<E::Action, HookError> + Send + Sync + 'static,
    ) -> Self {
        let answer = move |name: &str, call: &HookCall| match E::of(call) {
            Some(event) => Ok(answer(event)?.into_outcome(name)),
            None => Ok(HookOutcome::default()),
        };
        self.answers.insert(E::NAME, Arc::new(answer));
        self
    }

    /// Returns every occasion so far, in order.
    pub fn occasions(&self) -> Vec<HookCall> {
        lock(&self.occasions).clone()
    }

    /// Returns the events so far, in order.
    pub fn events(&self) -> Vec<HookEventName> {
        lock(&self.occasions).iter().map(HookCall::event).collect()
    }
}

impl fmt::Debug for RecordingHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingHook")
            .field("name", &self.name)
            .field("interests", &self.interests)
            .field("occasions", &self.events())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Hook for RecordingHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn interests(&self) -> Vec<Interest> {
        self.interests.clone()
    }

    async fn answer(&self, _: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        lock(&self.occasions).push(call.clone());
        if let Some(gate) = &self.gate {
            gate.pass().await;
        }
        match self.answers.get(&call.event()) {
            Some(answer) => answer(&self.name, call).map(Some),
            None => Ok(Some(HookOutcome::default())),
        }
    }
}
