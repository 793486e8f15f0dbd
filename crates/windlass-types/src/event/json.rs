//! Events as JSON, and back.

use super::{Delta, Event, EventKind, StateChange, WithdrawReason};
use crate::json::{by_tag, variant};
use crate::{
    AgentPath, AttemptId, ContentBlock, Decision, EntryId, HookEventName, HookOutcome, JsonError, JsonText, MessageId,
    NanoUsd, PermissionMode, RunId, SessionId, StopReason, Timestamp, ToolUseId, Usage,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::path::PathBuf;

/// The names of the envelope's fields.
pub(super) const ENVELOPE: [&str; 6] = ["seq", "session_id", "agent", "run_id", "turn", "at"];

#[derive(Serialize)]
struct Written<'a> {
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a AgentPath>,
    run_id: &'a RunId,
    turn: u32,
    at: Timestamp,
    #[serde(flatten)]
    kind: &'a EventKind,
}

#[derive(Deserialize)]
struct Envelope {
    seq: u64,
    session_id: SessionId,
    agent: AgentPath,
    run_id: RunId,
    turn: u32,
    at: Timestamp,
}

impl Event {
    /// Kind to write. Fields that it shares with the envelope take the envelope's values.
    fn written_kind(&self) -> Cow<'_, EventKind> {
        match &self.kind {
            EventKind::RunFinished(result) if result.session_id != self.session_id => {
                let mut result = result.clone();
                result.session_id.clone_from(&self.session_id);
                Cow::Owned(EventKind::RunFinished(result))
            }
            EventKind::PermissionRequested(request) if request.agent != self.agent => {
                let mut request = request.clone();
                request.agent.clone_from(&self.agent);
                Cow::Owned(EventKind::PermissionRequested(request))
            }
            kind => Cow::Borrowed(kind),
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.written_kind();
        // Envelope fields that the kind writes itself are left out here, so that no name occurs twice.
        let session_id = (!matches!(*kind, EventKind::RunFinished(_))).then_some(&self.session_id);
        let agent = (!matches!(*kind, EventKind::PermissionRequested(_))).then_some(&self.agent);
        let Self { seq, run_id, turn, at, .. } = self;
        Written { seq: *seq, session_id, agent, run_id, turn: *turn, at: *at, kind: &kind }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_tag(deserializer, |text| {
            let Envelope { seq, session_id, agent, run_id, turn, at } = text.to()?;
            Ok(Self { seq, session_id, agent, run_id, turn, at, kind: EventKind::read(text)? })
        })
    }
}

impl<'de> Deserialize<'de> for EventKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_tag(deserializer, Self::read)
    }
}

impl EventKind {
    fn read(text: &JsonText) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        struct Tag {
            #[serde(rename = "type")]
            name: String,
        }
        match text.to::<Tag>()?.name.as_str() {
            "run_started" => text.to().map(Self::RunStarted),
            "tool_started" => text.to().map(Self::ToolStarted),
            "tool_progress" => text.to().map(Self::ToolProgress),
            "tool_finished" => text.to().map(Self::ToolFinished),
            "permission_requested" => text.to().map(Self::PermissionRequested),
            "status" => text.to().map(Self::Status),
            "rate_limit" => text.to().map(Self::RateLimit),
            "compacted" => text.to().map(Self::Compacted),
            "steered" => text.to().map(Self::Steered),
            "task_started" => text.to().map(Self::TaskStarted),
            "task_progress" => text.to().map(Self::TaskProgress),
            "task_ended" => text.to().map(Self::TaskEnded),
            "state_changed" => text.to().map(Self::StateChanged),
            "run_finished" => text.to().map(Self::RunFinished),
            other => Self::read_fields(other, text),
        }
    }

    /// Reads the kinds whose fields stand beside the envelope's fields.
    fn read_fields(name: &str, text: &JsonText) -> Result<Self, JsonError> {
        match name {
            "model_frame" => variant!(text, ModelFrame { frame: JsonText }),
            "block_delta" => variant!(text, BlockDelta { index: usize, delta: Delta }),
            "block_finished" => variant!(
                text,
                BlockFinished {
                    message_id: MessageId,
                    model: String,
                    index: usize,
                    line: EntryId,
                    block: ContentBlock,
                    usage: Usage,
                }
            ),
            "message_finished" => variant!(
                text,
                MessageFinished {
                    message_id: MessageId,
                    model: String,
                    stop_reason: Option<StopReason>,
                    usage: Usage,
                    attempt_id: AttemptId,
                    latency_ms: u64,
                    first_token_ms: Option<u64>,
                }
            ),
            "message_withdrawn" => {
                variant!(text, MessageWithdrawn { message_id: Option<MessageId>, reason: WithdrawReason })
            }
            "permission_resolved" => {
                variant!(text, PermissionResolved { tool_use_id: ToolUseId, tool: String, decision: Decision })
            }
            "hooks_started" => variant!(
                text,
                HooksStarted { event: HookEventName, tool_use_id: Option<ToolUseId>, hooks: Vec<String> }
            ),
            "hook_ran" => variant!(
                text,
                HookRan { event: HookEventName, tool_use_id: Option<ToolUseId>, outcome: HookOutcome }
            ),
            "usage_updated" => variant!(text, UsageUpdated { model: String, usage: Usage, cost: NanoUsd }),
            _ => text.to().map(Self::Unknown),
        }
    }
}

impl<'de> Deserialize<'de> for StateChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_tag(deserializer, Self::read)
    }
}

impl StateChange {
    fn read(text: &JsonText) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        struct Tag {
            state: String,
        }
        match text.to::<Tag>()?.state.as_str() {
            "permission_mode" => variant!(text, PermissionMode { mode: PermissionMode }),
            "model" => variant!(text, Model { model: String }),
            "cwd" => variant!(text, Cwd { cwd: PathBuf }),
            "todos" => variant!(text, Todos { todos: JsonText }),
            other => Err(JsonError::unknown("state", other)),
        }
    }
}
