//! Updates of a conversation as updates of the protocol.

use super::client::ClientAbilities;
use super::settings::Settings;
use super::{commands, tool_call};
use crate::error::{AcpError, AcpErrorKind};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use windlass_conversation::{Answer, MessageState, Presenter, Refusal, SlashCommand, Update};
use windlass_tool::Ids;
use windlass_types::{
    AgentPath, Compacted, ContentBlock, Delta, EntryId, Event, EventKind, JsonText, ModelErrorKind, Outcome,
    RunFailure, RunFailureKind, RunOrigin, RunResult, StateChange, Status, StopReason, TaskId, ToolFinished,
    ToolStarted, ToolUse, ToolUseId, Usage,
};

/// Thing that a session is to tell its client.
#[derive(Debug)]
pub(crate) enum Presented {
    /// An update of the session.
    Update(Value),
    /// The question with this id is to be shown.
    Question(String),
    /// The question with this id is taken back.
    Withdrawn(String),
    /// The prompt with this message id is over.
    Ended(String, TurnEnd),
    /// The answer to a request to the conversation.
    Answer(String, Result<Answer, Refusal>),
}

/// End of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnEnd {
    /// The turn ended with this stop reason.
    Stop(&'static str),
    /// The turn failed.
    Failed(AcpError),
}

/// Presenter of one session.
pub(crate) struct SessionPresenter {
    cwd: PathBuf,
    client: ClientAbilities,
    ids: Arc<dyn Ids>,
    pub(crate) settings: Settings,
    pub(crate) presented: Vec<Presented>,
    /// End of the turn that continues.
    end: Option<TurnEnd>,
    message: MessageView,
    /// Calls that were shown and have no result.
    open_calls: BTreeSet<String>,
    /// Calls of the message that is not complete.
    unfinished: Vec<String>,
    /// Context windows by model.
    windows: BTreeMap<String, u64>,
    /// Background work that continues.
    background: BTreeSet<TaskId>,
    compaction: Option<String>,
    /// Commands that were listed last.
    commands: Value,
}

/// The message of the model that is being shown.
#[derive(Debug, Default)]
struct MessageView {
    id: Option<String>,
    /// Blocks of which parts were shown.
    shown: BTreeSet<usize>,
}

/// Update with a part of a message.
#[expect(clippy::needless_pass_by_value, reason = "each value is made for the call")]
pub(crate) fn chunk(kind: &str, content: Value, message: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": content, "messageId": message })
}

/// Update with the whole todo list; `None` if it is no list.
pub(crate) fn plan(todos: &JsonText) -> Option<Value> {
    let todos: Vec<Map<String, Value>> = todos.to().ok()?;
    let entries = todos.iter().map(|todo| {
        let text = |name: &str| todo.get(name).and_then(Value::as_str);
        let content = text("content").or(text("subject")).unwrap_or_default();
        let status = text("status").filter(|status| ["in_progress", "completed"].contains(status));
        let priority = text("priority").filter(|priority| ["high", "low"].contains(priority));
        json!({
            "content": content, "status": status.unwrap_or("pending"), "priority": priority.unwrap_or("medium"),
        })
    });
    Some(json!({ "sessionUpdate": "plan", "entries": entries.collect::<Vec<_>>() }))
}

/// Id of a call on the wire: that of the call, behind the calls that started its agents.
pub(crate) fn call_id(agent: &AgentPath, call: &ToolUseId) -> String {
    let mut id = String::new();
    for start in agent.tool_uses() {
        id.push_str(start.as_str());
        id.push('/');
    }
    id.push_str(call.as_str());
    id
}

impl SessionPresenter {
    pub(crate) fn new(cwd: PathBuf, client: ClientAbilities, settings: Settings, ids: Arc<dyn Ids>) -> Self {
        Self {
            cwd,
            client,
            ids,
            settings,
            presented: Vec::new(),
            end: None,
            message: MessageView::default(),
            open_calls: BTreeSet::new(),
            unfinished: Vec::new(),
            windows: BTreeMap::new(),
            background: BTreeSet::new(),
            compaction: None,
            commands: Value::Null,
        }
    }

    /// A fresh id of a message.
    pub(crate) fn fresh_id(&self) -> String {
        EntryId::from_bits(self.ids.bits()).to_string()
    }

    /// Number of background tasks that continue.
    pub(crate) fn background(&self) -> usize {
        self.background.len()
    }

    pub(crate) fn update(&mut self, update: Value) {
        self.presented.push(Presented::Update(update));
    }

    /// Lists the commands, if they are others than those that were listed before.
    pub(crate) fn list_commands(&mut self, list: &[SlashCommand]) {
        let update = commands::update(list);
        if self.commands != update {
            self.commands.clone_from(&update);
            self.update(update);
        }
    }

    /// A whole text as a message of the agent.
    pub(crate) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            let id = self.fresh_id();
            self.update(chunk("agent_message_chunk", json!({ "type": "text", "text": text }), &id));
        }
    }

    /// A notice, for clients that show notices.
    fn notice(&mut self, severity: &str, title: &str) {
        if self.client.notices {
            self.update(json!({ "sessionUpdate": "notice", "severity": severity, "title": title }));
        }
    }

    /// A warning that the person has to see: as a message where the client shows no notices.
    pub(crate) fn warn(&mut self, text: &str) {
        if self.client.notices { self.notice("warning", text) } else { self.say(text) }
    }

    fn part(&mut self, kind: &str, text: &str) {
        let id = match &self.message.id {
            Some(id) => id.clone(),
            None => self.message.id.insert(EntryId::from_bits(self.ids.bits()).to_string()).clone(),
        };
        self.update(chunk(kind, json!({ "type": "text", "text": text }), &id));
    }

    fn event(&mut self, event: &Event) {
        let is_main = event.agent.is_main();
        match &event.kind {
            EventKind::BlockDelta { index, delta } if is_main => self.delta(*index, delta),
            EventKind::BlockFinished { index, block, .. } => self.block(&event.agent, *index, block),
            EventKind::MessageFinished { .. } if is_main => {
                self.message = MessageView::default();
                self.unfinished.clear();
            }
            EventKind::MessageWithdrawn { .. } if is_main => self.withdraw(),
            EventKind::ToolStarted(started) => self.started(&event.agent, started),
            EventKind::ToolFinished(finished) => self.finished(&event.agent, finished),
            EventKind::UsageUpdated { model, usage, cost } if is_main => self.usage(model, usage, cost.usd()),
            EventKind::Status(status) => self.status(status),
            EventKind::Compacted(compacted) if is_main => self.compacted(compacted),
            EventKind::StateChanged(StateChange::Todos { todos }) if is_main => {
                if let Some(plan) = plan(todos) {
                    self.update(plan);
                }
            }
            EventKind::StateChanged(StateChange::Model { model }) if is_main => self.model(model),
            EventKind::TaskStarted(task) => drop(self.background.insert(task.id.clone())),
            EventKind::TaskEnded(ended) => drop(self.background.remove(&ended.info.id)),
            EventKind::RunFinished(result) if is_main => self.run_finished(result),
            _ => {}
        }
    }

    fn delta(&mut self, index: usize, delta: &Delta) {
        let (kind, text) = match delta {
            Delta::Text(text) => ("agent_message_chunk", text),
            Delta::Thinking(text) => ("agent_thought_chunk", text),
            _ => return,
        };
        if !text.is_empty() {
            self.message.shown.insert(index);
            self.part(kind, text);
        }
    }

    fn block(&mut self, agent: &AgentPath, index: usize, block: &ContentBlock) {
        match block {
            ContentBlock::ToolUse(call) => self.announce(agent, call),
            // A model that does not stream gives its blocks whole.
            ContentBlock::Text { text, .. } if agent.is_main() => self.whole("agent_message_chunk", index, text),
            ContentBlock::Thinking { thinking, .. } if agent.is_main() => {
                self.whole("agent_thought_chunk", index, thinking);
            }
            _ => {}
        }
    }

    /// Shows a block of which no part was shown.
    fn whole(&mut self, kind: &str, index: usize, text: &str) {
        if !text.is_empty() && self.message.shown.insert(index) {
            self.part(kind, text);
        }
    }

    fn model(&mut self, id: &str) {
        if self.settings.model_reported(id) {
            self.update(self.settings.options_update());
        }
    }

    fn announce(&mut self, agent: &AgentPath, call: &ToolUse) {
        let id = call_id(agent, &call.id);
        let fields = tool_call::announced(&id, call, &self.cwd);
        self.update(Value::Object(fields));
        if agent.is_main() {
            self.unfinished.push(id.clone());
        }
        self.open_calls.insert(id);
    }

    /// Takes back what was shown of a message: its calls will not run. Text cannot be taken back, so that a person is
    /// told.
    fn withdraw(&mut self) {
        let shown = !std::mem::take(&mut self.message).shown.is_empty();
        for id in std::mem::take(&mut self.unfinished) {
            self.fail_call(&id);
        }
        if shown {
            self.notice("info", "The answer was cut off: what was shown of it does not count");
        }
    }

    fn fail_call(&mut self, id: &str) {
        if self.open_calls.remove(id) {
            let mut fields = tool_call::fields("tool_call_update", id);
            fields.insert("status".to_owned(), "failed".into());
            self.update(Value::Object(fields));
        }
    }

    fn started(&mut self, agent: &AgentPath, started: &ToolStarted) {
        let id = call_id(agent, &started.tool_use_id);
        if !self.open_calls.contains(&id) {
            // No message of the model holds the call.
            let call = ToolUse::new(started.tool_use_id.clone(), started.tool.clone(), started.input.clone());
            self.announce(agent, &call);
            self.unfinished.retain(|unfinished| *unfinished != id);
        }
        let mut fields = tool_call::fields("tool_call_update", &id);
        fields.insert("status".to_owned(), "in_progress".into());
        fields.insert("title".to_owned(), windlass_types::text::visible_line(&started.title).into());
        fields.insert("rawInput".to_owned(), tool_call::input(&started.input));
        tool_call::add_preview(&mut fields, started.edits.as_ref(), &self.cwd);
        self.update(Value::Object(fields));
    }

    fn finished(&mut self, agent: &AgentPath, finished: &ToolFinished) {
        let id = call_id(agent, &finished.result.tool_use_id);
        if self.open_calls.remove(&id) {
            let fields = tool_call::finished(&id, finished, &self.cwd);
            self.update(Value::Object(fields));
        }
    }

    fn usage(&mut self, model: &str, usage: &Usage, cost: f64) {
        let Some(size) = self.windows.get(model).copied() else { return };
        let used = usage.input_tokens
            + usage.cache_creation_input_tokens
            + usage.cache_read_input_tokens
            + usage.output_tokens;
        self.update(json!({
            "sessionUpdate": "usage_update", "used": used, "size": size,
            "cost": { "amount": cost, "currency": "USD" },
        }));
    }

    fn status(&mut self, status: &Status) {
        match status {
            Status::Notice { message } => self.notice("info", message),
            Status::Retrying(retry) => {
                let text = format!(
                    "The model did not answer ({}): attempt {} of {} follows",
                    retry.message, retry.attempt, retry.max_retries
                );
                self.notice("warning", &text);
            }
            Status::FallingBack { from, to } => {
                self.notice("warning", &format!("The model {from} failed: {to} takes over"));
            }
            Status::Compacting { .. } => {
                let id = self.fresh_id();
                self.compaction_update(&id, "in_progress", Map::new());
                self.compaction = Some(id);
            }
            Status::CompactionFailed { message } => {
                let id = self.compaction.take().unwrap_or_else(|| self.fresh_id());
                let error = Map::from_iter([("error".to_owned(), message.as_str().into())]);
                self.compaction_update(&id, "failed", error);
            }
            _ => {}
        }
    }

    fn compacted(&mut self, compacted: &Compacted) {
        let id = self.compaction.take().unwrap_or_else(|| self.fresh_id());
        let summary = json!([{ "type": "text", "text": compacted.summary }]);
        self.compaction_update(&id, "completed", Map::from_iter([("summary".to_owned(), summary)]));
    }

    fn compaction_update(&mut self, id: &str, status: &str, mut fields: Map<String, Value>) {
        if self.client.compaction {
            fields.insert("sessionUpdate".to_owned(), "compaction_update".into());
            fields.insert("compactionId".to_owned(), id.into());
            fields.insert("status".to_owned(), status.into());
            self.update(Value::Object(fields));
        }
    }

    fn run_finished(&mut self, result: &RunResult) {
        self.message = MessageView::default();
        if let Some(id) = self.compaction.take() {
            self.compaction_update(&id, "cancelled", Map::new());
        }
        for (model, usage) in &result.model_usage {
            if usage.context_window > 0 && self.windows.insert(model.clone(), usage.context_window).is_none() {
                self.usage(model, &result.usage, result.cost.usd());
            }
        }
        let end = self.turn_end(result);
        if result.origin == RunOrigin::User {
            self.end = Some(end);
        }
        if !self.background.is_empty() {
            let text = format!("{} background tasks continue: their results follow", self.background.len());
            self.notice("info", &text);
        }
    }

    /// The end of a turn, after the words that a person has to see.
    fn turn_end(&mut self, result: &RunResult) -> TurnEnd {
        match &result.outcome {
            Outcome::Interrupted { .. } => TurnEnd::Stop("cancelled"),
            Outcome::MaxTurns { .. } => TurnEnd::Stop("max_turn_requests"),
            Outcome::Refused => TurnEnd::Stop("refusal"),
            Outcome::Success if result.stop_reason == Some(StopReason::MaxTokens) => TurnEnd::Stop("max_tokens"),
            Outcome::StoppedByHook { reason } | Outcome::PromptBlocked { reason } => {
                self.warn(reason);
                TurnEnd::Stop("end_turn")
            }
            Outcome::Failed(failure) if failure.kind == RunFailureKind::OutputLimit => TurnEnd::Stop("max_tokens"),
            Outcome::Failed(failure) => TurnEnd::Failed(failed(failure)),
            Outcome::MaxBudget { .. } | Outcome::NoStructuredOutput { .. } | Outcome::HandedOver => {
                TurnEnd::Failed(AcpError::internal(result.outcome.to_string()))
            }
            _ => TurnEnd::Stop("end_turn"),
        }
    }
}

fn failed(failure: &RunFailure) -> AcpError {
    let kind = match failure.kind {
        RunFailureKind::Model(ModelErrorKind::Authentication) => AcpErrorKind::AuthRequired,
        _ => AcpErrorKind::Internal,
    };
    AcpError::new(kind, &failure.message)
}

impl Presenter for SessionPresenter {
    fn present(&mut self, update: Update) {
        match update {
            Update::Opened(opened) => {
                if opened.permission_mode != self.settings.mode {
                    self.present(Update::PermissionMode(opened.permission_mode));
                }
                self.list_commands(&opened.commands);
            }
            Update::Commands(commands) | Update::CommandsChanged(commands) => self.list_commands(&commands),
            Update::Event(event) => self.event(&event),
            Update::Taken(taken) if !taken.joins => self.end = None,
            Update::Local(local) => self.say(&local.text),
            Update::Refused(reason) => self.end = Some(TurnEnd::Failed(AcpError::internal(reason))),
            Update::Warning(warning) => self.warn(&warning),
            Update::PermissionMode(mode) | Update::PermissionModeChanged(mode) if mode != self.settings.mode => {
                self.settings.mode = mode;
                let updates = self.settings.mode_updates();
                self.presented.extend(updates.map(Presented::Update));
            }
            Update::Title(title) => self.update(json!({ "sessionUpdate": "session_info_update", "title": title })),
            Update::Message(id, MessageState::Completed) => {
                let end = self.end.take().unwrap_or(TurnEnd::Stop("end_turn"));
                self.presented.push(Presented::Ended(id, end));
            }
            Update::Message(id, MessageState::Cancelled) => {
                self.presented.push(Presented::Ended(id, TurnEnd::Stop("cancelled")));
            }
            Update::Question(id) => self.presented.push(Presented::Question(id)),
            Update::QuestionWithdrawn(id) => self.presented.push(Presented::Withdrawn(id)),
            Update::Answer(id, answer) => self.presented.push(Presented::Answer(id, answer)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
