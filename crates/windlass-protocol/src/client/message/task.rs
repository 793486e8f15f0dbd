//! Work in the background, as the other side reports it.

use super::SystemMessage;
use serde::Deserialize;
use windlass_types::TaskUsage;

/// A `system` message about work in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMessage {
    /// It began.
    Started(TaskStarted),
    /// The progress of an agent.
    Progress(TaskProgress),
    /// It ended.
    Ended(TaskNotification),
}

/// Work in the background began.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TaskStarted {
    /// Its name, for [`ClientHandle::stop_task`](crate::client::ClientHandle::stop_task). An agent has its id.
    pub task_id: String,
    /// What it does, in a line.
    pub description: String,
    /// What it is, such as `local_bash` or `local_agent`.
    #[serde(default)]
    pub task_type: Option<String>,
    /// The type of the agent, if it is one.
    #[serde(default)]
    pub subagent_type: Option<String>,
    /// The tool use that began it.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// The agent that began it, if that is not the main one.
    #[serde(default)]
    pub parent_task_id: Option<String>,
}

/// How far an agent in the background is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TaskProgress {
    /// Its name.
    pub task_id: String,
    /// What it does, in a line.
    pub description: String,
    /// What it used until now.
    pub usage: TaskUsage,
    /// The tool that it used last.
    #[serde(default)]
    pub last_tool_name: Option<String>,
    /// The type of the agent.
    #[serde(default)]
    pub subagent_type: Option<String>,
    /// The tool use that began it.
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

/// Work in the background ended.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TaskNotification {
    /// Its name.
    pub task_id: String,
    /// `completed`, `failed` or `stopped`.
    pub status: String,
    /// Where its output is; empty if it has none.
    #[serde(default)]
    pub output_file: String,
    /// How it ended, in a line.
    #[serde(default)]
    pub summary: String,
    /// What it used, if it is an agent.
    #[serde(default)]
    pub usage: Option<TaskUsage>,
    /// The tool use that began it.
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

impl SystemMessage {
    /// The task that it is about, if it is about one.
    pub fn task(&self) -> Option<TaskMessage> {
        match self.subtype.as_str() {
            "task_started" => self.raw.to().ok().map(TaskMessage::Started),
            "task_progress" => self.raw.to().ok().map(TaskMessage::Progress),
            "task_notification" => self.raw.to().ok().map(TaskMessage::Ended),
            _ => None,
        }
    }
}
