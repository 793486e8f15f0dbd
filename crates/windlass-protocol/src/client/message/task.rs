//! Background tasks, as the other side reports them.

use super::SystemMessage;
use serde::Deserialize;
use windlass_types::TaskUsage;

/// A `system` message about a background task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMessage {
    /// The task began.
    Started(TaskStarted),
    /// Progress of an agent.
    Progress(TaskProgress),
    /// The task ended.
    Ended(TaskNotification),
}

/// A background task began.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TaskStarted {
    /// Name of the task, for [`ClientHandle::stop_task`](crate::client::ClientHandle::stop_task). For an agent, its id.
    pub task_id: String,
    /// Description in a line.
    pub description: String,
    /// Type of the task, such as `local_bash` or `local_agent`.
    #[serde(default)]
    pub task_type: Option<String>,
    /// Type of the agent, if the task is one.
    #[serde(default)]
    pub subagent_type: Option<String>,
    /// Tool use that began the task.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// Agent that began the task, if not the main one.
    #[serde(default)]
    pub parent_task_id: Option<String>,
}

/// Progress of a background agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TaskProgress {
    /// Name of the task.
    pub task_id: String,
    /// Description in a line.
    pub description: String,
    /// Usage so far.
    pub usage: TaskUsage,
    /// Last used tool.
    #[serde(default)]
    pub last_tool_name: Option<String>,
    /// Type of the agent.
    #[serde(default)]
    pub subagent_type: Option<String>,
    /// Tool use that began the task.
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

/// A background task ended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TaskNotification {
    /// Name of the task.
    pub task_id: String,
    /// `completed`, `failed` or `stopped`.
    pub status: String,
    /// Path of the output; empty if there is none.
    #[serde(default)]
    pub output_file: String,
    /// End of the task, in a line.
    #[serde(default)]
    pub summary: String,
    /// Usage of the task, if it is an agent.
    #[serde(default)]
    pub usage: Option<TaskUsage>,
    /// Tool use that began the task.
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

impl SystemMessage {
    /// Task of the message, if it is about one.
    pub fn task(&self) -> Option<TaskMessage> {
        match self.subtype.as_str() {
            "task_started" => self.raw.to().ok().map(TaskMessage::Started),
            "task_progress" => self.raw.to().ok().map(TaskMessage::Progress),
            "task_notification" => self.raw.to().ok().map(TaskMessage::Ended),
            _ => None,
        }
    }
}
