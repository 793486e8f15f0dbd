//! Occasions that follow from the events of a session: computed purely, and asked about beside the work.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use windlass_types::hook::event::{
    CwdChanged, DirectoryAdded, Notification, PermissionDenied, PostCompact, PostModelSwitch, StopFailure,
    TaskCompleted, TaskCreated,
};
use windlass_types::{
    Behavior, ContentBlock, EventKind, HookCall, HookEventName, JsonText, ModelErrorKind, Outcome, RunFailureKind,
    RunResult, StateChange, Status, TaskEnded, TaskKind, ToolUseId,
};

/// Maximum number of tool uses whose inputs are kept until they are answered. A message has fewer calls.
const MOST_INPUTS: usize = 10_000;

/// Finds the occasions that follow from the events of one agent. Give it every event, in order.
///
/// The state that occasions refer to is kept: the directory, the model, the to-do list, and the inputs of calls that
/// are not answered yet.
///
/// ```
/// use windlass_hook::Occasions;
/// use windlass_types::{EventKind, HookEventName, StateChange};
///
/// let mut occasions = Occasions::new("/w", []);
/// occasions.wants([HookEventName::CwdChanged]);
/// let moved = EventKind::StateChanged(StateChange::Cwd { cwd: "/w/src".into() });
/// assert_eq!(occasions.of(&moved).len(), 1);
/// ```
#[derive(Debug)]
pub struct Occasions {
    wanted: BTreeSet<HookEventName>,
    cwd: PathBuf,
    directories: Vec<PathBuf>,
    model: Option<String>,
    todos: Vec<Todo>,
    inputs: HashMap<ToolUseId, JsonText>,
}

/// An item of the to-do list, with the fields that occasions name.
#[derive(Debug, Clone, serde::Deserialize)]
struct Todo {
    content: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

impl Todo {
    fn is(&self, other: &Self) -> bool {
        if self.id.is_some() || other.id.is_some() { self.id == other.id } else { self.content == other.content }
    }

    fn is_completed(&self) -> bool {
        self.status == "completed"
    }
}

impl Occasions {
    /// Starts with a session in a directory and the directories that its calls may use. No occasion is wanted yet.
    pub fn new(cwd: impl Into<PathBuf>, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            wanted: BTreeSet::new(),
            cwd: cwd.into(),
            directories: directories.into_iter().collect(),
            model: None,
            todos: Vec::new(),
            inputs: HashMap::new(),
        }
    }

    /// Sets the wanted occasions: the events that a hook listens to.
    pub fn wants(&mut self, events: impl IntoIterator<Item = HookEventName>) {
        self.wanted = events.into_iter().collect();
    }

    /// `true` if occasions of this event are wanted.
    pub fn want(&self, event: HookEventName) -> bool {
        self.wanted.contains(&event)
    }

    /// Sets the to-do list with which the session begins, a JSON array.
    pub fn begins_with(&mut self, todos: &JsonText) {
        self.todos = todos.to().unwrap_or_default();
    }

    /// Returns the wanted occasions that follow from an event.
    pub fn of(&mut self, event: &EventKind) -> Vec<HookCall> {
        if self.wanted.is_empty() {
            return Vec::new();
        }
        let mut found = self.all(event);
        found.retain(|call| self.wanted.contains(&call.event()));
        found
    }

    /// Returns the wanted occasions that follow from the directories that calls may use now.
    pub fn of_directories(&mut self, now: &[PathBuf]) -> Vec<HookCall> {
        let added: Vec<_> = now.iter().filter(|directory| !self.directories.contains(directory)).cloned().collect();
        self.directories = now.to_vec();
        if !self.want(HookEventName::DirectoryAdded) {
            return Vec::new();
        }
        let added = added
            .iter()
            .map(|directory| DirectoryAdded { directory: text(directory), source: "permission_update".to_owned() });
        added.map(HookCall::from).collect()
    }

    fn all(&mut self, event: &EventKind) -> Vec<HookCall> {
        match event {
            EventKind::RunStarted(started) => {
                self.model.get_or_insert_with(|| started.model.clone());
                Vec::new()
            }
            EventKind::BlockFinished { block: ContentBlock::ToolUse(call), .. } => {
                if self.want(HookEventName::PermissionDenied) && self.inputs.len() < MOST_INPUTS {
                    self.inputs.insert(call.id.clone(), call.input.clone());
                }
                Vec::new()
            }
            EventKind::ToolFinished(finished) => {
                self.inputs.remove(&finished.result.tool_use_id);
                Vec::new()
            }
            EventKind::PermissionRequested(request) => {
                let message = format!("A call of {} needs an answer: {}", request.tool, request.title);
                vec![notification("permission_prompt", message)]
            }
            EventKind::PermissionResolved { tool_use_id, tool, decision } if decision.behavior == Behavior::Deny => {
                let tool_input = self.inputs.get(tool_use_id).cloned().unwrap_or_else(JsonText::empty_object);
                let (tool_name, reason) = (tool.clone(), decision.message.clone());
                vec![PermissionDenied { tool_name, tool_input, tool_use_id: tool_use_id.clone(), reason }.into()]
            }
            EventKind::Compacted(compacted) => {
                let (trigger, compact_summary) = (compacted.trigger.as_str().to_owned(), compacted.summary.clone());
                vec![PostCompact { trigger, compact_summary }.into()]
            }
            EventKind::Status(Status::FallingBack { from, to }) => self.model_changed(Some(from), to, "fallback"),
            EventKind::StateChanged(change) => self.changed(change),
            EventKind::TaskEnded(ended) => agent_ended(ended).into_iter().collect(),
            EventKind::RunFinished(result) => {
                self.inputs.clear();
                failure(result).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn changed(&mut self, change: &StateChange) -> Vec<HookCall> {
        match change {
            StateChange::Cwd { cwd } => {
                let before = std::mem::replace(&mut self.cwd, cwd.clone());
                vec![CwdChanged { old_cwd: text(&before), new_cwd: text(cwd) }.into()]
            }
            StateChange::Model { model } => self.model_changed(None, model, "user"),
            StateChange::Todos { todos } => self.listed(todos.to().unwrap_or_default()),
            _ => Vec::new(),
        }
    }

    fn model_changed(&mut self, from: Option<&String>, to: &str, source: &str) -> Vec<HookCall> {
        let before = self.model.replace(to.to_owned());
        let from_model = from.cloned().or(before).unwrap_or_default();
        vec![PostModelSwitch { from_model, to_model: to.to_owned(), source: source.to_owned() }.into()]
    }

    /// Returns occasions for the items that are new on the list, then for those that are newly completed.
    fn listed(&mut self, now: Vec<Todo>) -> Vec<HookCall> {
        let before = std::mem::replace(&mut self.todos, now);
        let known = |todo: &Todo| before.iter().find(|other| other.is(todo));
        let (mut created, mut completed) = (Vec::new(), Vec::new());
        for (at, todo) in (1..).zip(&self.todos) {
            let (task_id, task_subject) = (todo.id.clone().unwrap_or_else(|| at.to_string()), todo.content.clone());
            let (earlier, task_description) = (known(todo), todo.description.clone());
            if earlier.is_none() {
                let (task_id, task_subject) = (task_id.clone(), task_subject.clone());
                created.push(TaskCreated { task_id, task_subject, task_description: task_description.clone() }.into());
            }
            if todo.is_completed() && !earlier.is_some_and(Todo::is_completed) {
                completed.push(TaskCompleted { task_id, task_subject, task_description }.into());
            }
        }
        created.append(&mut completed);
        created
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn notification(kind: &str, message: String) -> HookCall {
    Notification { message, title: None, notification_type: kind.to_owned() }.into()
}

/// Returns the notification that an agent in the background has ended.
fn agent_ended(ended: &TaskEnded) -> Option<HookCall> {
    let is_agent = ended.info.kind == TaskKind::LocalAgent;
    is_agent.then(|| notification("agent_completed", ended.summary.clone()))
}

fn failure(result: &RunResult) -> Option<HookCall> {
    let Outcome::Failed(failure) = &result.outcome else { return None };
    Some(
        StopFailure {
            error: word(&failure.kind).to_owned(),
            error_details: Some(failure.message.clone()),
            last_assistant_message: result.text.clone(),
        }
        .into(),
    )
}

/// Returns a word for the kind of failure.
fn word(kind: &RunFailureKind) -> &'static str {
    match kind {
        RunFailureKind::Model(kind) => kind.word(),
        RunFailureKind::PromptTooLong => ModelErrorKind::PromptTooLong.word(),
        RunFailureKind::OutputLimit => "max_output_tokens",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests;
