//! The port.

use crate::{
    HookContext, PermissionRequestAction, PostToolUseAction, PreCompactAction, PreToolUseAction, PromptAction,
    SessionStartAction, StopAction,
};
use async_trait::async_trait;
use std::path::PathBuf;
use windlass_types::{
    AgentIdentity, HookCall, HookEventName, HookOutcome, JsonText, PermissionUpdate, SessionId, ToolUseId,
};

/// What a hook listens to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interest {
    /// The event.
    pub event: HookEventName,
    /// Only calls of these tools; all when empty.
    pub tools: Vec<String>,
}

impl Interest {
    /// All occasions of an event.
    pub fn all(event: HookEventName) -> Self {
        Self { event, tools: Vec::new() }
    }

    /// Only calls of these tools.
    pub fn tools<I: Into<String>>(event: HookEventName, tools: impl IntoIterator<Item = I>) -> Self {
        Self { event, tools: tools.into_iter().map(Into::into).collect() }
    }

    /// Whether this covers an occasion.
    pub fn covers(&self, event: HookEventName, tool: Option<&str>) -> bool {
        self.event == event
            && (self.tools.is_empty() || tool.is_some_and(|tool| self.tools.iter().any(|name| name == tool)))
    }
}

/// A hook that failed. On a gate that denies the call or blocks the prompt.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// Before a tool runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreToolUse {
    /// The session.
    pub session_id: SessionId,
    /// The agent that calls it; nothing for the main agent.
    pub agent: Option<AgentIdentity>,
    /// The directory that the call starts in.
    pub cwd: PathBuf,
    /// The tool's name.
    pub tool_name: String,
    /// Its input, exactly as the model wrote it.
    pub tool_input: JsonText,
    /// The tool use.
    pub tool_use_id: ToolUseId,
}

/// Somebody must say whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionRequestEvent {
    /// The session.
    pub session_id: SessionId,
    /// The agent that calls it; nothing for the main agent.
    pub agent: Option<AgentIdentity>,
    /// The directory that the call starts in.
    pub cwd: PathBuf,
    /// The tool's name.
    pub tool_name: String,
    /// The input that will run.
    pub tool_input: JsonText,
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// Changes of permissions that would make the question unnecessary.
    pub suggestions: Vec<PermissionUpdate>,
}

/// After a tool ran.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostToolUse {
    /// The session.
    pub session_id: SessionId,
    /// The agent that calls it; nothing for the main agent.
    pub agent: Option<AgentIdentity>,
    /// The tool's name.
    pub tool_name: String,
    /// The input that ran.
    pub tool_input: JsonText,
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The structured output, or the text as a JSON string.
    pub tool_response: JsonText,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
}

/// After a tool failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostToolUseFailure {
    /// The session.
    pub session_id: SessionId,
    /// The agent that calls it; nothing for the main agent.
    pub agent: Option<AgentIdentity>,
    /// The tool's name.
    pub tool_name: String,
    /// The input that ran.
    pub tool_input: JsonText,
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// What the model will read.
    pub error: String,
    /// Whether the user stopped it.
    pub is_interrupt: bool,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
}

/// Before a prompt, or what the user says to the run that goes on, enters the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserPromptSubmit {
    /// The session.
    pub session_id: SessionId,
    /// The text of the prompt.
    pub prompt: String,
}

/// The model is done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stop {
    /// The session.
    pub session_id: SessionId,
    /// Whether the run already goes on because of a Stop hook.
    pub stop_hook_active: bool,
    /// The model's last text.
    pub last_assistant_message: String,
}

/// An agent below the main one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubagentStart {
    /// The session.
    pub session_id: SessionId,
    /// The agent.
    pub agent: AgentIdentity,
}

/// The model of an agent below the main one is done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubagentStop {
    /// The session.
    pub session_id: SessionId,
    /// The agent.
    pub agent: AgentIdentity,
    /// Whether it already goes on because of a SubagentStop hook.
    pub stop_hook_active: bool,
    /// The model's last text.
    pub last_assistant_message: String,
}

/// A conversation is about to be replaced by a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreCompact {
    /// The session.
    pub session_id: SessionId,
    /// `manual` or `auto`.
    pub trigger: String,
    /// What the user wants the summary to care for.
    pub custom_instructions: Option<String>,
}

/// A session was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStart {
    /// The session.
    pub session_id: SessionId,
    /// `startup` or `resume`.
    pub source: String,
}

/// A session is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionEnd {
    /// The session.
    pub session_id: SessionId,
    /// Why.
    pub reason: String,
}

/// A hook. Implement the methods of the events it listens to.
///
/// Methods run on their own task, never on the loop: a hook may call back into
/// the session's handle. They are dropped when the run is stopped.
#[async_trait]
pub trait Hook: Send + Sync + 'static {
    /// A name for events, errors and the log.
    fn name(&self) -> &str;

    /// What it listens to. Asked when a session opens, and again only when the
    /// session is told that hooks have changed their minds.
    fn interests(&self) -> Vec<Interest>;

    /// Answers an occasion as a whole, for hooks that pass it on to another
    /// program: such an answer may hold a verdict, a new input and context at
    /// once. What is returned here counts, and the method of the event is not
    /// asked. `ran` is filled in by the caller. Default: nothing.
    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Option<HookOutcome> {
        let _ = (cx, call);
        None
    }

    /// Before a tool runs. A failure denies the call.
    async fn pre_tool_use(&self, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        let _ = event;
        Ok(PreToolUseAction::Continue)
    }

    /// A call needs an answer: the hook may give it instead of the host, who is
    /// asked at the same time. Without a host only hooks can allow it. A failure
    /// denies the call.
    async fn permission_request(&self, event: &PermissionRequestEvent) -> Result<PermissionRequestAction, HookError> {
        let _ = event;
        Ok(PermissionRequestAction::Continue)
    }

    /// After a tool ran.
    async fn post_tool_use(&self, event: &PostToolUse) -> Result<PostToolUseAction, HookError> {
        let _ = event;
        Ok(PostToolUseAction::Continue)
    }

    /// After a tool failed.
    async fn post_tool_use_failure(&self, event: &PostToolUseFailure) -> Result<PostToolUseAction, HookError> {
        let _ = event;
        Ok(PostToolUseAction::Continue)
    }

    /// Before a prompt, or what the user says to the run that goes on, enters the conversation. A failure blocks it.
    async fn user_prompt_submit(&self, event: &UserPromptSubmit) -> Result<PromptAction, HookError> {
        let _ = event;
        Ok(PromptAction::Continue)
    }

    /// The model is done.
    async fn stop(&self, event: &Stop) -> Result<StopAction, HookError> {
        let _ = event;
        Ok(StopAction::Continue)
    }

    /// An agent below the main one begins; what is added is for its model.
    async fn subagent_start(&self, event: &SubagentStart) -> Result<SessionStartAction, HookError> {
        let _ = event;
        Ok(SessionStartAction::Continue)
    }

    /// The model of an agent below the main one is done.
    async fn subagent_stop(&self, event: &SubagentStop) -> Result<StopAction, HookError> {
        let _ = event;
        Ok(StopAction::Continue)
    }

    /// A conversation is about to be replaced by a summary.
    async fn pre_compact(&self, event: &PreCompact) -> Result<PreCompactAction, HookError> {
        let _ = event;
        Ok(PreCompactAction::Continue)
    }

    /// A session was opened.
    async fn session_start(&self, event: &SessionStart) -> Result<SessionStartAction, HookError> {
        let _ = event;
        Ok(SessionStartAction::Continue)
    }

    /// A session is closed.
    async fn session_end(&self, event: &SessionEnd) -> Result<(), HookError> {
        let _ = event;
        Ok(())
    }
}

const _: fn(&dyn Hook) = |_| {};
