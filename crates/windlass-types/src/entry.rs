//! Entries of the session log.

use crate::{
    AuditedDecision, CallDigest, ContentBlock, EntryId, EnvironmentContext, JsonText, MessageId, ModelUsage, NanoUsd,
    Origin, PendingQuestion, PermissionMode, Quotation, RunId, StopReason, TaskId, TaskRecord, Timestamp, ToolResult,
    ToolUseId, Usage, WaitingCall,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One entry of the session log. The state of a session is a fold over these.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Id of the entry. For an assistant message, the id of its last block's line.
    pub id: EntryId,
    /// The entry before it in the conversation; `None` for the first and for
    /// entries beside the conversation.
    pub parent: Option<EntryId>,
    /// Time at which the entry was made.
    pub timestamp: Timestamp,
    /// Kind and content of the entry.
    pub kind: EntryKind,
}

impl Entry {
    /// An entry.
    pub fn new(id: EntryId, parent: Option<EntryId>, timestamp: Timestamp, kind: EntryKind) -> Self {
        Self { id, parent, timestamp, kind }
    }

    /// Returns `true` if the entry is part of the conversation (a user text, an assistant message or a tool result) and
    /// so can be a parent.
    pub fn is_conversation(&self) -> bool {
        matches!(self.kind, EntryKind::User(_) | EntryKind::Assistant(_) | EntryKind::ToolResult(_))
    }

    /// Approximate length of the entry's texts in memory, in bytes. Counts only texts that can be long; texts that are
    /// short in all entries of the kind, such as ids, are left out.
    pub fn text_len(&self) -> usize {
        let blocks = |blocks: &[ContentBlock]| blocks.iter().map(ContentBlock::text_len).sum::<usize>();
        match &self.kind {
            EntryKind::User(user) => blocks(&user.content),
            EntryKind::Assistant(assistant) => blocks(&assistant.content),
            EntryKind::ToolResult(result) => {
                result.result.text_len() + result.structured.as_ref().map_or(0, |json| json.as_str().len())
            }
            EntryKind::Decision(audited) => audited.text_len(),
            EntryKind::Question(question) => question.denied.iter().chain(&question.skills).map(String::len).sum(),
            EntryKind::Todos(json) | EntryKind::Foreign(json) => json.as_str().len(),
            EntryKind::Task(TaskRecord::Ended(ended)) => {
                ended.summary.len() + ended.report.as_ref().map_or(0, String::len)
            }
            EntryKind::RunFinished(record) => record.outcome.len(),
            EntryKind::ToolsAdded(names) | EntryKind::ToolsWithheld(names) => names.iter().map(String::len).sum(),
            EntryKind::ResultsTrimmed(record) => record.results.iter().map(|result| result.note.len()).sum(),
            EntryKind::PromptQueued(prompt) => {
                blocks(&prompt.content) + prompt.quoted.iter().map(|quotation| quotation.text.len()).sum::<usize>()
            }
            EntryKind::Intent { .. }
            | EntryKind::RunResumed { .. }
            | EntryKind::PromptUnqueued(_)
            | EntryKind::AgentWaits(_)
            | EntryKind::Mode(_)
            | EntryKind::Model(_)
            | EntryKind::Cwd(_)
            | EntryKind::Task(_)
            | EntryKind::Compacted(_)
            | EntryKind::Spent(_)
            | EntryKind::ReplayDropped
            | EntryKind::ModelLearned(_) => 0,
        }
    }
}

/// Kind and content of an entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EntryKind {
    /// Text of the user, or of the runtime on the user's side.
    User(UserEntry),
    /// A complete message of the model.
    Assistant(AssistantEntry),
    /// The answer to one tool use.
    ToolResult(ToolResultEntry),
    /// A call that may have an effect is about to run. Written before it does.
    Intent {
        /// The tool use.
        tool_use_id: ToolUseId,
        /// The assistant line that holds the tool use.
        assistant: EntryId,
        /// The exact call.
        digest: CallDigest,
    },
    /// The verdict on a call.
    Decision(AuditedDecision),
    /// A question about a call that may be answered later, also by another process. Written before it is asked.
    Question(PendingQuestion),
    /// A call stays open because the agent that it has run waits for answers. Written before its run ends.
    AgentWaits(WaitingCall),
    /// The permission mode changed.
    Mode(PermissionMode),
    /// The model changed.
    Model(String),
    /// The directory that later calls start in changed.
    Cwd(String),
    /// The todo list changed.
    Todos(JsonText),
    /// Work in the background began, or ended.
    Task(TaskRecord),
    /// A run ended.
    RunFinished(RunRecord),
    /// A run continues another one that has not ended, or that waits for answers. Written before it goes on. A run that
    /// continues behind its own compaction, which removes its beginning, names itself.
    RunResumed {
        /// Continuing run.
        run: RunId,
        /// Run that it continues.
        of: RunId,
        /// Number of model messages so far, those of the continued run included.
        turns: u32,
    },
    /// A message of the user was accepted and waits for a run. Its entry in the conversation has the same id.
    PromptQueued(QueuedPrompt),
    /// A message that was accepted waits no longer: it has joined the conversation, or was taken back, blocked, or dropped
    /// with its session. Written also where it has joined, since a compaction removes its entry.
    PromptUnqueued(EntryId),
    /// Money was reserved for a call of a model, or a call was billed. Written before a call that a budget pays for is made.
    Spent(SpentRecord),
    /// The conversation so far is replaced by the summary that follows.
    Compacted(CompactRecord),
    /// The provider refused what was sent back of earlier messages (signatures, encrypted reasoning). From here on
    /// nothing of the kind is sent back of the messages before this entry.
    ReplayDropped,
    /// The server of a model said something of it that was not known when the session opened.
    ModelLearned(ModelFact),
    /// Requests list these tools from here on, by name, behind those that they listed before.
    ToolsAdded(Vec<String>),
    /// Requests are without the definitions of these tools, by name, until the model has searched for them.
    ToolsWithheld(Vec<String>),
    /// Earlier results are replaced by short notes from here on.
    ResultsTrimmed(TrimRecord),
    /// A line of another program or a newer version, kept as it is.
    Foreign(JsonText),
}

/// A message of the user that was accepted and waits for a run. Messages with rules or parts of a command are not kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct QueuedPrompt {
    /// Id of its entry in the conversation, once it has one.
    pub id: EntryId,
    /// Blocks of the user.
    pub content: Vec<ContentBlock>,
    /// Words of others behind them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quoted: Vec<Quotation>,
    /// `true` if keywords and mentions in the blocks are ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_keywords: bool,
}

impl QueuedPrompt {
    /// A message of these blocks.
    pub fn new(id: EntryId, content: Vec<ContentBlock>) -> Self {
        Self { id, content, quoted: Vec::new(), ignores_keywords: false }
    }
}

/// Text of the user, or of the runtime on the user's side.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserEntry {
    /// The blocks; no tool results.
    pub content: Vec<ContentBlock>,
    /// `true` if the runtime wrote the text (reminders, continuations), not the user.
    pub is_meta: bool,
    /// `true` for a summary that replaces a compacted part of the conversation.
    pub is_summary: bool,
    /// The run that the text starts or belongs to.
    pub run: Option<RunId>,
    /// The permission mode at that time.
    pub permission_mode: Option<PermissionMode>,
    /// Environment that this text describes to the model, if it describes one.
    pub environment: Option<EnvironmentContext>,
    /// The tasks whose end this text reports to the model.
    pub tasks: Vec<TaskId>,
}

impl UserEntry {
    /// Content of the user.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            is_meta: false,
            is_summary: false,
            run: None,
            permission_mode: None,
            environment: None,
            tasks: Vec::new(),
        }
    }
}

/// A complete message of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssistantEntry {
    /// The provider's id.
    pub message_id: MessageId,
    /// The model that wrote it.
    pub model: String,
    /// Blocks of the message; never empty.
    pub content: Vec<ContentBlock>,
    /// One id for each block: each block of a message is stored as one line.
    pub block_ids: Vec<EntryId>,
    /// Reason why the message ended.
    pub stop_reason: Option<StopReason>,
    /// Tokens of the message.
    pub usage: Usage,
    /// Origin of the message. `None` in logs of other programs.
    pub origin: Option<Arc<Origin>>,
}

impl AssistantEntry {
    /// A message with one id for each of its blocks.
    pub fn new(
        message_id: MessageId,
        model: String,
        content: Vec<ContentBlock>,
        block_ids: Vec<EntryId>,
        stop_reason: Option<StopReason>,
        usage: Usage,
    ) -> Self {
        Self { message_id, model, content, block_ids, stop_reason, usage, origin: None }
    }
}

/// The answer to one tool use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResultEntry {
    /// The result as the model reads it.
    pub result: ToolResult,
    /// The tool's structured output.
    pub structured: Option<JsonText>,
    /// The assistant line that holds the tool use.
    pub assistant: EntryId,
    /// `true` if the runtime made the result because the call never ended.
    pub synthetic: bool,
}

impl ToolResultEntry {
    /// A result of the call in the given assistant line.
    pub fn new(result: ToolResult, assistant: EntryId) -> Self {
        Self { result, structured: None, assistant, synthetic: false }
    }
}

/// Reason for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CompactTrigger {
    /// The user asked for it.
    Manual,
    /// The conversation filled most of the model's context window.
    Auto,
    /// The conversation was too long for the model.
    Overflow,
}

impl CompactTrigger {
    /// As hooks, logs and the wire name it: `manual` or `auto`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto | Self::Overflow => "auto",
        }
    }
}

/// Log record of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactRecord {
    /// Reason for the compaction.
    pub trigger: CompactTrigger,
    /// Length of the conversation before, in tokens.
    pub pre_tokens: u64,
    /// Length of the summary, in tokens, estimated.
    pub post_tokens: u64,
    /// Duration of the compaction, in milliseconds.
    pub duration_ms: u64,
    /// The last entry of the conversation before the compaction.
    pub before: Option<EntryId>,
}

impl CompactRecord {
    /// A compaction with a duration of zero.
    pub fn new(trigger: CompactTrigger, pre_tokens: u64, post_tokens: u64, before: Option<EntryId>) -> Self {
        Self { trigger, pre_tokens, post_tokens, duration_ms: 0, before }
    }
}

/// Log record of results that were replaced by notes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TrimRecord {
    /// The replaced results, each with its note.
    pub results: Vec<TrimmedResult>,
    /// Length of the conversation before, in tokens.
    pub pre_tokens: u64,
    /// Tokens freed by the replacement, estimated.
    pub freed_tokens: u64,
}

/// A result that a note has replaced.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TrimmedResult {
    /// The tool use that the result answers.
    pub tool_use_id: ToolUseId,
    /// Note that the model reads instead of the result.
    pub note: String,
}

impl TrimRecord {
    /// Results replaced in a conversation of `pre_tokens`, which frees `freed_tokens`.
    pub fn new(results: Vec<TrimmedResult>, pre_tokens: u64, freed_tokens: u64) -> Self {
        Self { results, pre_tokens, freed_tokens }
    }
}

impl TrimmedResult {
    /// The note for a call's result.
    pub fn new(tool_use_id: ToolUseId, note: impl Into<String>) -> Self {
        Self { tool_use_id, note: note.into() }
    }
}

/// Facts of a model that its server said during a session. They hold when the session is resumed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelFact {
    /// The id of the model, aliases resolved.
    pub model: String,
    /// The context window in tokens. `None`: the server named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// `true` if the server refused images for this model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuses_images: bool,
}

impl ModelFact {
    /// A context window, in tokens.
    pub fn window(model: impl Into<String>, tokens: u64) -> Self {
        Self { model: model.into(), context_window: Some(tokens), refuses_images: false }
    }

    /// A refusal of images.
    pub fn without_images(model: impl Into<String>) -> Self {
        Self { model: model.into(), context_window: None, refuses_images: true }
    }
}

/// Log record of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunRecord {
    /// The run.
    pub run: RunId,
    /// Outcome of the run, as the wire names it (`success`, `error_max_turns` …).
    pub outcome: String,
    /// Number of turns of the run.
    pub turns: u32,
    /// Cost of the session so far.
    pub cost: NanoUsd,
    /// Tokens and cost by model, over the session so far.
    pub model_usage: BTreeMap<String, ModelUsage>,
}

/// Spending of a session with all its agents, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SpentRecord {
    /// Cost of all finished model calls.
    pub cost: NanoUsd,
    /// Tokens and cost of these calls by model. Empty if none has finished since the previous record.
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Reservations: the highest cost of the open calls, by model. They count as spent if the log ends here.
    pub held: BTreeMap<String, NanoUsd>,
}

impl SpentRecord {
    /// A record of finished calls and of the reservations of open ones.
    pub fn new(cost: NanoUsd, model_usage: BTreeMap<String, ModelUsage>, held: BTreeMap<String, NanoUsd>) -> Self {
        Self { cost, model_usage, held }
    }

    /// The highest possible cost of all calls together.
    pub fn at_most(&self) -> NanoUsd {
        self.held.values().fold(self.cost, |sum, held| sum.saturating_add(*held))
    }
}

impl RunRecord {
    /// The record of a run.
    pub fn new(
        run: RunId,
        outcome: impl Into<String>,
        turns: u32,
        cost: NanoUsd,
        model_usage: BTreeMap<String, ModelUsage>,
    ) -> Self {
        Self { run, outcome: outcome.into(), turns, cost, model_usage }
    }
}
