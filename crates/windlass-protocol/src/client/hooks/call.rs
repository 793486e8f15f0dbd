//! What hooks are asked about, as the protocol writes it.

use super::EVENTS;
use crate::client::failure::Failure;
use serde::Deserialize;
use windlass_types::{AgentIdentity, HookCall, HookEventName, JsonText, ToolUseId};

/// The tool use that an occasion is about.
#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Option<JsonText>,
    #[serde(default)]
    tool_use_id: String,
}

#[derive(Deserialize)]
struct Suggestions {
    #[serde(default)]
    permission_suggestions: Vec<JsonText>,
}

/// How a call ended.
#[derive(Deserialize)]
struct End {
    #[serde(default)]
    tool_response: Option<JsonText>,
    #[serde(default)]
    error: Option<JsonText>,
    #[serde(default)]
    is_interrupt: bool,
    #[serde(default)]
    duration_ms: u64,
}

/// The end of a turn, or of an agent.
#[derive(Deserialize)]
struct Stopping {
    #[serde(default)]
    stop_hook_active: bool,
    #[serde(default)]
    last_assistant_message: Option<String>,
}

#[derive(Deserialize)]
struct Agent {
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    agent_type: Option<String>,
}

/// What occasions of the session say.
#[derive(Deserialize)]
struct Session {
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    trigger: String,
    #[serde(default)]
    custom_instructions: Option<String>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    reason: String,
}

/// Reads what an event of this name is about.
pub(super) fn read(event: &str, input: &JsonText) -> Result<HookCall, Failure> {
    let unknown = || Failure::new(format!("no hook is about {event}"));
    let known = EVENTS.into_iter().find(|known| known.as_str() == event).ok_or_else(unknown)?;
    match known {
        HookEventName::PreToolUse
        | HookEventName::PermissionRequest
        | HookEventName::PostToolUse
        | HookEventName::PostToolUseFailure => about_tool(known, input),
        HookEventName::Stop => {
            let Stopping { stop_hook_active, last_assistant_message } = input.to()?;
            let last_assistant_message = last_assistant_message.unwrap_or_default();
            Ok(HookCall::Stop { stop_hook_active, last_assistant_message })
        }
        HookEventName::SubagentStart => Ok(HookCall::SubagentStart(agent(input)?)),
        HookEventName::SubagentStop => {
            let Stopping { stop_hook_active, last_assistant_message } = input.to()?;
            let (agent, last_assistant_message) = (agent(input)?, last_assistant_message.unwrap_or_default());
            Ok(HookCall::SubagentStop { agent, stop_hook_active, last_assistant_message })
        }
        _ => about_session(known, input),
    }
}

fn about_tool(event: HookEventName, input: &JsonText) -> Result<HookCall, Failure> {
    let Call { tool_name, tool_input, tool_use_id } = input.to()?;
    let tool_input = tool_input.ok_or_else(|| Failure::new(format!("there is no tool_input: {input}")))?;
    let tool_use_id = ToolUseId::from(tool_use_id);
    Ok(match event {
        HookEventName::PreToolUse => HookCall::PreToolUse { tool_name, tool_input, tool_use_id },
        HookEventName::PermissionRequest => {
            let Suggestions { permission_suggestions } = input.to()?;
            // One that is not known here cannot be answered with.
            let permission_suggestions = permission_suggestions.iter().filter_map(|json| json.to().ok()).collect();
            HookCall::PermissionRequest { tool_name, tool_input, tool_use_id, permission_suggestions }
        }
        HookEventName::PostToolUse => {
            let End { tool_response, duration_ms, .. } = input.to()?;
            let tool_response = tool_response.map_or_else(|| JsonText::of(""), Ok)?;
            HookCall::PostToolUse { tool_name, tool_input, tool_use_id, tool_response, duration_ms }
        }
        _ => {
            let End { error, is_interrupt, duration_ms, .. } = input.to()?;
            let error = error.map(|error| error.to().unwrap_or_else(|_| error.to_string())).unwrap_or_default();
            HookCall::PostToolUseFailure { tool_name, tool_input, tool_use_id, error, is_interrupt, duration_ms }
        }
    })
}

fn about_session(event: HookEventName, input: &JsonText) -> Result<HookCall, Failure> {
    let Session { prompt, trigger, custom_instructions, source, reason } = input.to()?;
    Ok(match event {
        HookEventName::UserPromptSubmit => HookCall::UserPromptSubmit { prompt },
        HookEventName::PreCompact => HookCall::PreCompact { trigger, custom_instructions },
        HookEventName::SessionStart => HookCall::SessionStart { source },
        HookEventName::SessionEnd => HookCall::SessionEnd { reason },
        // A later kind of occasion, which no callback was registered for.
        other => return Err(Failure::new(format!("no hook is about {other}"))),
    })
}

fn agent(input: &JsonText) -> Result<AgentIdentity, Failure> {
    let Agent { agent_id, agent_type } = input.to()?;
    let id = agent_id.ok_or_else(|| Failure::new(format!("there is no agent_id: {input}")))?;
    Ok(AgentIdentity::new(id.into(), agent_type.unwrap_or_default()))
}
