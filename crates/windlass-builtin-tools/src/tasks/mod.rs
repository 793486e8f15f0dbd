//! TaskCreate, TaskGet, TaskUpdate and TaskList: a list of tasks that may wait for each other.
//!
//! The tools share their list with TodoWrite, which replaces it as a whole: both are in one line of the log, and hosts,
//! hooks and reminders know one list.

mod list;
mod write;

pub use write::{TaskCreate, TaskCreateInput, TaskUpdate, TaskUpdateInput};

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_tool::{Recorded, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, ContextChange, JsonText};

use crate::todo::{TodoList, TodoStatus};
use list::{Task, Tasks};

/// What a task is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the wire format has exactly these states")]
pub enum NewStatus {
    /// Not begun.
    Pending,
    /// Being done now.
    InProgress,
    /// Done.
    Completed,
    /// Taken off the list.
    Deleted,
}

impl NewStatus {
    /// Status of a task that stays on the list.
    fn kept(self) -> Option<TodoStatus> {
        match self {
            Self::Pending => Some(TodoStatus::Pending),
            Self::InProgress => Some(TodoStatus::InProgress),
            Self::Completed => Some(TodoStatus::Completed),
            Self::Deleted => None,
        }
    }
}

/// Highest number that this session has given a task: the number of a deleted task is not given again.
#[derive(Debug, Default)]
struct Numbers(AtomicU64);

impl Numbers {
    fn next(&self, tasks: &Tasks) -> u64 {
        let next = self.0.load(Ordering::Relaxed).max(tasks.highest()).saturating_add(1);
        self.0.store(next, Ordering::Relaxed);
        next
    }
}

/// List from the log. An unreadable list is treated as none.
fn recorded(cx: &ToolCx) -> Tasks {
    let tasks: Option<Vec<Task>> = cx.state::<Recorded>().todos().and_then(|todos| todos.to().ok());
    Tasks::of(tasks.unwrap_or_default())
}

/// Result of a call that changed the list.
fn changed(text: String, tasks: &Tasks, structured: &impl Serialize, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let list = JsonText::of(&tasks.0)?;
    cx.state::<TodoList>().replace(tasks.todos());
    ToolOutput::text(text).with_change(ContextChange::Todos(list)).with_structured(structured)
}

/// Name of a task from the forms that models write: `3`, `#3`.
fn id(written: &str) -> &str {
    let written = written.trim();
    written.strip_prefix('#').unwrap_or(written)
}

fn unknown(id: &str) -> String {
    format!("There is no task #{id}. TaskList shows all.")
}

/// Names of tasks in words: `#1, #2`.
fn names(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("#{id}")).collect::<Vec<_>>().join(", ")
}

fn word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    }
}

/// Shows one task.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TaskGet;

/// Input of [`TaskGet`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskGetInput {
    /// The task, as TaskCreate or TaskList names it.
    pub task_id: String,
}

impl Tool for TaskGet {
    const NAME: &'static str = "TaskGet";
    const DESCRIPTION: &'static str = "Shows one task of your list: its description, its status, and which tasks it waits for \
        or holds up.";
    type Input = TaskGetInput;
    type Output = ToolOutput;

    fn access(&self, _: &TaskGetInput) -> Access {
        Access::Session
    }

    fn title(&self, input: &TaskGetInput) -> Cow<'static, str> {
        Cow::Owned(format!("Look at the task #{}", id(&input.task_id)))
    }

    async fn call(&self, input: TaskGetInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let tasks = recorded(cx);
        let Some(task) = tasks.find(id(&input.task_id)) else {
            return ToolOutput::text(unknown(id(&input.task_id))).with_structured(&json!({ "task": null }));
        };
        let (blocks, status) = (tasks.blocks(&task.id), word(task.status));
        let mut text = format!("#{} [{status}] {}", task.id, task.content);
        if let Some(owner) = &task.owner {
            text.push_str(&format!("\nOwner: {owner}"));
        }
        for (label, others) in [("Waits for", tasks.open_blockers(task)), ("Holds up", blocks.clone())] {
            if !others.is_empty() {
                text.push_str(&format!("\n{label}: {}", names(&others)));
            }
        }
        let description = task.description.as_deref().unwrap_or_default();
        if !description.is_empty() {
            text.push_str(&format!("\n\n{description}"));
        }
        ToolOutput::text(text).with_structured(&json!({ "task": {
            "id": task.id, "subject": task.content, "description": description, "status": status,
            "blocks": blocks, "blockedBy": task.blocked_by,
        } }))
    }
}

/// Shows all tasks.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TaskList;

/// Input of [`TaskList`]: no fields.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TaskListInput {}

impl Tool for TaskList {
    const NAME: &'static str = "TaskList";
    const DESCRIPTION: &'static str = "Shows your list of tasks, a line each, with the tasks that each waits for. Look here for \
        what to do next: a pending task that waits for none, the lowest number first.";
    type Input = TaskListInput;
    type Output = ToolOutput;

    fn access(&self, _: &TaskListInput) -> Access {
        Access::Session
    }

    fn title(&self, _: &TaskListInput) -> Cow<'static, str> {
        Cow::Borrowed("Look at the task list")
    }

    async fn call(&self, _: TaskListInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let tasks = recorded(cx);
        let (mut lines, mut found) = (Vec::new(), Vec::new());
        for task in &tasks.0 {
            let (blockers, status) = (tasks.open_blockers(task), word(task.status));
            let owner = task.owner.as_ref().map(|owner| format!(" ({owner})")).unwrap_or_default();
            let waits = if blockers.is_empty() { String::new() } else { format!(" waits for {}", names(&blockers)) };
            lines.push(format!("#{} [{status}] {}{owner}{waits}", task.id, task.content));
            let mut shown = json!({
                "id": task.id, "subject": task.content, "status": status, "blockedBy": blockers,
            });
            if let (Some(fields), Some(owner)) = (shown.as_object_mut(), &task.owner) {
                fields.insert("owner".to_owned(), json!(owner));
            }
            found.push(shown);
        }
        let text = if lines.is_empty() { "The task list is empty.".to_owned() } else { lines.join("\n") };
        ToolOutput::text(text).with_structured(&json!({ "tasks": found }))
    }
}
