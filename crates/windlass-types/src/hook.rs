//! What hooks are asked and what they answer, as data.

use crate::{AgentIdentity, Behavior, JsonText, PermissionAnswer, PermissionUpdate, ToolResultContent, ToolUseId};
use serde::Serialize;
use std::fmt;

/// The events that hooks can listen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum HookEventName {
    /// Before a tool runs.
    PreToolUse,
    /// Before the host is asked about a call.
    PermissionRequest,
    /// After a tool ran.
    PostToolUse,
    /// After a tool failed.
    PostToolUseFailure,
    /// Before a prompt enters the conversation.
    UserPromptSubmit,
    /// Before a run ends because the model is done.
    Stop,
    /// An agent below the main one begins.
    SubagentStart,
    /// Before an agent below the main one ends because its model is done.
    SubagentStop,
    /// Before a conversation is replaced by a summary.
    PreCompact,
    /// A session was opened.
    SessionStart,
    /// A session is closed.
    SessionEnd,
}

impl HookEventName {
    /// The name as settings and the wire write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// Whether a failure of a hook counts as a deny or block.
    pub fn is_gating(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest | Self::UserPromptSubmit)
    }
}

impl fmt::Display for HookEventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One occasion on which hooks are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum HookCall {
    /// Before a tool runs.
    PreToolUse {
        /// The tool's name.
        tool_name: String,
        /// Its input.
        tool_input: JsonText,
        /// The tool use.
        tool_use_id: ToolUseId,
    },
    /// Before the host is asked about a call, and beside it.
    PermissionRequest {
        /// The tool's name.
        tool_name: String,
        /// Its input.
        tool_input: JsonText,
        /// The tool use.
        tool_use_id: ToolUseId,
        /// Changes of permissions that would make the question unnecessary.
        permission_suggestions: Vec<PermissionUpdate>,
    },
    /// After a tool ran.
    PostToolUse {
        /// The tool's name.
        tool_name: String,
        /// Its input.
        tool_input: JsonText,
        /// The tool use.
        tool_use_id: ToolUseId,
        /// The structured output, or what the model will read as a JSON string.
        tool_response: JsonText,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
    /// After a tool failed.
    PostToolUseFailure {
        /// The tool's name.
        tool_name: String,
        /// Its input.
        tool_input: JsonText,
        /// The tool use.
        tool_use_id: ToolUseId,
        /// What the model will read.
        error: String,
        /// Whether it was stopped.
        is_interrupt: bool,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
    /// Before a prompt enters the conversation.
    UserPromptSubmit {
        /// The text of the prompt.
        prompt: String,
    },
    /// Before a run ends because the model is done.
    Stop {
        /// Whether the run goes on because of an earlier Stop hook.
        stop_hook_active: bool,
        /// The model's last text.
        last_assistant_message: String,
    },
    /// An agent below the main one begins.
    SubagentStart(AgentIdentity),
    /// Before an agent below the main one ends because its model is done.
    SubagentStop {
        /// The agent.
        #[serde(flatten)]
        agent: AgentIdentity,
        /// Whether it goes on because of an earlier SubagentStop hook.
        stop_hook_active: bool,
        /// The model's last text.
        last_assistant_message: String,
    },
    /// Before a conversation is replaced by a summary.
    PreCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// What the user wants the summary to care for.
        custom_instructions: Option<String>,
    },
    /// A session was opened.
    SessionStart {
        /// `startup` or `resume`.
        source: String,
    },
    /// A session is closed.
    SessionEnd {
        /// Why.
        reason: String,
    },
}

impl HookCall {
    /// The event's name.
    pub fn event(&self) -> HookEventName {
        match self {
            Self::PreToolUse { .. } => HookEventName::PreToolUse,
            Self::PermissionRequest { .. } => HookEventName::PermissionRequest,
            Self::PostToolUse { .. } => HookEventName::PostToolUse,
            Self::PostToolUseFailure { .. } => HookEventName::PostToolUseFailure,
            Self::UserPromptSubmit { .. } => HookEventName::UserPromptSubmit,
            Self::Stop { .. } => HookEventName::Stop,
            Self::SubagentStart(_) => HookEventName::SubagentStart,
            Self::SubagentStop { .. } => HookEventName::SubagentStop,
            Self::PreCompact { .. } => HookEventName::PreCompact,
            Self::SessionStart { .. } => HookEventName::SessionStart,
            Self::SessionEnd { .. } => HookEventName::SessionEnd,
        }
    }

    /// The tool's name, for events about a tool.
    pub fn tool_name(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { tool_name, .. }
            | Self::PermissionRequest { tool_name, .. }
            | Self::PostToolUse { tool_name, .. }
            | Self::PostToolUseFailure { tool_name, .. } => Some(tool_name),
            _ => None,
        }
    }
}

/// A hook's opinion on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookVerdict {
    /// What it says.
    pub behavior: Behavior,
    /// The hook that says so.
    pub hook: String,
    /// Why.
    pub reason: String,
}

impl HookVerdict {
    /// A hook's opinion.
    pub fn new(behavior: Behavior, hook: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { behavior, hook: hook.into(), reason: reason.into() }
    }
}

/// What all hooks of one occasion said together, merged in their declared order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct HookOutcome {
    /// The names of the hooks that ran, in declared order.
    pub ran: Vec<String>,
    /// PreToolUse: the lowest opinion, deny before ask before allow.
    pub verdict: Option<HookVerdict>,
    /// PermissionRequest: the answer, a deny before an allow.
    #[serde(skip)]
    pub answer: Option<PermissionAnswer>,
    /// UserPromptSubmit, Stop, PostToolUse, PreCompact: blocks, with the reason as feedback.
    pub block: Option<HookVerdict>,
    /// PreToolUse: the input to use instead.
    pub updated_input: Option<JsonText>,
    /// PostToolUse: what the model reads instead.
    #[serde(skip)]
    pub updated_output: Option<ToolResultContent>,
    /// Context for the model.
    pub additional_context: Vec<String>,
    /// Messages for the user.
    pub system_messages: Vec<String>,
    /// Ends the run after this, with a reason.
    pub stop: Option<String>,
    /// Hooks that failed, with what happened.
    pub failures: Vec<(String, String)>,
}
