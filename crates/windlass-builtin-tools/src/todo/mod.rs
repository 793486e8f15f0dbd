//! TodoWrite: the model's own list of what is to do.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_tool::{Recorded, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, ContextChange, JsonText};

/// Maximum number of tasks in a list.
const MAX_TODOS: usize = 200;

/// One task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Todo {
    /// What is to do, as an order: "Run the tests".
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The same while it is being done: "Running the tests". Default: `content`.
    #[serde(default)]
    pub active_form: String,
    /// A name for the task that stays the same from list to list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How important it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<TodoPriority>,
}

impl Todo {
    /// Creates a pending task.
    #[must_use]
    pub fn new(content: impl Into<String>, active_form: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            status: TodoStatus::Pending,
            active_form: active_form.into(),
            id: None,
            priority: None,
        }
    }

    /// Sets the status.
    #[must_use]
    pub fn with_status(mut self, status: TodoStatus) -> Self {
        self.status = status;
        self
    }
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the wire format has exactly these states")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done now.
    InProgress,
    /// Done.
    Completed,
}

/// How important a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the wire format has exactly these grades")]
pub enum TodoPriority {
    /// Before the others.
    High,
    /// As usual.
    Medium,
    /// When the others are done.
    Low,
}

/// List of a session (`cx.state::<TodoList>()`). In a resumed session it is that of the last run once TodoWrite was
/// called.
#[derive(Debug, Default)]
pub struct TodoList(Mutex<Option<Vec<Todo>>>);

impl TodoList {
    /// Present tasks.
    pub fn todos(&self) -> Vec<Todo> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// Replaces the list. Returns the old one.
    pub fn replace(&self, todos: Vec<Todo>) -> Vec<Todo> {
        self.replace_or(todos, Vec::new)
    }

    /// Replaces the list. Returns the old one, or the result of `before` when there is none yet.
    fn replace_or(&self, todos: Vec<Todo>, before: impl FnOnce() -> Vec<Todo>) -> Vec<Todo> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.replace(todos).unwrap_or_else(before)
    }
}

/// Replaces the session's list of tasks.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TodoWrite;

/// Input of [`TodoWrite`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TodoWriteInput {
    /// The whole new list, in order.
    pub todos: Vec<Todo>,
}

impl Tool for TodoWrite {
    const NAME: &'static str = "TodoWrite";
    const DESCRIPTION: &'static str = "Keeps your list of tasks, which the user sees. Send the whole list each time. \
        Use it for work of three or more steps: write the steps down first, set one task in_progress before you \
        begin it, and set it completed as soon as it is really done, not later in a batch. Leave it out for simple \
        requests.";
    type Input = TodoWriteInput;
    type Output = ToolOutput;

    fn access(&self, _: &TodoWriteInput) -> Access {
        Access::NOTHING
    }

    fn title(&self, _: &TodoWriteInput) -> Cow<'static, str> {
        Cow::Borrowed("Update the task list")
    }

    async fn call(&self, mut input: TodoWriteInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        check(&input.todos)?;
        for todo in input.todos.iter_mut().filter(|todo| todo.active_form.trim().is_empty()) {
            todo.active_form.clone_from(&todo.content);
        }
        let text = summary(&input.todos);
        // An unreadable list is treated as none.
        let before = || cx.state::<Recorded>().todos().and_then(|todos| todos.to().ok()).unwrap_or_default();
        let old = cx.state::<TodoList>().replace_or(input.todos.clone(), before);
        let structured = json!({ "oldTodos": old, "newTodos": input.todos });
        let change = ContextChange::Todos(JsonText::of(&input.todos)?);
        ToolOutput::text(text).with_change(change).with_structured(&structured)
    }
}

fn check(todos: &[Todo]) -> Result<(), ToolError> {
    if todos.len() > MAX_TODOS {
        return Err(ToolError::invalid_input(format!(
            "the list has {} tasks; at most {MAX_TODOS} fit: join small ones",
            todos.len()
        )));
    }
    for (n, todo) in (1..).zip(todos) {
        if todo.content.trim().is_empty() {
            return Err(ToolError::invalid_input(format!("task {n} has no content: say what is to do")));
        }
        let same_id = |other: &&Todo| todo.id.is_some() && other.id == todo.id;
        if todos.iter().filter(same_id).count() > 1 {
            let id = todo.id.as_deref().unwrap_or_default();
            return Err(ToolError::invalid_input(format!("the id {id:?} is used for more than one task")));
        }
    }
    Ok(())
}

fn summary(todos: &[Todo]) -> String {
    let with = |status| todos.iter().filter(move |todo| todo.status == status);
    let done = with(TodoStatus::Completed).count();
    let mut text = format!("The task list is updated: {done} of {} done.", todos.len());
    if let Some(current) = with(TodoStatus::InProgress).next() {
        text.push_str(&format!(" In progress: {}.", current.content));
    } else if let Some(next) = with(TodoStatus::Pending).next() {
        text.push_str(&format!(" Next: {}. Set it in_progress when you begin.", next.content));
    }
    text
}

#[cfg(test)]
mod tests;
