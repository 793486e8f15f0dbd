//! Mapping of events to frames.

mod agents;
mod answering;
mod compaction;
pub(crate) mod edits;
mod end;
mod hooks;
mod lists;
mod local;
mod options;
mod plain;
mod rate_limit;
mod status;
mod tasks;

pub(crate) use local::CommandOutput;
pub use options::FrameOptions;
pub(crate) use status::reason_type;

use crate::frame::{
    Assistant, AssistantFrame, ClosingEvent, FrameBlock, InformationalBody, InitAgents, InitFrame, InitModel,
    InitPlugins, InitProgram, InitServer, InitTools, ProgressFrame, Speaker, StatusFrame, StreamEventFrame,
    StructuredResult, System, ToolResultFrame, User, UserFrame, Uuid, WithdrawnBody,
};
use crate::stream::{Pass, StreamState};
use crate::{HOST_VERSION, McpControl, McpStatus, PluginControl, PluginListing, line};
use answering::AnsweredPrompts;
use lists::Lists;
use plain::SessionMember;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use windlass_types::{
    AgentIdentity, AgentPath, EntryId, Event, EventKind, JsonText, MadeCall, MessageId, RunStarted, StateChange,
    ToolFinished, ToolProgress, ToolResultContent, ToolUseId, Usage, WithdrawReason,
};

/// Maximum number of warnings in one result.
const MAX_WARNINGS: usize = 100;

/// Writes the events of one session as frames, one JSON object per line.
///
/// Pass it every event, in order. The mapper keeps no more than the end of a block, and the names of running agents and
/// tasks.
pub struct FrameMapper {
    options: FrameOptions,
    ids: Box<dyn FnMut() -> u128 + Send>,
    stream: StreamState,
    answering: AnsweredPrompts,
    session_member: SessionMember,
    /// Running background work, in the order of its start.
    tasks: Vec<tasks::RunningTask>,
    /// Running subagents.
    agents: HashMap<AgentPath, agents::MappedAgent>,
    /// Hooks that are being called.
    running_hooks: Vec<hooks::RunningHook>,
    lists: Lists,
    /// Warnings for the next result.
    warnings: Vec<String>,
    /// Reason why runs are stopped, unless the user stops them.
    stop_reason: Option<String>,
}

impl fmt::Debug for FrameMapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameMapper").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Fields common to all frames of an event.
#[derive(Clone, Copy)]
struct FrameEnvelope<'a> {
    session_id: &'a str,
    parent: Option<&'a str>,
    /// Agent of the event, if it is known and not the main one.
    agent: Option<&'a AgentIdentity>,
    /// Depth of the agent: zero for the main agent.
    depth: usize,
}

impl<'a> FrameEnvelope<'a> {
    fn of_main(session_id: &'a str) -> Self {
        Self { session_id, parent: None, agent: None, depth: 0 }
    }
}

impl FrameMapper {
    /// Creates a mapper; `ids` returns random bits, 128 for each frame.
    pub fn new(options: FrameOptions, ids: impl FnMut() -> u128 + Send + 'static) -> Self {
        Self {
            options,
            ids: Box::new(ids),
            stream: StreamState::default(),
            answering: AnsweredPrompts::default(),
            session_member: SessionMember::default(),
            tasks: Vec::new(),
            agents: HashMap::new(),
            running_hooks: Vec::new(),
            lists: Lists::default(),
            warnings: Vec::new(),
            stop_reason: None,
        }
    }

    /// Sets the MCP servers that `system/init` lists. Default: none.
    pub fn lists_mcp_servers(&mut self, servers: Option<Arc<dyn McpControl>>) {
        self.lists.mcp = servers;
    }

    /// Sets the plugins that `system/init` lists. Default: none.
    pub fn lists_plugins(&mut self, plugins: Option<Arc<dyn PluginControl>>) {
        self.lists.plugins = plugins;
    }

    /// Sets the lists of the next `system/init`.
    pub(crate) fn lists(&mut self, servers: Vec<McpStatus>, plugins: PluginListing) {
        self.lists.known = Some((servers, plugins));
    }

    /// Sets the stop reason in the results of runs stopped from now on. Without one the user has stopped them.
    pub fn stops_because(&mut self, reason: impl Into<String>) {
        self.stop_reason = Some(reason.into());
    }

    /// Adds a warning to the next result, as an entry of `windlass_warnings`. At most 100 are kept.
    pub fn add_warning(&mut self, text: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(text.into());
        }
    }

    /// Appends the frames of an event, each with its line end.
    pub fn map(&mut self, event: &Event, out: &mut Vec<u8>) {
        if event.agent.is_main() {
            self.of_main(event, out);
        } else {
            self.of_agent(event, out);
        }
        self.forget_ended(event, out);
    }

    fn of_main(&mut self, event: &Event, out: &mut Vec<u8>) {
        let envelope = FrameEnvelope::of_main(event.session_id.as_str());
        let is_block_finished = matches!(event.kind, EventKind::BlockFinished { .. });
        if !is_block_finished {
            self.release(envelope, out);
        }
        self.frames(envelope, &event.kind, out);
        if is_block_finished {
            self.release(envelope, out);
        }
    }

    fn frames(&mut self, envelope: FrameEnvelope<'_>, kind: &EventKind, out: &mut Vec<u8>) {
        match kind {
            EventKind::RunStarted(started) => {
                self.answering.run_started(started.origin);
                self.init(envelope, started, out);
            }
            EventKind::ModelFrame { frame } => self.model_frame(envelope, frame, out),
            EventKind::BlockFinished { message_id, model, line, block, usage, .. } => {
                let message =
                    MappedMessage { id: message_id.as_str(), model, error: None, usage: *usage, line: Some(line) };
                self.assistant::<FrameBlock<'_>>(envelope, message, block, out);
            }
            EventKind::MessageWithdrawn { message_id, reason } => {
                self.close_stream(envelope, out);
                self.withdrawn(envelope, message_id.as_ref(), *reason, out);
            }
            EventKind::ToolProgress(progress) => self.tool_progress(envelope, progress, out),
            EventKind::ToolStarted(started) => self.edit_begins(envelope, started, out),
            EventKind::ToolFinished(finished) => {
                self.edit_ended(envelope, finished, out);
                // No message contains a call that another call made.
                if !finished.result.tool_use_id.as_str().starts_with(MadeCall::ID_PREFIX) {
                    self.tool_result(envelope, finished, out);
                }
            }
            EventKind::PermissionResolved { tool_use_id, tool, decision } => {
                self.denied(envelope, tool_use_id, tool, decision, out);
            }
            EventKind::HooksStarted { event, tool_use_id, hooks } => {
                self.hooks_started(envelope, *event, tool_use_id.as_ref(), hooks, out);
            }
            EventKind::HookRan { event, tool_use_id, outcome } => {
                self.hook_ran(envelope, *event, tool_use_id.as_ref(), outcome, out);
            }
            EventKind::Status(status) => self.status(envelope, status, out),
            EventKind::RateLimit(limit) => self.rate_limit(envelope, limit, out),
            EventKind::StateChanged(StateChange::PermissionMode { mode }) => {
                let body = StatusFrame { permission_mode: Some(mode.as_str()), ..StatusFrame::default() };
                self.system(envelope, "status", body, out);
            }
            EventKind::TaskStarted(task) => self.task_started(envelope, task, out),
            EventKind::TaskProgress(progress) => self.task_progress(envelope, progress, out),
            EventKind::TaskEnded(ended) => self.task_ended(envelope, ended, out),
            EventKind::Compacted(compacted) => self.compacted(envelope, compacted, out),
            EventKind::RunFinished(result) => {
                self.hooks_given_up(envelope, out);
                self.finished(envelope, result, out);
            }
            _ => {}
        }
    }

    fn uuid(&mut self) -> Uuid {
        Uuid((self.ids)())
    }

    /// Appends the withdrawal of a message.
    fn withdrawn(
        &mut self,
        envelope: FrameEnvelope<'_>,
        message: Option<&MessageId>,
        withdraw_reason: WithdrawReason,
        out: &mut Vec<u8>,
    ) {
        let reason = match withdraw_reason {
            WithdrawReason::Interrupted => "interrupted",
            _ => "stream_failed",
        };
        let message_id = message.map(MessageId::as_str);
        let body = WithdrawnBody { message_id, reason, parent_tool_use_id: envelope.parent };
        self.system(envelope, "message_withdrawn", body, out);
    }

    fn tool_progress(&mut self, envelope: FrameEnvelope<'_>, progress: &ToolProgress, out: &mut Vec<u8>) {
        let frame = ProgressFrame {
            kind: "tool_progress",
            tool_use_id: progress.tool_use_id.as_str(),
            tool_name: &progress.tool,
            parent_tool_use_id: envelope.parent,
            elapsed_time_seconds: progress.elapsed_ms as f64 / 1e3,
            message: &progress.message,
            uuid: self.uuid(),
            session_id: envelope.session_id,
        };
        if !line::push(out, &frame) {
            self.left_out(envelope, "tool_progress", out);
        }
    }

    fn init(&mut self, envelope: FrameEnvelope<'_>, started: &RunStarted, out: &mut Vec<u8>) {
        let uuid = self.uuid();
        let (servers, plugins) = self.lists.take();
        let mut frame = InitFrame {
            kind: "system",
            subtype: "init",
            cwd: &started.cwd.to_string_lossy(),
            session_id: envelope.session_id,
            tools: InitTools {
                tools: started.tools.iter().map(|tool| agents::wire_name(tool)).collect(),
                mcp_servers: servers
                    .iter()
                    .map(|server| InitServer { name: &server.name, status: &server.status, source: &server.source })
                    .collect(),
            },
            model: InitModel { model: &started.model, permission_mode: started.permission_mode.as_str() },
            slash_commands: &self.lists.slash_commands,
            program: InitProgram {
                api_key_source: &self.options.api_key_source,
                claude_code_version: HOST_VERSION,
                output_style: &self.options.output_style,
            },
            agents: InitAgents {
                agents: if agents::can_be_started(&started.tools) { &self.lists.callable } else { &[] },
                skills: &self.lists.skills,
            },
            plugins: InitPlugins { plugins: &plugins.plugins, errors: &plugins.errors },
            capabilities: self.lists.capabilities,
            uuid,
        };
        if line::push(out, &frame) {
            return;
        }
        // A host waits for this frame, even if other frames are left out.
        frame.tools.tools.retain(|tool| !tool.starts_with("mcp__"));
        (frame.slash_commands, frame.agents.agents) = (&[], &[]);
        frame.plugins = InitPlugins { plugins: &[], errors: &[] };
        if !line::push(out, &frame) {
            frame.tools = InitTools { tools: Vec::new(), mcp_servers: Vec::new() };
            line::push(out, &frame);
        }
        self.inform(envelope, "The lists of system/init are too long for one frame: some are left out.", None, out);
    }

    fn model_frame(&mut self, envelope: FrameEnvelope<'_>, frame: &JsonText, out: &mut Vec<u8>) {
        if self.options.include_partial_messages
            && let Pass::On = self.stream.frame(frame)
        {
            // Only the first event of an answer can name the host's message.
            if envelope.parent.is_none() && !self.answering.marks_stream() {
                self.plain_stream_event(envelope, frame, out);
            } else {
                self.stream_event(envelope, frame, out);
            }
        }
    }

    fn stream_event(&mut self, envelope: FrameEnvelope<'_>, event: impl Serialize, out: &mut Vec<u8>) {
        let uuid = self.uuid();
        let user_message = if envelope.parent.is_none() { self.answering.mark_stream() } else { None };
        let frame = StreamEventFrame {
            kind: "stream_event",
            event,
            parent_tool_use_id: envelope.parent,
            uuid,
            session_id: envelope.session_id,
            user_message_uuid: user_message,
            user_message_uuids: user_message.map(|uuid| [uuid]),
        };
        if !line::push(out, &frame) {
            self.left_out(envelope, "stream_event", out);
        }
    }

    /// Emits the end of a block that waited for the block's own frame.
    fn release(&mut self, envelope: FrameEnvelope<'_>, out: &mut Vec<u8>) {
        if let Some(frame) = self.stream.release() {
            self.stream_event(envelope, &frame, out);
        }
    }

    /// Closes the open parts of a message that will not be completed.
    fn close_stream(&mut self, envelope: FrameEnvelope<'_>, out: &mut Vec<u8>) {
        let (open, in_message) = self.stream.abandon();
        for index in open {
            self.stream_event(envelope, ClosingEvent { kind: "content_block_stop", index: Some(index) }, out);
        }
        if in_message {
            self.stream_event(envelope, ClosingEvent { kind: "message_stop", index: None }, out);
        }
    }

    fn assistant<C: Serialize>(
        &mut self,
        envelope: FrameEnvelope<'_>,
        message: MappedMessage<'_>,
        block: C,
        out: &mut Vec<u8>,
    ) {
        let answers = if envelope.parent.is_none() { self.answering.mark_message() } else { None };
        let frame = Assistant {
            kind: "assistant",
            message: AssistantFrame {
                id: message.id,
                kind: "message",
                role: "assistant",
                model: message.model,
                content: [block],
                stop_reason: None,
                stop_sequence: None,
                usage: message.usage.into(),
            },
            parent_tool_use_id: envelope.parent,
            agent: envelope.agent.map(Speaker::of),
            session_id: envelope.session_id,
            uuid: message.line.and_then(Uuid::of).unwrap_or_else(|| self.uuid()),
            error: message.error,
            answers,
        };
        if !line::push(out, &frame) {
            self.inform(envelope, "A block of the answer is too long for one frame and is left out.", None, out);
        }
    }

    fn user<C: Serialize>(
        &mut self,
        envelope: FrameEnvelope<'_>,
        line: Option<&EntryId>,
        block: C,
        structured: Option<StructuredResult<'_>>,
        out: &mut Vec<u8>,
    ) -> bool {
        let frame = User {
            kind: "user",
            message: UserFrame { role: "user", content: [block] },
            parent_tool_use_id: envelope.parent,
            agent: envelope.agent.map(Speaker::of),
            session_id: envelope.session_id,
            uuid: line.and_then(Uuid::of).unwrap_or_else(|| self.uuid()),
            tool_use_result: structured,
        };
        line::push(out, &frame)
    }

    fn tool_result(&mut self, envelope: FrameEnvelope<'_>, finished: &ToolFinished, out: &mut Vec<u8>) {
        let result = &finished.result;
        let structured = match &finished.structured {
            _ if result.is_error => StructuredResult::Text(format!("Error: {}", result.content.text())),
            Some(structured) => StructuredResult::Json(structured),
            None => StructuredResult::Text(result.content.text()),
        };
        if self.user(
            envelope,
            finished.entry.as_ref(),
            ToolResultFrame::new(result, &result.content),
            Some(structured),
            out,
        ) || self.user(envelope, finished.entry.as_ref(), ToolResultFrame::new(result, &result.content), None, out)
        {
            return;
        }
        let note = ToolResultContent::from("[This result is too long for one frame. The model read it.]");
        self.user(envelope, finished.entry.as_ref(), ToolResultFrame::new(result, &note), None, out);
    }

    fn system(&mut self, envelope: FrameEnvelope<'_>, subtype: &'static str, body: impl Serialize, out: &mut Vec<u8>) {
        let frame = System { kind: "system", subtype, body, uuid: self.uuid(), session_id: envelope.session_id };
        if !line::push(out, &frame) {
            self.left_out(envelope, subtype, out);
        }
    }

    /// Reports the kind of a frame that is left out.
    fn left_out(&mut self, envelope: FrameEnvelope<'_>, frame_kind: &str, out: &mut Vec<u8>) {
        let content = format!("A frame ({frame_kind}) is too long for one line and is left out.");
        let body = InformationalBody::warning(&content);
        let (kind, subtype) = ("system", "informational");
        line::push(out, &System { kind, subtype, body, uuid: self.uuid(), session_id: envelope.session_id });
    }

    fn inform(&mut self, envelope: FrameEnvelope<'_>, content: &str, tool: Option<&ToolUseId>, out: &mut Vec<u8>) {
        let body =
            InformationalBody { tool_use_id: tool.map(ToolUseId::as_str), ..InformationalBody::warning(content) };
        self.system(envelope, "informational", body, out);
    }
}

/// Fields of an assistant frame beside its block.
#[derive(Clone, Copy)]
struct MappedMessage<'a> {
    id: &'a str,
    model: &'a str,
    error: Option<&'static str>,
    usage: Usage,
    /// Id of the message's line in the log.
    line: Option<&'a EntryId>,
}
