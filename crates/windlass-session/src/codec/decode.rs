//! Decoding of lines to records.

use super::line::{CostBody, Exact, IntentBody, SpentBody};
use super::{
    AGENT_WAITS, COST, CWD, DECISION, INTENT, MODE, MODEL, MODEL_LEARNED, PROMPT_QUEUED, PROMPT_UNQUEUED, QUESTION,
    REPLAY_DROPPED, RESULTS_TRIMMED, RUN_RESUMED, SPENT, TASK, TODOS, TOOLS_ADDED, TOOLS_WITHHELD,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use windlass_types::{
    ApiUsage, CallDigest, ContentBlock, EntryId, EntryKind, JsonText, MessageId, ModelUsage, NanoUsd, Origin,
    PermissionMode, RunId, RunRecord, SpentRecord, StopReason, Timestamp, ToolResult, ToolUseId, UserEntry,
};

/// A decoded line, with warnings about parts that were not understood.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) uuid: Option<EntryId>,
    pub(crate) parent: Parent,
    /// End of the conversation before a compaction.
    pub(crate) logical_parent: Option<EntryId>,
    pub(crate) timestamp: Option<Timestamp>,
    /// `true` for a line of another agent's conversation.
    pub(crate) aside: bool,
    pub(crate) body: Body,
    pub(crate) warnings: Vec<String>,
}

/// Parent of a line in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parent {
    /// No parent: the conversation begins here.
    Root,
    /// Parent with this id.
    Line(EntryId),
    /// A malformed value.
    Unreadable,
}

#[derive(Debug)]
pub(crate) enum Body {
    /// Content of the user, after any results in the same line.
    User {
        results: Vec<ResultLine>,
        user: Option<UserEntry>,
        is_summary: bool,
    },
    Assistant(MessageLine),
    /// A line of the conversation without content for the model.
    Passive {
        json: JsonText,
        is_boundary: bool,
    },
    /// A line beside the conversation.
    Beside(EntryKind),
    Checksum(Checksum),
    /// Marker that the line before was cut off while it was written.
    Torn,
}

#[derive(Debug)]
pub(crate) struct ResultLine {
    pub(crate) result: ToolResult,
    pub(crate) structured: Option<JsonText>,
    pub(crate) assistant: Option<EntryId>,
    pub(crate) synthetic: bool,
}

#[derive(Debug)]
pub(crate) struct MessageLine {
    pub(crate) message_id: MessageId,
    pub(crate) model: String,
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) usage: windlass_types::Usage,
    pub(crate) origin: Option<Arc<Origin>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Checksum {
    pub(crate) lines: usize,
    pub(crate) sum: String,
}

/// All fields, each undecoded: one field of a wrong type affects no other.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordFields<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uuid: Option<&'a RawValue>,
    // An explicit null differs from a missing value.
    #[serde(borrow, default, deserialize_with = "present")]
    parent_uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    logical_parent_uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_sidechain: Option<&'a RawValue>,
    #[serde(borrow, default)]
    team_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_meta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_compact_summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_api_error_message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    permission_mode: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompt_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "sourceToolAssistantUUID")]
    source_tool_assistant_uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_synthetic: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_environment: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_tasks: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_origin: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_replay: Option<&'a RawValue>,
    #[serde(borrow, default)]
    windlass_exact: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subtype: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stop_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Decodes a field as a type; returns `None` when it is absent or of another type.
fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn exact_json(raw: &RawValue) -> JsonText {
    JsonText::parse(raw.get()).unwrap_or_else(|_| JsonText::empty_object())
}

/// Decodes one record, given as the text of one JSON object.
///
/// Every object with a `type` is kept; an unknown type, or a known one that is not understood, as a foreign line.
pub(crate) fn decode(text: &str) -> Result<Decoded, String> {
    let fields: RecordFields<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let kind: String = read(fields.kind).ok_or("it has no type")?;
    let mut warnings = Vec::new();
    let body = match kind.as_str() {
        "user" => user(&fields, &mut warnings),
        "assistant" if read(fields.is_api_error_message) == Some(true) => Ok(passive(text, false)),
        "assistant" => assistant(&fields, &mut warnings),
        "attachment" | "progress" => Ok(passive(text, false)),
        "system" => {
            Ok(passive(text, read::<Cow<'_, str>>(fields.subtype).is_some_and(|kind| kind == "compact_boundary")))
        }
        super::CHECKSUM => serde_json::from_str(text).map(Body::Checksum).map_err(|error| error.to_string()),
        super::TORN => Ok(Body::Torn),
        kind => Ok(Body::Beside(beside(kind, text, &fields, &mut warnings))),
    }?;
    Ok(Decoded {
        uuid: id(fields.uuid),
        parent: match fields.parent_uuid {
            Some(raw) if raw.get() == "null" => Parent::Root,
            raw => id(raw).map_or(Parent::Unreadable, Parent::Line),
        },
        logical_parent: id(fields.logical_parent_uuid),
        timestamp: read(fields.timestamp),
        aside: read(fields.is_sidechain) == Some(true) || fields.team_name.is_some(),
        body,
        warnings,
    })
}

fn id(raw: Option<&RawValue>) -> Option<EntryId> {
    read::<String>(raw).filter(|id| !id.is_empty()).map(EntryId::from)
}

fn foreign(text: &str) -> JsonText {
    JsonText::parse(text).unwrap_or_else(|_| JsonText::empty_object())
}

fn passive(text: &str, is_boundary: bool) -> Body {
    Body::Passive { json: foreign(text), is_boundary }
}

/// Returns the blocks of a message's content. A malformed block is left out with a warning.
fn content(
    fields: &RecordFields<'_>,
    message: &Message<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<ContentBlock>, String> {
    let raw = message.content.ok_or("its message has no content")?;
    let exact: Exact<'_> = read(fields.windlass_exact).unwrap_or_default();
    let text = exact.content.as_deref().filter(|text| same_but_breaks(text, raw.get())).unwrap_or(raw.get());
    if text.starts_with('"') {
        let text: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(vec![ContentBlock::text(text)]);
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| "its content is neither text nor blocks")?;
    let mut blocks = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        match serde_json::from_str(part.get()) {
            Ok(block) => blocks.push(block),
            Err(error) => warnings.push(format!("block {at} is left out: {error}")),
        }
    }
    if blocks.is_empty() && !parts.is_empty() { Err("none of its blocks can be read".to_owned()) } else { Ok(blocks) }
}

/// `true` if two JSON texts differ only in line breaks that became spaces.
fn same_but_breaks(exact: &str, flat: &str) -> bool {
    exact.len() == flat.len() && exact.bytes().zip(flat.bytes()).all(|(a, b)| a == b || (a == b'\n' && b == b' '))
}

fn message<'a>(fields: &RecordFields<'a>) -> Result<Message<'a>, String> {
    let raw = fields.message.ok_or("it has no message")?;
    serde_json::from_str(raw.get()).map_err(|error| format!("its message cannot be read: {error}"))
}

fn user(fields: &RecordFields<'_>, warnings: &mut Vec<String>) -> Result<Body, String> {
    let content = content(fields, &message(fields)?, warnings)?;
    let mut results = Vec::new();
    let mut rest = Vec::new();
    for block in content {
        match block {
            ContentBlock::ToolResult(result) => results.push(ResultLine {
                result,
                structured: None,
                assistant: id(fields.source_tool_assistant_uuid),
                synthetic: read(fields.windlass_synthetic) == Some(true),
            }),
            block => rest.push(block),
        }
    }
    if let ([only], Some(raw)) = (results.as_mut_slice(), fields.tool_use_result) {
        let exact: Exact<'_> = read(fields.windlass_exact).unwrap_or_default();
        let exact = exact.tool_use_result.filter(|text| same_but_breaks(text, raw.get()));
        only.structured = Some(exact.and_then(|text| JsonText::parse(text).ok()).unwrap_or_else(|| exact_json(raw)));
    }
    let user = (!rest.is_empty() || results.is_empty()).then(|| {
        let mut user = UserEntry::new(rest);
        user.is_meta = read(fields.is_meta) == Some(true);
        user.is_summary = read(fields.is_compact_summary) == Some(true);
        user.run = read::<String>(fields.prompt_id).map(RunId::from);
        user.permission_mode = read(fields.permission_mode);
        user.environment = read(fields.windlass_environment);
        user.tasks = read(fields.windlass_tasks).unwrap_or_default();
        user
    });
    Ok(Body::User { results, user, is_summary: read(fields.is_compact_summary) == Some(true) })
}

fn assistant(fields: &RecordFields<'_>, warnings: &mut Vec<String>) -> Result<Body, String> {
    let message = message(fields)?;
    let mut content = content(fields, &message, warnings)?;
    if let ([block], Some(replay)) = (content.as_mut_slice(), read::<String>(fields.windlass_replay)) {
        block.set_replay(JsonText::parse(replay).ok());
    }
    Ok(Body::Assistant(MessageLine {
        message_id: MessageId::from(read::<String>(message.id).unwrap_or_default()),
        model: read(message.model).unwrap_or_default(),
        content,
        stop_reason: read(message.stop_reason),
        usage: read::<ApiUsage>(message.usage).map(Into::into).unwrap_or_default(),
        origin: read::<Origin>(fields.windlass_origin).map(Arc::new),
    }))
}

fn beside(kind: &str, text: &str, fields: &RecordFields<'_>, warnings: &mut Vec<String>) -> EntryKind {
    let entry = match kind {
        INTENT => intent(text),
        DECISION => field::<windlass_types::AuditedDecision>(text, "decision").map(EntryKind::Decision),
        QUESTION => field(text, "question").map(EntryKind::Question),
        AGENT_WAITS => field(text, "call").map(EntryKind::AgentWaits),
        MODE => field::<PermissionMode>(text, "mode").map(EntryKind::Mode),
        MODEL => field(text, "model").map(EntryKind::Model),
        CWD => field(text, "cwd").map(EntryKind::Cwd),
        TODOS => todos(text, fields),
        TASK => field(text, "task").map(EntryKind::Task),
        COST => run_finished(text),
        SPENT => spent(text),
        RUN_RESUMED => {
            let turns = field(text, "turns").unwrap_or_default();
            field(text, "run").zip(field(text, "of")).map(|(run, of)| EntryKind::RunResumed { run, of, turns })
        }
        PROMPT_QUEUED => field(text, "prompt").map(EntryKind::PromptQueued),
        PROMPT_UNQUEUED => field(text, "prompt").map(EntryKind::PromptUnqueued),
        TOOLS_ADDED => field(text, "tools").map(EntryKind::ToolsAdded),
        TOOLS_WITHHELD => field(text, "tools").map(EntryKind::ToolsWithheld),
        RESULTS_TRIMMED => field(text, "trimmed").map(EntryKind::ResultsTrimmed),
        MODEL_LEARNED => field(text, "learned").map(EntryKind::ModelLearned),
        REPLAY_DROPPED => Some(EntryKind::ReplayDropped),
        _ => return EntryKind::Foreign(foreign(text)),
    };
    entry.unwrap_or_else(|| {
        if kind.starts_with("windlass-") {
            warnings.push(format!("the {kind} line is of a form that is not known here"));
        }
        EntryKind::Foreign(foreign(text))
    })
}

fn field<T: serde::de::DeserializeOwned>(text: &str, name: &str) -> Option<T> {
    let fields: std::collections::HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text).ok()?;
    read(fields.get(name).copied())
}

fn intent(text: &str) -> Option<EntryKind> {
    let body: IntentBody<'_> = serde_json::from_str(text).ok()?;
    Some(EntryKind::Intent {
        tool_use_id: ToolUseId::from(&*body.tool_use_id),
        assistant: EntryId::from(&*body.assistant_uuid),
        digest: CallDigest::new(&*body.digest),
    })
}

fn todos(text: &str, fields: &RecordFields<'_>) -> Option<EntryKind> {
    let flat: JsonText = field(text, "todos")?;
    let exact: Exact<'_> = read(fields.windlass_exact).unwrap_or_default();
    let exact = exact.todos.filter(|exact| same_but_breaks(exact, flat.as_str()));
    Some(EntryKind::Todos(exact.and_then(|exact| JsonText::parse(exact).ok()).unwrap_or(flat)))
}

fn spent(text: &str) -> Option<EntryKind> {
    let body: SpentBody = serde_json::from_str(text).ok()?;
    let models = body.models.into_iter().map(|(model, usage)| (model, ModelUsage::from(usage))).collect();
    let held = body.held.into_iter().map(|(model, held)| (model, NanoUsd::from_usd(held))).collect();
    Some(EntryKind::Spent(SpentRecord::new(NanoUsd::from_usd(body.total), models, held)))
}

fn run_finished(text: &str) -> Option<EntryKind> {
    let body: CostBody<'_> = serde_json::from_str(text).ok()?;
    let models = body.models.into_iter().map(|(model, usage)| (model, ModelUsage::from(usage))).collect();
    let run = RunId::from(&*body.run.run);
    let cost = NanoUsd::from_usd(body.total);
    Some(EntryKind::RunFinished(RunRecord::new(run, &*body.run.outcome, body.run.turns, cost, models)))
}
