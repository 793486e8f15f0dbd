//! Encoding of entries to lines.

mod result;

use super::line::{
    AssistantMessage, BesideLine, BoundaryLine, ChainLine, ChainPlace, CompactMetadata, Content, CostBody, Exact,
    IntentBody, PromptFields, ProviderFields, ResultFields, ResumedBody, RuntimeFields, SessionFields, SpentBody,
    TextFields, UserMessage, WireRun,
};
use super::{
    AGENT_WAITS, COST, CWD, DECISION, INTENT, LineSum, MODE, MODEL, MODEL_LEARNED, PROMPT_QUEUED, PROMPT_UNQUEUED,
    QUESTION, REPLAY_DROPPED, RESULTS_TRIMMED, RUN_RESUMED, SPENT, TASK, TODOS, TOOLS_ADDED, TOOLS_WITHHELD,
};
use crate::fork::ForkedFrom;
use crate::repair::derived_id;
use crate::{LogHeader, SessionKey};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use windlass_types::{
    AgentId, AssistantEntry, AuditedDecision, CompactRecord, ContentBlock, Entry, EntryId, EntryKind, JsonText,
    RunRecord, SessionId, SpentRecord, TaskEnded, TaskRecord, UserEntry,
};

/// Encoder of the entries of one session, or of an agent of it, as lines of its log.
///
/// A message of the model becomes one line for each block, everything else one line for each entry. The text of tool
/// inputs and unknown data is kept exactly.
#[derive(Debug)]
pub struct LogEncoder {
    session: SessionId,
    agent: Option<AgentId>,
    header: LogHeader,
    sum: LineSum,
    /// Last message that was written, in the log of an agent.
    last: Option<EntryId>,
}

impl LogEncoder {
    /// Returns an encoder for a session.
    pub fn new(session: SessionId, header: LogHeader) -> Self {
        Self { session, agent: None, header, sum: LineSum::default(), last: None }
    }

    /// Returns an encoder for the log of a key. The conversation lines of an agent contain its id, and readers of the
    /// session skip them.
    ///
    /// The parent of each message of an agent is the message before it, also for results of parallel calls: other tools
    /// read such logs along one line, and would miss branches.
    pub fn of(key: &SessionKey, header: LogHeader) -> Self {
        Self { agent: key.agent.clone(), ..Self::new(key.session.clone(), header) }
    }

    /// Appends the lines of an entry, each with its line break.
    pub fn entry(&mut self, entry: &Entry, out: &mut Vec<u8>) {
        let start = out.len();
        match &entry.kind {
            EntryKind::User(user) => self.user(entry, user, out),
            EntryKind::Assistant(assistant) => self.assistant(entry, assistant, out),
            EntryKind::ToolResult(result) => self.result(entry, result, out),
            EntryKind::Foreign(json) => push_line(out, json),
            EntryKind::Compacted(record) => self.boundary(entry, record, out),
            _ => self.beside(entry, out),
        }
        if self.agent.is_some() && entry.is_conversation() {
            self.last = Some(entry.id.clone());
        }
        let mut rest = out.get(start..).unwrap_or_default();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.sum.add(line);
            rest = behind.get(1..).unwrap_or_default();
        }
    }

    /// Appends the checksum of all lines since the last one, if there are any.
    pub fn checksum(&mut self, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ChecksumLine<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            lines: usize,
            sum: String,
            session_id: &'a str,
        }
        let lines = self.sum.lines();
        if let Some(sum) = self.sum.of_last(lines).filter(|_| lines > 0) {
            push_line(out, &ChecksumLine { kind: super::CHECKSUM, lines, sum, session_id: self.session.as_str() });
        }
        self.sum.clear();
    }

    fn line<'a, M>(&'a self, entry: &'a Entry, kind: &'static str, uuid: &'a EntryId, message: M) -> ChainLine<'a, M> {
        ChainLine {
            place: ChainPlace {
                parent_uuid: entry.parent.as_ref().map(EntryId::as_str),
                is_sidechain: self.agent.is_some(),
                agent_id: self.agent.as_ref().map(AgentId::as_str),
            },
            kind,
            message,
            text: TextFields::default(),
            uuid: uuid.as_str(),
            timestamp: entry.timestamp,
            prompt: PromptFields::default(),
            result: ResultFields::default(),
            runtime: RuntimeFields::default(),
            provider: ProviderFields::default(),
            windlass_exact: Exact::default(),
            session: self.session_fields(uuid),
        }
    }

    fn session_fields(&self, uuid: &EntryId) -> SessionFields<'_> {
        let header = &self.header;
        SessionFields {
            user_type: "external",
            entrypoint: &header.entrypoint,
            cwd: &header.cwd,
            session_id: self.session.as_str(),
            version: &header.version,
            git_branch: header.git_branch.as_deref(),
            forked_from: header.origin.as_ref().and_then(|origin| {
                Some(ForkedFrom { session_id: origin.session.as_str(), message_uuid: origin.of(uuid)?.as_str() })
            }),
        }
    }

    fn user(&self, entry: &Entry, user: &UserEntry, out: &mut Vec<u8>) {
        let content = match user.content.as_slice() {
            [ContentBlock::Text { text, .. }] => Content::Text(text),
            blocks => Content::Blocks(blocks),
        };
        let mut line = self.line(entry, "user", &entry.id, UserMessage { role: "user", content });
        line.text = TextFields { is_meta: user.is_meta, is_compact_summary: user.is_summary };
        line.prompt.permission_mode = user.permission_mode.map(|mode| mode.as_str());
        line.prompt.prompt_id = user.run.as_ref().map(|run| run.as_str());
        line.runtime = RuntimeFields { windlass_environment: user.environment.as_ref(), windlass_tasks: &user.tasks };
        push_chain_line(out, line, |line| &line.message.content);
    }

    fn assistant(&self, entry: &Entry, assistant: &AssistantEntry, out: &mut Vec<u8>) {
        let lines: Vec<&[ContentBlock]> =
            if assistant.content.is_empty() { vec![&[]] } else { assistant.content.chunks(1).collect() };
        let mut parent = entry.parent.clone();
        for (at, content) in lines.iter().enumerate() {
            let is_last = at + 1 == lines.len();
            let id = match assistant.block_ids.get(at) {
                _ if is_last => entry.id.clone(),
                Some(id) => id.clone(),
                None => derived_id("block", &[entry.id.as_str(), &at.to_string()]),
            };
            let message = AssistantMessage {
                id: assistant.message_id.as_str(),
                kind: "message",
                role: "assistant",
                model: &assistant.model,
                content,
                stop_reason: assistant.stop_reason.as_ref().map(|reason| reason.as_str()),
                stop_sequence: None,
                usage: assistant.usage.into(),
            };
            let mut line = self.line(entry, "assistant", &id, message);
            line.place.parent_uuid = parent.as_ref().map(EntryId::as_str);
            line.provider = ProviderFields {
                windlass_origin: assistant.origin.as_deref(),
                windlass_replay: content.first().and_then(ContentBlock::replay).map(JsonText::as_str),
            };
            push_chain_line(out, line, |line| line.message.content);
            parent = Some(id);
        }
    }

    fn boundary(&self, entry: &Entry, record: &CompactRecord, out: &mut Vec<u8>) {
        push_line(
            out,
            &BoundaryLine {
                parent_uuid: None,
                logical_parent_uuid: record.before.as_ref().map(EntryId::as_str),
                is_sidechain: self.agent.is_some(),
                agent_id: self.agent.as_ref().map(AgentId::as_str),
                kind: "system",
                subtype: "compact_boundary",
                content: "The conversation was compacted",
                level: "info",
                compact_metadata: CompactMetadata {
                    trigger: record.trigger.as_str(),
                    pre_tokens: record.pre_tokens,
                    post_tokens: record.post_tokens,
                    duration_ms: record.duration_ms,
                },
                uuid: entry.id.as_str(),
                timestamp: entry.timestamp,
                session: self.session_fields(&entry.id),
            },
        );
    }

    fn beside(&self, entry: &Entry, out: &mut Vec<u8>) {
        let one = |name: &'static str, value| BTreeMap::<_, &str>::from([(name, value)]);
        match &entry.kind {
            EntryKind::Intent { tool_use_id, assistant, digest } => {
                let body = IntentBody {
                    tool_use_id: Cow::Borrowed(tool_use_id.as_str()),
                    assistant_uuid: Cow::Borrowed(assistant.as_str()),
                    digest: Cow::Borrowed(digest.as_str()),
                };
                self.push_beside(entry, INTENT, body, out);
            }
            EntryKind::Decision(decision) => self.decision(entry, decision, out),
            EntryKind::Question(question) => {
                self.push_beside(entry, QUESTION, BTreeMap::from([("question", question)]), out);
            }
            EntryKind::AgentWaits(call) => {
                self.push_beside(entry, AGENT_WAITS, BTreeMap::from([("call", call)]), out);
            }
            EntryKind::Mode(mode) => self.push_beside(entry, MODE, one("mode", mode.as_str()), out),
            EntryKind::Model(model) => self.push_beside(entry, MODEL, one("model", model), out),
            EntryKind::Cwd(cwd) => self.push_beside(entry, CWD, one("cwd", cwd), out),
            EntryKind::Todos(todos) => self.todos(entry, todos, out),
            EntryKind::Task(record) => self.task(entry, record, out),
            EntryKind::RunFinished(record) => self.run_finished(entry, record, out),
            EntryKind::Spent(record) => self.spent(entry, record, out),
            EntryKind::RunResumed { run, of, turns } => {
                let body = ResumedBody { run: run.as_str(), of: of.as_str(), turns: *turns };
                self.push_beside(entry, RUN_RESUMED, body, out);
            }
            EntryKind::PromptQueued(prompt) => {
                self.push_beside(entry, PROMPT_QUEUED, BTreeMap::from([("prompt", prompt)]), out);
            }
            EntryKind::PromptUnqueued(id) => self.push_beside(entry, PROMPT_UNQUEUED, one("prompt", id.as_str()), out),
            EntryKind::ToolsAdded(names) => {
                self.push_beside(entry, TOOLS_ADDED, BTreeMap::from([("tools", names)]), out);
            }
            EntryKind::ToolsWithheld(names) => {
                self.push_beside(entry, TOOLS_WITHHELD, BTreeMap::from([("tools", names)]), out);
            }
            EntryKind::ResultsTrimmed(record) => {
                self.push_beside(entry, RESULTS_TRIMMED, BTreeMap::from([("trimmed", record)]), out);
            }
            EntryKind::ModelLearned(fact) => {
                self.push_beside(entry, MODEL_LEARNED, BTreeMap::from([("learned", fact)]), out);
            }
            EntryKind::ReplayDropped => self.push_beside(entry, REPLAY_DROPPED, BTreeMap::<&str, &str>::new(), out),
            _ => {}
        }
    }

    fn decision(&self, entry: &Entry, audited: &AuditedDecision, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Body<'a> {
            decision: &'a AuditedDecision,
        }
        if self.try_beside(entry, DECISION, Body { decision: audited }, out) {
            return;
        }
        // Only a path that is not Unicode cannot be written. The decision matters more.
        let mut audited = audited.clone();
        audited.decision.blocked_path = None;
        audited.decision.suggestions.clear();
        self.push_beside(entry, DECISION, Body { decision: &audited }, out);
    }

    fn todos(&self, entry: &Entry, todos: &JsonText, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Body<'a> {
            todos: &'a JsonText,
            #[serde(rename = "windlassExact", skip_serializing_if = "Exact::is_empty")]
            exact: Exact<'a>,
        }
        let todos_text = todos.as_str();
        let exact = todos_text.contains('\n').then_some(Cow::Borrowed(todos_text));
        let exact = Exact { todos: exact, ..Exact::default() };
        self.push_beside(entry, TODOS, Body { todos, exact }, out);
    }

    fn task(&self, entry: &Entry, record: &TaskRecord, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        struct Body<'a> {
            task: &'a TaskRecord,
        }
        if self.try_beside(entry, TASK, Body { task: record }, out) {
            return;
        }
        // Only a path that is not Unicode cannot be written. The existence of the task matters more.
        let mut record = record.clone();
        match &mut record {
            TaskRecord::Started(info) | TaskRecord::Ended(TaskEnded { info, .. }) => info.output_file = None,
            _ => {}
        }
        self.push_beside(entry, TASK, Body { task: &record }, out);
    }

    fn run_finished(&self, entry: &Entry, record: &RunRecord, out: &mut Vec<u8>) {
        let body = CostBody {
            total: record.cost.usd(),
            models: record.model_usage.iter().map(|(model, usage)| (model.clone(), usage.into())).collect(),
            run: WireRun {
                run: Cow::Borrowed(record.run.as_str()),
                outcome: Cow::Borrowed(&record.outcome),
                turns: record.turns,
            },
        };
        self.push_beside(entry, COST, body, out);
    }

    fn spent(&self, entry: &Entry, record: &SpentRecord, out: &mut Vec<u8>) {
        let body = SpentBody {
            total: record.cost.usd(),
            models: record.model_usage.iter().map(|(model, usage)| (model.clone(), usage.into())).collect(),
            held: record.held.iter().map(|(model, held)| (model.clone(), held.usd())).collect(),
        };
        self.push_beside(entry, SPENT, body, out);
    }

    fn push_beside<T: Serialize>(&self, entry: &Entry, kind: &'static str, body: T, out: &mut Vec<u8>) {
        self.try_beside(entry, kind, body, out);
    }

    /// Returns `true` if the line could be written.
    fn try_beside<T: Serialize>(&self, entry: &Entry, kind: &'static str, body: T, out: &mut Vec<u8>) -> bool {
        let line = BesideLine {
            kind,
            body,
            uuid: entry.id.as_str(),
            parent_uuid: entry.parent.as_ref().map(EntryId::as_str),
            timestamp: entry.timestamp,
            session_id: self.session.as_str(),
        };
        try_line(out, |out| line.write(out))
    }
}

/// Appends a line of the conversation. `content` returns the part that must keep its exact text.
fn push_chain_line<'a, M: Serialize, C: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    line: ChainLine<'a, M>,
    content: impl for<'l> Fn(&'l ChainLine<'a, M>) -> &'l C,
) {
    push_chain_line_by(out, line, content, ChainLine::write);
}

/// Appends a line that `write` writes. If the result is not on one line, the serialiser writes it instead.
fn push_chain_line_by<'a, M: Serialize, C: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    mut line: ChainLine<'a, M>,
    content: impl for<'l> Fn(&'l ChainLine<'a, M>) -> &'l C,
    write: impl FnOnce(&ChainLine<'a, M>, &mut Vec<u8>) -> serde_json::Result<()>,
) {
    let start = out.len();
    let written = write(&line, out);
    if written.is_ok() && memchr::memchr(b'\n', out.get(start..).unwrap_or_default()).is_none() {
        out.push(b'\n');
        return;
    }
    out.truncate(start);
    let content = JsonText::of(content(&line)).map(|json| json.as_str().to_owned()).ok();
    line.windlass_exact.content = content.filter(|text| text.contains('\n')).map(Cow::Owned);
    line.windlass_exact.tool_use_result =
        line.result.tool_use_result.map(JsonText::as_str).filter(|text| text.contains('\n')).map(Cow::Borrowed);
    push_line(out, &line);
}

/// Appends one line: no line break but the last. A value that cannot be written (there is none here) leaves no trace.
fn push_line(out: &mut Vec<u8>, line: &impl Serialize) {
    try_line(out, |out| serde_json::to_writer(out, line));
}

/// Returns `true` if the line could be written.
fn try_line(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) -> bool {
    let start = out.len();
    if write(out).is_err() {
        out.truncate(start);
        return false;
    }
    let mut rest = out.get_mut(start..).unwrap_or_default();
    while let Some(at) = memchr::memchr(b'\n', rest)
        && let Some((line_break, behind)) = rest.get_mut(at..).and_then(<[u8]>::split_first_mut)
    {
        *line_break = b' ';
        rest = behind;
    }
    out.push(b'\n');
    true
}
