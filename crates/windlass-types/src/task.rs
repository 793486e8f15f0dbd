//! Background work that continues after the call that began it.

use crate::{TaskId, ToolUseId};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Kind of a background task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskKind {
    /// A shell command on this machine.
    LocalBash,
    /// An agent of this process.
    LocalAgent,
}

impl TaskKind {
    /// The kind as hosts know it, such as `local_bash`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LocalBash => "local_bash",
            Self::LocalAgent => "local_agent",
        }
    }
}

/// Final status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskStatus {
    /// The task succeeded.
    Completed,
    /// The task failed.
    Failed,
    /// The user or the model stopped it, or the session ended.
    Stopped,
}

impl TaskStatus {
    /// The status as hosts know it: `completed`, `failed` or `stopped`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// Work in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaskInfo {
    /// Id of the task, unique in the session.
    pub id: TaskId,
    /// Kind of the work.
    pub kind: TaskKind,
    /// Description of the work in a line. Often in the model's words.
    pub description: String,
    /// The call that began it.
    pub tool_use_id: ToolUseId,
    /// File of the task's output, if there is one.
    pub output_file: Option<PathBuf>,
    /// Type of the agent, if the task is an agent.
    pub agent_type: Option<String>,
}

impl TaskInfo {
    /// A task without output.
    pub fn new(id: TaskId, kind: TaskKind, description: impl Into<String>, tool_use_id: ToolUseId) -> Self {
        Self { id, kind, description: description.into(), tool_use_id, output_file: None, agent_type: None }
    }
}

/// Resources that an agent has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct TaskUsage {
    /// Tokens that its model read and wrote, over all calls.
    pub total_tokens: u64,
    /// Number of its answered tool uses.
    pub tool_uses: u64,
    /// Time since its start, in milliseconds.
    pub duration_ms: u64,
}

impl TaskUsage {
    /// Tokens, tool uses and milliseconds.
    pub fn new(total_tokens: u64, tool_uses: u64, duration_ms: u64) -> Self {
        Self { total_tokens, tool_uses, duration_ms }
    }
}

/// Progress of an agent in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaskProgress {
    /// The task.
    #[serde(flatten)]
    pub info: TaskInfo,
    /// Resources used so far.
    pub usage: TaskUsage,
    /// The last tool that the agent used.
    pub last_tool: Option<String>,
}

impl TaskProgress {
    /// Progress of a task that has used no tool yet.
    pub fn new(info: TaskInfo, usage: TaskUsage) -> Self {
        Self { info, usage, last_tool: None }
    }
}

/// A task that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaskEnded {
    /// The task.
    #[serde(flatten)]
    pub info: TaskInfo,
    /// Final status.
    pub status: TaskStatus,
    /// Result, in a sentence.
    pub summary: String,
    /// Duration, in milliseconds.
    pub duration_ms: u64,
    /// Resources used, if the task is an agent.
    pub usage: Option<TaskUsage>,
    /// Report of an agent, for the model.
    pub report: Option<String>,
}

impl TaskEnded {
    /// A task that ended with a duration of zero.
    pub fn new(info: TaskInfo, status: TaskStatus, summary: impl Into<String>) -> Self {
        Self { info, status, summary: summary.into(), duration_ms: 0, usage: None, report: None }
    }
}

/// Log record of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskRecord {
    /// A call started the task.
    Started(TaskInfo),
    /// The model ordered its end, so the end is not reported to the model.
    Stopping(TaskId),
    /// The task ended.
    Ended(TaskEnded),
}
