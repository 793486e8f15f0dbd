//! Events of a run, for hosts.

use crate::{
    AgentIdentity, AgentPath, AttemptId, CommandKinds, CompactTrigger, ContentBlock, Continuation, Decision,
    EditPreview, EntryId, HookEventName, HookOutcome, JsonText, MessageId, ModelErrorKind, NanoUsd, PermissionMode,
    PermissionRequest, RateLimit, RunId, RunOrigin, RunResult, SessionId, Steered, StopReason, TaskEnded, TaskInfo,
    TaskProgress, Timestamp, ToolFailure, ToolResult, ToolUseId, Usage,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

mod json;
mod unknown;

pub use unknown::UnknownEvent;

/// One event of a run, in its envelope.
///
/// # As JSON
/// An object of the envelope's fields and those of the kind, side by side, with the kind's name as `type`:
///
/// ```
/// # use windlass_types as windlass;
/// use windlass::{Event, EventKind};
///
/// let text = r#"{"seq":7,"session_id":"s","agent":[],"run_id":"r","turn":1,"at":"2026-01-01T00:00:00.000Z",
///     "type":"block_delta","index":0,"delta":{"kind":"text","text":"Hello"}}"#;
/// let event: Event = serde_json::from_str(text)?;
/// assert!(matches!(event.kind, EventKind::BlockDelta { index: 0, .. }));
/// assert_eq!(serde_json::from_str::<Event>(&serde_json::to_string(&event)?)?, event);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// A written event is read back as an equal value: numbers with all digits, and JSON of others ([`JsonText`]) as the
/// exact text. This holds for the JSON text of `serde_json` ([`from_str`](serde_json::from_str),
/// [`from_slice`](serde_json::from_slice)); a [`serde_json::Value`] between them keeps no exact text. Where JSON of
/// others is optional, its `null` is read as `None`. A path that is not UTF-8 cannot be written.
///
/// Events of a newer version can be read: fields that are not known are ignored, and an event of another type becomes
/// [`EventKind::Unknown`]. A value of another kind inside an event, such as a new [`Status`], is an error.
///
/// No name occurs twice. Two kinds have a field that the envelope has as well, the agent of a [`PermissionRequest`] and the
/// session of a [`RunResult`]. They hold the same; where they do not, the envelope's value is written.
///
/// The feature `schema` adds `schemars::JsonSchema`. The schemas and the types for TypeScript that follow from it are in
/// `docs/schema` of the repository.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(description = "One event of a run."))]
#[non_exhaustive]
pub struct Event {
    /// Position in the session's stream since it was opened, from zero without gaps.
    pub seq: u64,
    /// The session.
    pub session_id: SessionId,
    /// The agent of the event.
    pub agent: AgentPath,
    /// The run; of background work that starts or ends, the one that began it.
    pub run_id: RunId,
    /// The turn inside the run, from one; zero before the first model call.
    pub turn: u32,
    /// Time of the event by the session's clock. Of joined pieces of a text, that of the first. Never earlier than that of
    /// an earlier event of the same agent.
    pub at: Timestamp,
    /// Kind and content of the event.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub kind: EventKind,
}

impl Event {
    /// An event of the main agent, at the beginning of time.
    pub fn new(seq: u64, session_id: SessionId, run_id: RunId, turn: u32, kind: EventKind) -> Self {
        Self { seq, session_id, agent: AgentPath::default(), run_id, turn, at: Timestamp::default(), kind }
    }
}

/// Kind and content of an event.
///
/// `BlockDelta`, `BlockFinished` and `ModelFrame` are provisional until the
/// `MessageFinished` of their message; a `MessageWithdrawn` takes them back.
/// All other events are durable when they are shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// A run begins. Exactly one `RunFinished` follows.
    RunStarted(RunStarted),
    /// A frame of the model's stream as the provider sent it; with partial messages on.
    ModelFrame {
        /// The frame.
        frame: JsonText,
    },
    /// A block of the streaming message grew.
    BlockDelta {
        /// The block's position in the message.
        index: usize,
        /// The added piece.
        delta: Delta,
    },
    /// A block of the streaming message is complete.
    BlockFinished {
        /// The message.
        message_id: MessageId,
        /// The model that writes it.
        model: String,
        /// The block's position.
        index: usize,
        /// The id of the block's line in the log, once the message is stored.
        line: EntryId,
        /// The block.
        block: ContentBlock,
        /// Usage as known when the message started.
        usage: Usage,
    },
    /// The message is complete and stored.
    MessageFinished {
        /// The message.
        message_id: MessageId,
        /// The model that wrote it.
        model: String,
        /// Reason why the message ended.
        stop_reason: Option<StopReason>,
        /// Tokens of the message.
        usage: Usage,
        /// Attempt that gave the message, as [`Status::Requesting`] named it.
        attempt_id: AttemptId,
        /// Time from the request of the attempt to the end of the message, in milliseconds.
        latency_ms: u64,
        /// Time from the request of the attempt to the first piece of content, in milliseconds. `None`: the message came as a
        /// whole.
        first_token_ms: Option<u64>,
    },
    /// The shown parts of an unfinished message are withdrawn.
    MessageWithdrawn {
        /// The message, if it had begun.
        message_id: Option<MessageId>,
        /// Reason for the withdrawal.
        reason: WithdrawReason,
    },
    /// A tool begins to run.
    ToolStarted(ToolStarted),
    /// A tool reports its progress. Coalesced: only the latest is kept.
    ToolProgress(ToolProgress),
    /// A call is answered, whether it ran or not.
    ToolFinished(ToolFinished),
    /// The host is asked.
    PermissionRequested(PermissionRequest),
    /// A call was judged by asking, or denied.
    PermissionResolved {
        /// The tool use.
        tool_use_id: ToolUseId,
        /// The tool's name.
        tool: String,
        /// The final verdict.
        decision: Decision,
    },
    /// Hooks are asked; a `HookRan` of the same occasion follows, unless they are stopped. Only if the session reports it.
    HooksStarted {
        /// The event they listen to.
        event: HookEventName,
        /// The tool use, for events about a tool.
        tool_use_id: Option<ToolUseId>,
        /// Their names, in declared order.
        hooks: Vec<String>,
    },
    /// Hooks ran. May come between runs.
    HookRan {
        /// The event they listened to.
        event: HookEventName,
        /// The tool use, for events about a tool.
        tool_use_id: Option<ToolUseId>,
        /// Merged answers of the hooks.
        outcome: HookOutcome,
    },
    /// The state of the loop changed.
    Status(Status),
    /// A model call was billed.
    UsageUpdated {
        /// The model.
        model: String,
        /// Tokens of this call.
        usage: Usage,
        /// Cost of the session so far.
        cost: NanoUsd,
    },
    /// The allowance of the provider's subscription is known for the first time, or changed. Not once for each
    /// request: small steps of its utilization are left out.
    RateLimit(RateLimit),
    /// The conversation was replaced by a summary.
    Compacted(Compacted),
    /// A message that was sent to the run has joined it, or will not join it.
    Steered(Steered),
    /// A call started background work.
    TaskStarted(TaskInfo),
    /// Background work reports its progress. Coalesced: only the latest is kept. May come between runs.
    TaskProgress(TaskProgress),
    /// Background work ended. May come between runs.
    TaskEnded(TaskEnded),
    /// State of the session changed.
    StateChanged(StateChange),
    /// The run is over.
    RunFinished(RunResult),
    /// An event of a type that this version does not know, read from JSON. No session makes it.
    #[serde(untagged)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown(UnknownEvent),
}

/// Start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunStarted {
    /// The current directory.
    pub cwd: PathBuf,
    /// The model.
    pub model: String,
    /// The names of the tools that the model is offered.
    pub tools: Vec<String>,
    /// The permission mode.
    pub permission_mode: PermissionMode,
    /// `true` if the session has earlier runs.
    pub resumed: bool,
    /// Origin of the run: a prompt or a notification.
    pub origin: RunOrigin,
    /// Identity of the agent, unless it is the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<AgentIdentity>,
}

impl RunStarted {
    /// Start of a run without an identity, answering the user.
    pub fn new(
        cwd: PathBuf,
        model: String,
        tools: Vec<String>,
        permission_mode: PermissionMode,
        resumed: bool,
    ) -> Self {
        Self { cwd, model, tools, permission_mode, resumed, origin: RunOrigin::User, identity: None }
    }
}

/// Piece that was added to a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// Text.
    Text(String),
    /// Reasoning.
    Thinking(String),
    /// JSON text of a tool input, not valid on its own.
    ToolInput(String),
}

/// Reason for withdrawing shown parts of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WithdrawReason {
    /// The stream failed and the call is repeated or given up.
    StreamFailed,
    /// The user stopped the run, or the session was handed over.
    Interrupted,
}

/// A tool begins to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolStarted {
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The tool's name.
    pub tool: String,
    /// The input that runs, after hooks and answers changed it.
    pub input: JsonText,
    /// One line that names what happens.
    pub title: String,
    /// The permission decision that lets the tool run.
    pub decision: Option<Decision>,
    /// Preview of the file changes, if the session makes previews and the tool can compute one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<EditPreview>,
    /// Kinds of the commands that the call runs, if its text was analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandKinds>,
}

impl ToolStarted {
    /// A tool begins.
    pub fn new(tool_use_id: ToolUseId, tool: String, input: JsonText, title: String) -> Self {
        Self { tool_use_id, tool, input, title, decision: None, edits: None, command: None }
    }
}

/// Progress of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolProgress {
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The tool's name.
    pub tool: String,
    /// The progress, in words.
    pub message: String,
    /// Time since the tool started, in milliseconds.
    pub elapsed_ms: u64,
}

impl ToolProgress {
    /// Progress of a tool.
    pub fn new(tool_use_id: ToolUseId, tool: String, message: String, elapsed_ms: u64) -> Self {
        Self { tool_use_id, tool, message, elapsed_ms }
    }
}

/// A call is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolFinished {
    /// The tool's name.
    pub tool: String,
    /// The result, as the model reads it.
    pub result: ToolResult,
    /// The tool's structured output.
    pub structured: Option<JsonText>,
    /// A unified diff of what changed on disk.
    pub diff: Option<String>,
    /// The files that the call wrote, with links followed. Only for calls that name their files beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<PathBuf>,
    /// Duration of the run, in milliseconds; zero when the tool did not run.
    pub duration_ms: u64,
    /// The verdict, when permission or hooks kept it from running.
    pub denied: Option<Decision>,
    /// Reason why the tool failed. `None` if it succeeded, did not run, or gave an error as its own result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
    /// Id of the result's entry in the log.
    pub entry: Option<EntryId>,
}

impl ToolFinished {
    /// A call that ran.
    pub fn new(tool: String, result: ToolResult) -> Self {
        Self {
            tool,
            result,
            structured: None,
            diff: None,
            written: Vec::new(),
            duration_ms: 0,
            denied: None,
            error: None,
            entry: None,
        }
    }
}

/// A conversation that was replaced by a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Compacted {
    /// Reason for the compaction.
    pub trigger: CompactTrigger,
    /// Length of the conversation before, in tokens.
    pub pre_tokens: u64,
    /// Length of the conversation afterwards, in tokens, estimated.
    pub post_tokens: u64,
    /// Duration of the compaction, in milliseconds.
    pub duration_ms: u64,
    /// Summary that the model reads instead of the conversation before.
    pub summary: String,
    /// The id of the summary in the log.
    pub entry: EntryId,
    /// The id of the boundary in the log.
    pub boundary: EntryId,
}

impl Compacted {
    /// A compaction with a duration of zero.
    pub fn new(trigger: CompactTrigger, summary: String, boundary: EntryId, entry: EntryId) -> Self {
        Self { trigger, pre_tokens: 0, post_tokens: 0, duration_ms: 0, summary, entry, boundary }
    }
}

/// A failed model call that will be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RetryStatus {
    /// Number of the next retry, from one.
    pub attempt: u32,
    /// Maximum number of retries.
    pub max_retries: u32,
    /// Delay until the retry, in milliseconds.
    pub delay_ms: u64,
    /// Kind of the failure.
    pub error: ModelErrorKind,
    /// The HTTP status, if there was one.
    pub http_status: Option<u16>,
    /// Description of the failure.
    pub message: String,
}

impl RetryStatus {
    /// A retry without an HTTP status and a message.
    pub fn new(attempt: u32, max_retries: u32, delay_ms: u64, error: ModelErrorKind) -> Self {
        Self { attempt, max_retries, delay_ms, error, http_status: None, message: String::new() }
    }
}

/// The state of the loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// A model call begins.
    Requesting {
        /// Reason for the call.
        continuation: Continuation,
        /// The model.
        model: String,
        /// Attempt that begins. A repeat of the call is another one.
        attempt_id: AttemptId,
    },
    /// A failed call is repeated after a wait.
    Retrying(RetryStatus),
    /// The fallback model takes over.
    FallingBack {
        /// The model that failed.
        from: String,
        /// The model that takes over.
        to: String,
    },
    /// The conversation is being replaced by a summary.
    Compacting {
        /// Reason for the compaction.
        trigger: CompactTrigger,
    },
    /// The conversation could not be replaced, and stays as it is.
    CompactionFailed {
        /// Reason for the failure, in words.
        message: String,
    },
    /// The cached prefix changed since the last call.
    CacheBroken {
        /// The changed part: `model`, `system`, `tools`, `history`, or `thinking` if words of a prompt ask for more of
        /// it.
        cause: String,
    },
    /// The price of this model is unknown, so no budget limits its calls.
    PriceUnknown {
        /// The model.
        model: String,
    },
    /// Hooks run that have a status message for the waiting user.
    HooksRunning {
        /// The status messages, one line for each hook.
        message: String,
    },
    /// A notice for the user.
    Notice {
        /// The notice, in a sentence.
        message: String,
    },
}

/// State of the session that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StateChange {
    /// The permission mode.
    PermissionMode {
        /// The new mode.
        mode: PermissionMode,
    },
    /// The model.
    Model {
        /// The new model.
        model: String,
    },
    /// The directory that later calls start in.
    Cwd {
        /// The new directory.
        cwd: PathBuf,
    },
    /// The todo list.
    Todos {
        /// The list, a JSON array.
        todos: JsonText,
    },
}

#[cfg(test)]
mod tests;
