//! TaskCreate and TaskUpdate: the tools that change the list.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_tool::{Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;

use super::list::{Change, Tasks};
use super::{NewStatus, Numbers, changed, id, names, recorded, unknown, word};
use crate::todo::TodoStatus;

/// Adds a task to the list.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TaskCreate;

/// Input of [`TaskCreate`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskCreateInput {
    /// What is to do, as a short order: "Run the tests".
    pub subject: String,
    /// What belongs to it, and when it is done.
    pub description: String,
    /// The same while it is being done: "Running the tests".
    #[serde(default)]
    pub active_form: Option<String>,
    /// Further fields to keep with the task.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
}

impl Tool for TaskCreate {
    const NAME: &'static str = "TaskCreate";
    const DESCRIPTION: &'static str = "Puts a task on your list, which the user sees, and returns its number. Use the list for \
        work of three or more steps, one task for each step; leave it out for simple requests. Which task must wait for \
        which, say with TaskUpdate.";
    type Input = TaskCreateInput;
    type Output = ToolOutput;

    fn access(&self, _: &TaskCreateInput) -> Access {
        Access::Session
    }

    fn title(&self, input: &TaskCreateInput) -> Cow<'static, str> {
        Cow::Owned(format!("Add the task: {}", input.subject))
    }

    async fn call(&self, input: TaskCreateInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let mut tasks = recorded(cx);
        let change = Change {
            subject: Some(input.subject.clone()),
            description: Some(input.description.clone()),
            active_form: input.active_form,
            metadata: input.metadata.unwrap_or_default(),
            ..Change::default()
        };
        let id = tasks.add(cx.state::<Numbers>().next(&tasks), change)?;
        let task = json!({ "id": id, "subject": input.subject, "description": input.description });
        changed(format!("Task #{id} is on the list: {}", input.subject), &tasks, &json!({ "task": task }), cx)
    }
}

/// Changes a task.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TaskUpdate;

/// Input of [`TaskUpdate`]. Fields that are not given stay unchanged.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskUpdateInput {
    /// The task, as TaskCreate or TaskList names it.
    pub task_id: String,
    /// What is to do, as a short order.
    #[serde(default)]
    pub subject: Option<String>,
    /// What belongs to it, and when it is done.
    #[serde(default)]
    pub description: Option<String>,
    /// The same while it is being done.
    #[serde(default)]
    pub active_form: Option<String>,
    /// How far it is; "deleted" takes it off the list.
    #[serde(default)]
    pub status: Option<NewStatus>,
    /// Tasks that are to wait for this one.
    #[serde(default)]
    pub add_blocks: Option<Vec<String>>,
    /// Tasks that this one is to wait for.
    #[serde(default)]
    pub add_blocked_by: Option<Vec<String>>,
    /// Who does it, such as the name of an agent.
    #[serde(default)]
    pub owner: Option<String>,
    /// Further fields to keep with the task; null takes one away.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
}

impl TaskUpdateInput {
    fn change(self) -> Change {
        let ids = |written: Option<Vec<String>>| {
            written.unwrap_or_default().iter().map(|written| id(written).to_owned()).collect()
        };
        Change {
            subject: self.subject,
            description: self.description,
            active_form: self.active_form,
            status: self.status,
            owner: self.owner,
            blocks: ids(self.add_blocks),
            blocked_by: ids(self.add_blocked_by),
            metadata: self.metadata.unwrap_or_default(),
        }
    }
}

impl Tool for TaskUpdate {
    const NAME: &'static str = "TaskUpdate";
    const DESCRIPTION: &'static str = "Changes a task of your list. Set a task in_progress before you begin it, and completed as \
        soon as it is really done: not while tests fail or something is missing. Delete what no longer fits the work.";
    type Input = TaskUpdateInput;
    type Output = ToolOutput;

    fn access(&self, _: &TaskUpdateInput) -> Access {
        Access::Session
    }

    fn title(&self, input: &TaskUpdateInput) -> Cow<'static, str> {
        Cow::Owned(format!("Change the task #{}", id(&input.task_id)))
    }

    async fn call(&self, input: TaskUpdateInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let mut tasks = recorded(cx);
        let id = id(&input.task_id).to_owned();
        let Some(before) = tasks.find(&id).map(|task| task.status) else {
            let error = unknown(&id);
            let structured = json!({ "success": false, "taskId": id, "updatedFields": [], "error": error });
            return Ok(ToolOutput::text(error).with_structured(&structured)?.failed());
        };
        let status = input.status;
        let fields = tasks.update(&id, input.change())?;
        let mut structured = json!({ "success": true, "taskId": id, "updatedFields": fields });
        let to = status.map(|status| status.kept().map_or("deleted", word)).filter(|to| *to != word(before));
        if let (Some(to), Some(found)) = (to, structured.as_object_mut()) {
            found.insert("statusChange".to_owned(), json!({ "from": word(before), "to": to }));
        }
        changed(summary(&tasks, &id, &fields), &tasks, &structured, cx)
    }
}

/// Summary of a change for the model: the changed fields, and the consequences for the next step.
fn summary(tasks: &Tasks, id: &str, fields: &[&str]) -> String {
    let Some(task) = tasks.find(id) else { return format!("Task #{id} is deleted.") };
    if fields.is_empty() {
        return format!("Task #{id} is as it was: [{}] {}", word(task.status), task.content);
    }
    let mut text = format!("Task #{id} is changed ({}): [{}] {}", fields.join(", "), word(task.status), task.content);
    let waits = tasks.open_blockers(task);
    if task.status == TodoStatus::Completed {
        let free = |other: &&str| tasks.find(other).is_some_and(|other| tasks.open_blockers(other).is_empty());
        let free: Vec<&str> = tasks.blocks(id).into_iter().filter(free).collect();
        if !free.is_empty() {
            text.push_str(&format!("\nCan begin now: {}.", names(&free)));
        }
    } else if !waits.is_empty() {
        text.push_str(&format!("\nIt waits for {}.", names(&waits)));
    }
    text
}
