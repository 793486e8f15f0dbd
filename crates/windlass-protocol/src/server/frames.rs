//! Frames outside of runs.

pub(crate) use crate::channel::frames::{ControlResponse, answer};

use serde::Serialize;
use windlass_conversation::SlashCommand;
use windlass_types::JsonText;

/// A system frame outside of runs: the state of the session, or its mode.
#[derive(Serialize)]
pub(crate) struct StateChanged<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    /// `null`, if present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sdk_host_only: bool,
    #[serde(rename = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub(crate) permission_mode: Option<&'a str>,
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}

/// The state of a message that has an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MessageLifecycle {
    /// The message waits for its turn.
    Queued,
    /// The message is being answered.
    Started,
    /// The message has its result.
    Completed,
    /// The message gets no turn.
    Cancelled,
}

/// News about an MCP server.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct McpServerNews {
    pub(crate) name: String,
    pub(crate) status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct McpStatusFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    pub(crate) mcp_server: &'a McpServerNews,
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}

#[derive(Serialize)]
pub(crate) struct CommandLifecycle<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) command_uuid: &'a str,
    pub(crate) state: MessageLifecycle,
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}

/// A message of the host, returned when its turn begins.
#[derive(Serialize)]
pub(crate) struct ReplayedMessage<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: &'a JsonText,
    pub(crate) parent_tool_use_id: Option<&'a str>,
    pub(crate) session_id: &'a str,
    pub(crate) uuid: &'a str,
    #[serde(rename = "isReplay")]
    pub(crate) is_replay: bool,
}

/// The conversation continues in another session.
#[derive(Serialize)]
pub(crate) struct Reset<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) new_conversation_id: &'a str,
    pub(crate) trigger: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_message_uuid: Option<&'a str>,
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}

/// The session has a new title.
#[derive(Serialize)]
pub(crate) struct TitleChanged<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    pub(crate) title: &'a str,
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}

/// The commands differ from those in `initialize`.
#[derive(Serialize)]
pub(crate) struct CommandsChanged<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) subtype: &'static str,
    pub(crate) commands: &'a [SlashCommand],
    pub(crate) uuid: String,
    pub(crate) session_id: &'a str,
}
