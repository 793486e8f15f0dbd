//! Transcripts: the log of a session as typed items.

use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use windlass_session::{LoadReport, Loaded};
use windlass_types::{
    CompactTrigger, ContentBlock, Decision, Entry, EntryId, EntryKind, InputChange, JsonText, ModelUsage, NanoUsd,
    PermissionMode, StopReason, TaskRecord, Timestamp, ToolResult, ToolUseId, Usage,
};

/// Transcript of a session's log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionTranscript {
    /// Entries of the current conversation in order, and the notes beside it. Messages before the last compaction, or
    /// on an abandoned branch, are not included; the file of the log has them.
    pub entries: Vec<TranscriptEntry>,
    /// Damaged or unusual lines, a sentence each. Empty for a log without damage.
    pub damage: Vec<String>,
}

/// One entry of a log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TranscriptEntry {
    /// Id of the entry. A session can be [copied](crate::session::ForkOptions::at) up to an entry of the conversation.
    /// Empty for notes, which have none.
    pub id: EntryId,
    /// Time of the entry. The beginning of 1970 for notes, which have no time.
    pub at: Timestamp,
    /// Content of the entry.
    pub item: TranscriptItem,
}

/// Content of a log entry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TranscriptItem {
    /// A prompt of the user, or a message of the user to a run.
    #[non_exhaustive]
    Prompt {
        /// Content blocks of the prompt.
        content: Vec<ContentBlock>,
        /// Permission mode at that time, if the entry names one.
        mode: Option<PermissionMode>,
    },
    /// Text of the runtime on the side of the user: reminders, notices, continuations.
    #[non_exhaustive]
    RuntimeText {
        /// The text.
        text: String,
    },
    /// A message of the model.
    #[non_exhaustive]
    Message {
        /// Model that wrote the message.
        model: String,
        /// Content blocks of the message, including tool uses.
        content: Vec<ContentBlock>,
        /// Token usage of the message.
        usage: Usage,
        /// Stop reason, if known.
        stop_reason: Option<StopReason>,
    },
    /// The verdict on a tool use.
    #[non_exhaustive]
    Verdict {
        /// Tool use that was judged.
        tool_use_id: ToolUseId,
        /// Name of the tool; `None` when the call is not in the transcript.
        tool: Option<String>,
        /// Decision with its reason.
        decision: Decision,
        /// Changes that hooks and the host made to the model's input, in order: the verdict is on the last one.
        input_changes: Vec<InputChange>,
    },
    /// A call that may have an effect was about to run.
    #[non_exhaustive]
    Started {
        /// Tool use that was started.
        tool_use_id: ToolUseId,
        /// Name of the tool; `None` when the call is not in the transcript.
        tool: Option<String>,
    },
    /// The result of a tool use.
    #[non_exhaustive]
    ToolResult {
        /// Name of the tool; `None` when the call is not in the transcript.
        tool: Option<String>,
        /// Result for the model.
        result: ToolResult,
        /// Result for programs.
        structured: Option<JsonText>,
        /// `true` if the runtime made the result because the call never ended.
        made_up: bool,
    },
    /// The preceding messages are replaced by a summary.
    #[non_exhaustive]
    Compacted {
        /// Trigger of the compaction, if the log names it.
        trigger: Option<CompactTrigger>,
        /// Length of the conversation in tokens, if the log names it.
        pre_tokens: Option<u64>,
        /// Estimated length of the summary in tokens, if the log names it.
        post_tokens: Option<u64>,
        /// Summary for the model.
        summary: String,
    },
    /// The permission mode changed.
    Mode(PermissionMode),
    /// The model changed.
    Model(String),
    /// The start directory of later calls changed.
    Directory(PathBuf),
    /// The todo list changed.
    Todos(JsonText),
    /// A background task began or ended.
    Task(TaskRecord),
    /// A run ended.
    #[non_exhaustive]
    RunFinished {
        /// Outcome by its name on the wire: `success`, `error_max_turns` …
        outcome: String,
        /// Number of turns.
        turns: u32,
        /// Cost of the session so far.
        cost: NanoUsd,
        /// Tokens and cost by model, over the session so far.
        model_usage: BTreeMap<String, ModelUsage>,
    },
    /// A line that is none of these: a title or a tag, or a line of another program or a newer version.
    Other(JsonText),
}

impl SessionTranscript {
    pub(super) fn new(loaded: Loaded) -> Self {
        let mut reader = Reader::default();
        for entry in loaded.entries {
            reader.read(entry);
        }
        reader.settle_boundary();
        Self { entries: reader.entries, damage: damage(&loaded.report) }
    }
}

impl TranscriptItem {
    /// Text of a prompt, of a message of the model, of the runtime, of a result or of a summary, without reasoning and
    /// tool uses. `None` when there is no text.
    pub fn text(&self) -> Option<String> {
        let of_blocks = |blocks: &[ContentBlock]| blocks.iter().filter_map(ContentBlock::as_text).collect::<String>();
        let text = match self {
            Self::Prompt { content, .. } | Self::Message { content, .. } => of_blocks(content),
            Self::RuntimeText { text } | Self::Compacted { summary: text, .. } => text.clone(),
            Self::ToolResult { result, .. } => result.content.text(),
            _ => String::new(),
        };
        (!text.is_empty()).then_some(text)
    }
}

/// Compaction boundary, read from the line before the summary.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Boundary {
    subtype: String,
    compact_metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    trigger: Option<String>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
}

impl Metadata {
    fn of(line: &JsonText) -> Option<Self> {
        let boundary = line.to::<Boundary>().ok()?;
        (boundary.subtype == "compact_boundary").then_some(boundary.compact_metadata)
    }

    fn trigger(&self) -> Option<CompactTrigger> {
        [CompactTrigger::Manual, CompactTrigger::Auto]
            .into_iter()
            .find(|trigger| self.trigger.as_deref() == Some(trigger.as_str()))
    }
}

/// Reads entries in order. Remembers the tools of the calls, and a boundary until its summary follows.
#[derive(Default)]
struct Reader {
    entries: Vec<TranscriptEntry>,
    tools: HashMap<ToolUseId, String>,
    boundary: Option<(TranscriptEntry, Metadata)>,
}

impl Reader {
    fn read(&mut self, entry: Entry) {
        let (id, at) = (entry.id, entry.timestamp);
        let item = match entry.kind {
            EntryKind::User(user) if user.is_summary => {
                let metadata = self.boundary.take().map(|(_, metadata)| metadata).unwrap_or_default();
                let (trigger, summary) = (metadata.trigger(), texts(&user.content));
                let Metadata { pre_tokens, post_tokens, .. } = metadata;
                TranscriptItem::Compacted { trigger, pre_tokens, post_tokens, summary }
            }
            EntryKind::User(user) if user.is_meta => TranscriptItem::RuntimeText { text: texts(&user.content) },
            EntryKind::User(user) => TranscriptItem::Prompt { content: user.content, mode: user.permission_mode },
            EntryKind::Assistant(message) => {
                let calls = message.content.iter().filter_map(ContentBlock::as_tool_use);
                self.tools.extend(calls.map(|call| (call.id.clone(), call.name.clone())));
                let (usage, stop_reason) = (message.usage, message.stop_reason);
                TranscriptItem::Message { model: message.model, content: message.content, usage, stop_reason }
            }
            kind => {
                let Some(item) = self.beside(kind) else { return };
                item
            }
        };
        self.settle_boundary();
        let boundary = if let TranscriptItem::Other(line) = &item { Metadata::of(line) } else { None };
        let entry = TranscriptEntry { id, at, item };
        match boundary {
            Some(metadata) => self.boundary = Some((entry, metadata)),
            None => self.entries.push(entry),
        }
    }

    /// A boundary without a summary is no compaction: it is a line like others.
    fn settle_boundary(&mut self) {
        self.entries.extend(self.boundary.take().map(|(entry, _)| entry));
    }

    /// Item of an entry that is no message.
    fn beside(&self, kind: EntryKind) -> Option<TranscriptItem> {
        let tool = |id: &ToolUseId| self.tools.get(id).cloned();
        Some(match kind {
            EntryKind::ToolResult(result) => TranscriptItem::ToolResult {
                tool: tool(&result.result.tool_use_id),
                result: result.result,
                structured: result.structured,
                made_up: result.synthetic,
            },
            EntryKind::Decision(audited) => TranscriptItem::Verdict {
                tool: tool(&audited.tool_use_id),
                tool_use_id: audited.tool_use_id,
                decision: audited.decision,
                input_changes: audited.input_changes,
            },
            EntryKind::Intent { tool_use_id, .. } => TranscriptItem::Started { tool: tool(&tool_use_id), tool_use_id },
            EntryKind::Mode(mode) => TranscriptItem::Mode(mode),
            EntryKind::Model(model) => TranscriptItem::Model(model),
            EntryKind::Cwd(directory) => TranscriptItem::Directory(directory.into()),
            EntryKind::Todos(todos) => TranscriptItem::Todos(todos),
            EntryKind::Task(record) => TranscriptItem::Task(record),
            EntryKind::RunFinished(record) => TranscriptItem::RunFinished {
                outcome: record.outcome,
                turns: record.turns,
                cost: record.cost,
                model_usage: record.model_usage,
            },
            EntryKind::Foreign(line) => TranscriptItem::Other(line),
            _ => return None,
        })
    }
}

fn texts(blocks: &[ContentBlock]) -> String {
    blocks.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}

fn damage(report: &LoadReport) -> Vec<String> {
    let skipped = report.skipped.iter();
    let mut damage: Vec<String> =
        skipped.map(|skipped| format!("line {} is skipped: {}", skipped.line, skipped.reason)).collect();
    let unlisted = report.skipped_total.saturating_sub(report.skipped.len());
    if unlisted > 0 {
        damage.push(format!("{unlisted} more lines are skipped"));
    }
    damage.extend(report.warnings.iter().cloned());
    damage
}
