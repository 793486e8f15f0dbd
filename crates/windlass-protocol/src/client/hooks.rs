//! Hooks of the host, for another process.

mod output;

use super::failure::RequestFailure;
use output::CallbackOutput;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook::{Hook, HookContext, Hooks, HooksError, Interest};
use windlass_types::{AgentIdentity, HookCall, HookEventName, JsonText, SessionId};

/// All hooks of a host: one callback for each event, which runs and merges them as in process.
pub(super) struct HookCallbacks {
    hooks: Hooks,
    timeout: Duration,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Matcher {
    matcher: Option<String>,
    hook_callback_ids: [&'static str; 1],
    /// Time limit in seconds.
    timeout: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<&'static str>,
}

impl HookCallbacks {
    pub(super) fn new(hooks: Vec<Arc<dyn Hook>>, timeout: Duration) -> Self {
        Self { hooks: Hooks::new(hooks), timeout }
    }

    /// Checks that each hook can be called for the events that it listens to.
    pub(super) fn check(&self) -> Result<(), HooksError> {
        self.hooks.check()
    }

    /// `true` if a hook guards an action that must be denied when the hook fails.
    pub(super) fn has_gate(&self) -> bool {
        self.hooks.interests().iter().any(|interest| interest.event.is_gating())
    }

    /// Registration of the hooks in `initialize`. `None` if there are none.
    pub(super) fn registration(&self) -> Option<BTreeMap<&'static str, [Matcher; 1]>> {
        let interests = self.hooks.interests();
        let matchers = HookEventName::ALL.iter().copied().filter_map(|event| {
            let event_interests: Vec<&Interest> = interests.iter().filter(|interest| interest.event == event).collect();
            let matcher = Matcher {
                matcher: matcher(&event_interests),
                hook_callback_ids: [event.as_str()],
                timeout: self.timeout.as_secs_f64(),
                on_failure: event.is_gating().then_some("block"),
            };
            (!event_interests.is_empty()).then_some((event.as_str(), [matcher]))
        });
        let matchers: BTreeMap<_, _> = matchers.collect();
        (!matchers.is_empty()).then_some(matchers)
    }

    /// Calls the hooks for an event.
    pub(super) async fn answer(&self, body: &JsonText) -> Result<JsonText, RequestFailure> {
        let HookCallback { input } = body.to()?;
        let context: Context = input.to()?;
        let event = HookEventName::named(&context.hook_event_name)
            .ok_or_else(|| RequestFailure::new(format!("no hook is about {}", context.hook_event_name)))?;
        let call = HookCall::read(event, &input)?;
        let agent = context.agent_id.map(|id| AgentIdentity::new(id.into(), context.agent_type.unwrap_or_default()));
        let cx = HookContext::new(SessionId::from(context.session_id), context.cwd).with_agent(agent);
        let outcome = self.hooks.run(&cx, &call).await;
        for (hook, error) in &outcome.failures {
            tracing::warn!(hook, error, "a hook failed");
        }
        Ok(JsonText::of(&CallbackOutput::new(call.event(), outcome)?)?)
    }
}

/// Names of the tools that the hooks concern, joined with `|`; `None` for all tools. Patterns are matched here, before
/// a hook is called.
fn matcher(interests: &[&Interest]) -> Option<String> {
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let tools = interests.iter().flat_map(|interest| &interest.tools);
    let names = tools.map(|matcher| matcher.tool().filter(|name| !name.is_empty() && is_plain(name)));
    let names: Vec<&str> = names.collect::<Option<_>>()?;
    interests.iter().all(|interest| !interest.tools.is_empty()).then(|| names.join("|"))
}

#[derive(Deserialize)]
struct HookCallback {
    input: JsonText,
}

#[derive(Deserialize)]
struct Context {
    hook_event_name: String,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    cwd: PathBuf,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    agent_type: Option<String>,
}

#[cfg(test)]
mod tests;
