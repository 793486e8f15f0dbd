//! Frames in wire format. All fields are borrowed.

mod deferred;
mod rate_limit;
mod result;
mod uuid;

pub(crate) use rate_limit::{RateLimitEvent, RateLimitInfo};
pub(crate) use result::{RunResultFrame, UsageFrame, WireModels};
pub(crate) use uuid::Uuid;

use crate::{HostPlugin, HostPluginError};
use serde::Serialize;
use windlass_types::{AgentIdentity, ContentBlock, JsonText, ToolResult, ToolResultContent};

#[derive(Serialize)]
pub(crate) struct InitFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    pub(crate) cwd: &'a str,
    pub(crate) session_id: &'a str,
    #[serde(flatten)]
    pub(crate) tools: InitTools<'a>,
    #[serde(flatten)]
    pub(crate) model: InitModel<'a>,
    pub(crate) slash_commands: &'a [String],
    #[serde(flatten)]
    pub(crate) program: InitProgram<'a>,
    #[serde(flatten)]
    pub(crate) agents: InitAgents<'a>,
    #[serde(flatten)]
    pub(crate) plugins: InitPlugins<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) capabilities: &'static [&'static str],
    pub(crate) uuid: Uuid,
}

/// Callable tools of the model.
#[derive(Serialize)]
pub(crate) struct InitTools<'a> {
    pub(crate) tools: Vec<&'a str>,
    pub(crate) mcp_servers: Vec<InitServer<'a>>,
}

/// The model, and its permission mode.
#[derive(Serialize)]
pub(crate) struct InitModel<'a> {
    pub(crate) model: &'a str,
    #[serde(rename = "permissionMode")]
    pub(crate) permission_mode: &'a str,
}

/// The program that the host communicates with.
#[derive(Serialize)]
pub(crate) struct InitProgram<'a> {
    #[serde(rename = "apiKeySource")]
    pub(crate) api_key_source: &'a str,
    pub(crate) claude_code_version: &'static str,
    pub(crate) output_style: &'a str,
}

/// Agents and skills that the model can use.
#[derive(Serialize)]
pub(crate) struct InitAgents<'a> {
    pub(crate) agents: &'a [String],
    pub(crate) skills: &'a [String],
}

/// Plugins, and their errors.
#[derive(Serialize)]
pub(crate) struct InitPlugins<'a> {
    pub(crate) plugins: &'a [HostPlugin],
    #[serde(rename = "plugin_errors", skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) errors: &'a [HostPluginError],
}

#[derive(Serialize)]
pub(crate) struct InitServer<'a> {
    pub(crate) name: &'a str,
    pub(crate) status: &'a str,
    pub(crate) source: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Assistant<'a, C> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: AssistantFrame<'a, C>,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) agent: Option<Speaker<'a>>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'static str>,
    #[serde(flatten)]
    pub(crate) answers: Option<AnsweredMessages>,
}

/// Agent of a message, if not the main one.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Speaker<'a> {
    agent_id: &'a str,
    subagent_type: &'a str,
}

impl<'a> Speaker<'a> {
    pub(crate) fn of(agent: &'a AgentIdentity) -> Self {
        Self { agent_id: agent.id.as_str(), subagent_type: &agent.agent_type }
    }
}

/// Messages of the host that a frame answers, by the host's own ids.
#[derive(Serialize)]
pub(crate) struct AnsweredMessages {
    user_message_uuid: String,
    user_message_uuids: Vec<String>,
}

impl AnsweredMessages {
    pub(crate) fn new(uuid: String) -> Self {
        Self { user_message_uuids: vec![uuid.clone()], user_message_uuid: uuid }
    }

    /// Answer to the message that began the turn and to those that joined it. If no message with an id began the turn,
    /// the last joined one represents all.
    pub(crate) fn with_joined(first: Option<String>, joined: Vec<String>) -> Option<Self> {
        let user_message_uuid = first.as_ref().or(joined.last())?.clone();
        Some(Self { user_message_uuid, user_message_uuids: first.into_iter().chain(joined).collect() })
    }
}

#[derive(Serialize)]
pub(crate) struct AssistantFrame<'a, C> {
    pub(crate) id: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) role: &'static str,
    pub(crate) model: &'a str,
    pub(crate) content: [C; 1],
    pub(crate) stop_reason: Option<&'a str>,
    pub(crate) stop_sequence: Option<&'a str>,
    pub(crate) usage: UsageFrame,
}

#[derive(Serialize)]
pub(crate) struct User<'a, C> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: UserFrame<C>,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) agent: Option<Speaker<'a>>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_result: Option<StructuredResult<'a>>,
}

#[derive(Serialize)]
pub(crate) struct UserFrame<C> {
    pub(crate) role: &'static str,
    pub(crate) content: [C; 1],
}

/// Output of a command that was carried out without the model.
#[derive(Serialize)]
pub(crate) struct LocalOutputFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: UserText<'a>,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: Uuid,
    #[serde(rename = "isReplay")]
    pub(crate) is_replay: bool,
}

/// Output of a local command as text of the assistant, for hosts that ignore messages in the user's place.
#[derive(Serialize)]
pub(crate) struct LocalCommandBody<'a> {
    pub(crate) content: &'a str,
}

#[derive(Serialize)]
pub(crate) struct UserText<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: &'a str,
}

/// Result of a tool for UIs: an object, or a text.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum StructuredResult<'a> {
    Json(&'a JsonText),
    Text(String),
}

#[derive(Serialize)]
pub(crate) struct TextBlock<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) text: &'a str,
}

impl<'a> TextBlock<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { kind: "text", text }
    }
}

#[derive(Serialize)]
pub(crate) struct ToolResultFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tool_use_id: &'a str,
    content: &'a ToolResultContent,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

impl<'a> ToolResultFrame<'a> {
    pub(crate) fn new(result: &'a ToolResult, content: &'a ToolResultContent) -> Self {
        Self { kind: "tool_result", tool_use_id: result.tool_use_id.as_str(), content, is_error: result.is_error }
    }
}

#[derive(Serialize)]
pub(crate) struct StreamEventFrame<'a, E> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) event: E,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
    /// Not flattened, because this is written for each few letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_message_uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_message_uuids: Option<[&'a str; 1]>,
}

/// A stream event that we make ourselves to keep the stream balanced.
#[derive(Serialize)]
pub(crate) struct ClosingEvent {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<usize>,
}

/// A system frame; `body` has the fields of its subtype.
#[derive(Serialize)]
pub(crate) struct System<'a, B> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    #[serde(flatten)]
    pub(crate) body: B,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
}

#[derive(Default, Serialize)]
pub(crate) struct StatusFrame<'a> {
    pub(crate) status: Option<&'static str>,
    #[serde(rename = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub(crate) permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compact_result: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compact_error: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct RetryBody<'a> {
    pub(crate) attempt: u32,
    pub(crate) max_retries: u32,
    pub(crate) retry_delay_ms: u64,
    pub(crate) error_status: Option<u16>,
    pub(crate) error: &'static str,
    pub(crate) message: &'a str,
}

#[derive(Serialize)]
pub(crate) struct FallbackBody<'a> {
    pub(crate) original_model: &'a str,
    pub(crate) fallback_model: &'a str,
}

#[derive(Serialize)]
pub(crate) struct DeniedBody<'a> {
    pub(crate) tool_name: &'a str,
    pub(crate) tool_use_id: &'a str,
    /// Agent of the call, if not the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<&'a str>,
    pub(crate) decision_reason_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision_reason: Option<&'a str>,
    pub(crate) message: &'a str,
}

#[derive(Serialize)]
pub(crate) struct InformationalBody<'a> {
    pub(crate) content: &'a str,
    pub(crate) level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<&'a str>,
    /// `true` if the run stops after it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prevent_continuation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<&'static str>,
}

impl<'a> InformationalBody<'a> {
    pub(crate) fn warning(content: &'a str) -> Self {
        Self { content, level: "warning", tool_use_id: None, prevent_continuation: false, tag: None }
    }
}

#[derive(Serialize)]
pub(crate) struct WithdrawnBody<'a> {
    pub(crate) message_id: Option<&'a str>,
    pub(crate) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_tool_use_id: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct ProgressFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) tool_use_id: &'a str,
    pub(crate) tool_name: &'a str,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) elapsed_time_seconds: f64,
    pub(crate) message: &'a str,
    pub(crate) uuid: Uuid,
    pub(crate) session_id: &'a str,
}

/// A block of a complete message.
pub(crate) type FrameBlock<'a> = &'a ContentBlock;
