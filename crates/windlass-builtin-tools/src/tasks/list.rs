//! The list of tasks as data, and its changes. Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_tool::ToolError;

use super::NewStatus;
use crate::todo::{Todo, TodoPriority, TodoStatus};

/// Maximum number of tasks in a list.
const MAX_TASKS: usize = 200;
/// Maximum number of characters of a subject, an owner's name and a description.
const MAX_LINE_CHARS: usize = 300;
const MAX_TEXT_CHARS: usize = 10_000;
/// Maximum number of bytes of a list as JSON: each change writes all of it to the log.
const MAX_LIST_BYTES: usize = 256 * 1024;

/// A task in the format of the log: an item of TodoWrite with additional fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    #[serde(default)]
    pub(super) id: String,
    pub(super) content: String,
    pub(super) status: TodoStatus,
    #[serde(default)]
    pub(super) active_form: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// The tasks that must be completed before this one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) blocked_by: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<TodoPriority>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

/// Requested change of a task. Fields that are `None` or empty stay unchanged.
#[derive(Debug, Clone, Default)]
pub(super) struct Change {
    pub(super) subject: Option<String>,
    pub(super) description: Option<String>,
    pub(super) active_form: Option<String>,
    pub(super) status: Option<NewStatus>,
    pub(super) owner: Option<String>,
    pub(super) blocks: Vec<String>,
    pub(super) blocked_by: Vec<String>,
    /// A value of null removes a field.
    pub(super) metadata: Map<String, Value>,
}

/// A list of tasks with unique names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tasks(pub(super) Vec<Task>);

impl Tasks {
    /// Tasks of a list in the log. Items without a name, as TodoWrite writes them, get numbers.
    pub(super) fn of(mut tasks: Vec<Task>) -> Self {
        let mut next = highest(&tasks);
        let mut seen = BTreeSet::new();
        for task in &mut tasks {
            if task.id.is_empty() || !seen.insert(task.id.clone()) {
                next = next.saturating_add(1);
                task.id = next.to_string();
                seen.insert(task.id.clone());
            }
        }
        Self(tasks)
    }

    /// Highest number that is the name of a task; zero if there is none.
    pub(super) fn highest(&self) -> u64 {
        highest(&self.0)
    }

    pub(super) fn find(&self, id: &str) -> Option<&Task> {
        self.0.iter().find(|task| task.id == id)
    }

    /// Names of the tasks that wait for this one, in the order of the list.
    pub(super) fn blocks(&self, id: &str) -> Vec<&str> {
        self.0.iter().filter(|task| task.blocked_by.contains(id)).map(|task| task.id.as_str()).collect()
    }

    /// Names of the tasks that block this one, in the order of the list.
    pub(super) fn open_blockers(&self, task: &Task) -> Vec<&str> {
        let open = |other: &&Task| other.status != TodoStatus::Completed && task.blocked_by.contains(&other.id);
        self.0.iter().filter(open).map(|other| other.id.as_str()).collect()
    }

    /// Adds a pending task under an unused name. Returns the name.
    pub(super) fn add(&mut self, id: u64, change: Change) -> Result<String, ToolError> {
        if self.0.len() >= MAX_TASKS {
            return Err(ToolError::rejected(format!(
                "The list has {MAX_TASKS} tasks, which is the most that fit: delete those that no longer matter."
            )));
        }
        let id = id.to_string();
        self.0.push(Task {
            id: id.clone(),
            content: String::new(),
            status: TodoStatus::Pending,
            active_form: String::new(),
            description: None,
            blocked_by: BTreeSet::new(),
            owner: None,
            priority: None,
            metadata: Map::new(),
        });
        // Without a subject the new task has none at all.
        let subject = Some(change.subject.unwrap_or_default());
        self.update(&id, Change { subject, ..change })?;
        Ok(id)
    }

    /// Changes a task. Returns the names of the changed fields.
    pub(super) fn update(&mut self, id: &str, change: Change) -> Result<Vec<&'static str>, ToolError> {
        if change.status == Some(NewStatus::Deleted) {
            self.delete(id);
            return Ok(vec!["status"]);
        }
        let mut updated = self.link(id, &change)?;
        let Some(task) = self.0.iter_mut().find(|task| task.id == id) else { return Ok(updated) };
        let fields = task.set(change)?;
        updated.splice(0..0, fields);
        let bytes = serde_json::to_vec(&self.0)?.len();
        if bytes > MAX_LIST_BYTES {
            return Err(ToolError::rejected(format!(
                "The list would have {bytes} bytes, and at most {MAX_LIST_BYTES} fit: write shorter descriptions, or delete tasks."
            )));
        }
        Ok(updated)
    }

    fn delete(&mut self, id: &str) {
        self.0.retain(|task| task.id != id);
        for task in &mut self.0 {
            task.blocked_by.remove(id);
        }
    }

    /// Lets tasks wait for each other. No task may come to wait for itself.
    fn link(&mut self, id: &str, change: &Change) -> Result<Vec<&'static str>, ToolError> {
        let waits = change.blocked_by.iter().map(|before| ("blockedBy", before.as_str(), id));
        let blocks = change.blocks.iter().map(|after| ("blocks", id, after.as_str()));
        let mut updated = Vec::new();
        for (field, before, after) in blocks.chain(waits) {
            if let Some(missing) = [before, after].into_iter().find(|id| self.find(id).is_none()) {
                return Err(ToolError::rejected(format!("There is no task #{missing}. TaskList shows all.")));
            }
            if self.waits_for(before, after) {
                return Err(ToolError::rejected(format!(
                    "#{after} cannot wait for #{before}: then #{before} would wait for itself."
                )));
            }
            let Some(task) = self.0.iter_mut().find(|task| task.id == after) else { continue };
            if task.blocked_by.insert(before.to_owned()) && !updated.contains(&field) {
                updated.push(field);
            }
        }
        Ok(updated)
    }

    /// `true` if a task is the other one, or waits for it, directly or through others.
    fn waits_for(&self, task: &str, other: &str) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![task]);
        while let Some(id) = open.pop() {
            if id == other {
                return true;
            }
            if seen.insert(id) {
                open.extend(self.find(id).into_iter().flat_map(|task| &task.blocked_by).map(String::as_str));
            }
        }
        false
    }

    /// The list in the format of TodoWrite.
    pub(super) fn todos(&self) -> Vec<Todo> {
        let todo = |task: &Task| {
            let mut todo = Todo::new(&task.content, &task.active_form).with_status(task.status);
            (todo.id, todo.priority) = (Some(task.id.clone()), task.priority);
            todo
        };
        self.0.iter().map(todo).collect()
    }
}

impl Task {
    /// Sets the given fields. Returns the names of the changed ones.
    fn set(&mut self, change: Change) -> Result<Vec<&'static str>, ToolError> {
        let before = self.clone();
        if let Some(subject) = change.subject {
            // The active form follows the subject, unless the model gave one.
            if self.active_form == self.content {
                self.active_form.clone_from(&subject);
            }
            self.content = required_line("subject", subject)?;
        }
        if let Some(active_form) = change.active_form {
            self.active_form = required_line("activeForm", active_form)?;
        }
        if let Some(description) = change.description {
            let description = check_length("description", description, MAX_TEXT_CHARS)?;
            self.description = Some(description).filter(|text| !text.trim().is_empty());
        }
        if let Some(owner) = change.owner {
            self.owner = Some(check_length("owner", owner, MAX_LINE_CHARS)?).filter(|name| !name.trim().is_empty());
        }
        if let Some(status) = change.status.and_then(NewStatus::kept) {
            self.status = status;
        }
        for (key, value) in change.metadata {
            if value.is_null() {
                self.metadata.remove(&key)
            } else {
                self.metadata.insert(key, value)
            };
        }
        let changed = [
            ("subject", self.content != before.content),
            ("description", self.description != before.description),
            ("activeForm", self.active_form != before.active_form),
            ("status", self.status != before.status),
            ("owner", self.owner != before.owner),
            ("metadata", self.metadata != before.metadata),
        ];
        Ok(changed.into_iter().filter(|(_, changed)| *changed).map(|(field, _)| field).collect())
    }
}

fn highest(tasks: &[Task]) -> u64 {
    tasks.iter().filter_map(|task| task.id.parse().ok()).max().unwrap_or(0)
}

fn required_line(field: &str, text: String) -> Result<String, ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::invalid_input(format!("`{field}` is empty: say what is to do")));
    }
    check_length(field, text, MAX_LINE_CHARS)
}

fn check_length(field: &str, text: String, max_chars: usize) -> Result<String, ToolError> {
    let length = text.chars().count();
    if length <= max_chars {
        return Ok(text);
    }
    Err(ToolError::invalid_input(format!("`{field}` has {length} characters; at most {max_chars} fit")))
}

#[cfg(test)]
mod tests;
