//! TaskStop: ends work that continues in the background.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_tool::{Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, ContextChange, TaskId};

/// Ends work that a call left in the background.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct TaskStop;

/// Input of [`TaskStop`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TaskStopInput {
    /// The task, as the call that began it named it.
    pub task_id: String,
}

impl Tool for TaskStop {
    const NAME: &'static str = "TaskStop";
    const DESCRIPTION: &'static str = "Ends a task that you started in the background, with everything that belongs to \
        it. What it has written to its output file stays.";
    type Input = TaskStopInput;
    type Output = ToolOutput;

    fn access(&self, _: &TaskStopInput) -> Access {
        Access::NOTHING
    }

    fn title(&self, input: &TaskStopInput) -> Cow<'static, str> {
        Cow::Owned(format!("Stop the task {}", input.task_id))
    }

    async fn call(&self, input: TaskStopInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let id = TaskId::from(input.task_id);
        let Some(task) = cx.background()?.find(&id) else {
            return Err(ToolError::rejected(format!("No task {id} goes on: it has ended, or there never was one.")));
        };
        let message = format!("The task {id} is stopped: {}", task.description);
        let structured = json!({ "message": message, "task_id": id, "task_type": task.kind.as_str() });
        // The task is stopped when this call is committed, not while its message may still be taken back.
        ToolOutput::text(message).with_change(ContextChange::StopTask(id)).with_structured(&structured)
    }
}
