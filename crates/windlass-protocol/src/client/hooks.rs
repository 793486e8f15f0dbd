//! Hooks of the host, for another process.

mod output;

use super::answers::Failure;
use output::Output;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook::{Hook, HookContext, Hooks, Interest};
use windlass_types::{AgentIdentity, HookCall, HookEventName, JsonText, SessionId};

const EVENTS: [HookEventName; 11] = [
    HookEventName::PreToolUse,
    HookEventName::PermissionRequest,
    HookEventName::PostToolUse,
    HookEventName::PostToolUseFailure,
    HookEventName::UserPromptSubmit,
    HookEventName::Stop,
    HookEventName::SubagentStart,
    HookEventName::SubagentStop,
    HookEventName::PreCompact,
    HookEventName::SessionStart,
    HookEventName::SessionEnd,
];

/// All hooks of a host: one callback for each event, behind which they are asked
/// and merged as they are in process.
pub(super) struct HookCallbacks {
    hooks: Hooks,
    timeout: Duration,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Matcher {
    matcher: Option<String>,
    hook_callback_ids: [&'static str; 1],
    /// In seconds.
    timeout: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<&'static str>,
}

impl HookCallbacks {
    pub(super) fn new(hooks: Vec<Arc<dyn Hook>>, timeout: Duration) -> Self {
        Self { hooks: Hooks::new(hooks), timeout }
    }

    /// Whether there is a gate, which must be closed when it cannot be asked.
    pub(super) fn has_gate(&self) -> bool {
        self.hooks.interests().iter().any(|interest| interest.event.is_gating())
    }

    /// What `initialize` says of them; nothing if there are none.
    pub(super) fn registration(&self) -> Option<BTreeMap<&'static str, [Matcher; 1]>> {
        let interests = self.hooks.interests();
        let registered = EVENTS.into_iter().filter_map(|event| {
            let of_event: Vec<&Interest> = interests.iter().filter(|interest| interest.event == event).collect();
            let matcher = Matcher {
                matcher: matcher(&of_event),
                hook_callback_ids: [event.as_str()],
                timeout: self.timeout.as_secs_f64(),
                on_failure: event.is_gating().then_some("block"),
            };
            (!of_event.is_empty()).then_some((event.as_str(), [matcher]))
        });
        let registered: BTreeMap<_, _> = registered.collect();
        (!registered.is_empty()).then_some(registered)
    }

    /// Asks the hooks about an occasion.
    pub(super) async fn answer(&self, body: &JsonText) -> Result<JsonText, Failure> {
        let Callback { input } = body.to()?;
        let context: Context = input.to()?;
        let call = input.to::<Input>()?.into_call(&input)?;
        let agent = context.agent_id.map(|id| AgentIdentity::new(id.into(), context.agent_type.unwrap_or_default()));
        let cx = HookContext::new(SessionId::from(context.session_id), context.cwd).with_agent(agent);
        let outcome = self.hooks.run(&cx, &call).await;
        for (hook, error) in &outcome.failures {
            tracing::warn!(hook, error, "a hook failed");
        }
        Ok(JsonText::of(&Output::new(call.event(), outcome)?)?)
    }
}

/// The tools that any of them is about; nothing for all.
fn matcher(interests: &[&Interest]) -> Option<String> {
    let plain = |name: &String| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let names: Vec<&String> = interests.iter().flat_map(|interest| &interest.tools).collect();
    let some = interests.iter().all(|interest| !interest.tools.is_empty()) && names.iter().all(|name| plain(name));
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    some.then(|| names.join("|"))
}

#[derive(Deserialize)]
struct Callback {
    input: JsonText,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    cwd: PathBuf,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    agent_type: Option<String>,
}

#[derive(Deserialize)]
struct Input {
    hook_event_name: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Option<JsonText>,
    #[serde(default)]
    tool_use_id: String,
    #[serde(default)]
    permission_suggestions: Vec<JsonText>,
    #[serde(default)]
    tool_response: Option<JsonText>,
    #[serde(default)]
    duration_ms: u64,
    #[serde(default)]
    error: Option<JsonText>,
    #[serde(default)]
    is_interrupt: bool,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    stop_hook_active: bool,
    #[serde(default)]
    last_assistant_message: Option<String>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    agent_type: Option<String>,
    #[serde(default)]
    trigger: String,
    #[serde(default)]
    custom_instructions: Option<String>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    reason: String,
}

impl Input {
    fn into_call(self, whole: &JsonText) -> Result<HookCall, Failure> {
        let event = EVENTS.into_iter().find(|event| event.as_str() == self.hook_event_name);
        let event = event.ok_or_else(|| Failure::new(format!("no hook is about {}", self.hook_event_name)))?;
        let tool_name = self.tool_name;
        let tool_use_id = self.tool_use_id.into();
        let tool_input = || self.tool_input.ok_or_else(|| Failure::new(format!("there is no tool_input: {whole}")));
        let duration_ms = self.duration_ms;
        let agent = || {
            let id = self.agent_id.ok_or_else(|| Failure::new(format!("there is no agent_id: {whole}")))?;
            Ok::<_, Failure>(AgentIdentity::new(id.into(), self.agent_type.unwrap_or_default()))
        };
        Ok(match event {
            HookEventName::PreToolUse => HookCall::PreToolUse { tool_name, tool_input: tool_input()?, tool_use_id },
            HookEventName::PermissionRequest => HookCall::PermissionRequest {
                tool_name,
                tool_input: tool_input()?,
                tool_use_id,
                // One that is not known here cannot be answered with.
                permission_suggestions: self.permission_suggestions.iter().filter_map(|json| json.to().ok()).collect(),
            },
            HookEventName::PostToolUse => HookCall::PostToolUse {
                tool_name,
                tool_input: tool_input()?,
                tool_use_id,
                tool_response: self.tool_response.map_or_else(|| JsonText::of(""), Ok)?,
                duration_ms,
            },
            HookEventName::PostToolUseFailure => {
                let error = self.error.map(|error| error.to().unwrap_or_else(|_| error.to_string()));
                HookCall::PostToolUseFailure {
                    tool_name,
                    tool_input: tool_input()?,
                    tool_use_id,
                    error: error.unwrap_or_default(),
                    is_interrupt: self.is_interrupt,
                    duration_ms,
                }
            }
            HookEventName::UserPromptSubmit => HookCall::UserPromptSubmit { prompt: self.prompt },
            HookEventName::Stop => HookCall::Stop {
                stop_hook_active: self.stop_hook_active,
                last_assistant_message: self.last_assistant_message.unwrap_or_default(),
            },
            HookEventName::SubagentStart => HookCall::SubagentStart(agent()?),
            HookEventName::SubagentStop => HookCall::SubagentStop {
                agent: agent()?,
                stop_hook_active: self.stop_hook_active,
                last_assistant_message: self.last_assistant_message.unwrap_or_default(),
            },
            HookEventName::PreCompact => {
                HookCall::PreCompact { trigger: self.trigger, custom_instructions: self.custom_instructions }
            }
            HookEventName::SessionStart => HookCall::SessionStart { source: self.source },
            HookEventName::SessionEnd => HookCall::SessionEnd { reason: self.reason },
            // A later kind of occasion, which no callback was registered for.
            other => return Err(Failure::new(format!("no hook is about {other}"))),
        })
    }
}

#[cfg(test)]
mod tests;
