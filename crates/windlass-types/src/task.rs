//! Work that continues after the call that began it.

use crate::{TaskId, ToolUseId};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What kind of work a task is.
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

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskStatus {
    /// It did what it was to do.
    Completed,
    /// It failed.
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
    /// Its name, unique in the session.
    pub id: TaskId,
    /// What kind of work it is.
    pub kind: TaskKind,
    /// What it does, in a line. Often in the model's words.
    pub description: String,
    /// The call that began it.
    pub tool_use_id: ToolUseId,
    /// Where its output goes, if it has any.
    pub output_file: Option<PathBuf>,
    /// The type of the agent, if it is one.
    pub agent_type: Option<String>,
}

impl TaskInfo {
    /// A task without output.
    pub fn new(id: TaskId, kind: TaskKind, description: impl Into<String>, tool_use_id: ToolUseId) -> Self {
        Self { id, kind, description: description.into(), tool_use_id, output_file: None, agent_type: None }
    }
}

/// What an agent used until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct TaskUsage {
    /// Tokens that its model read and wrote, over all calls.
    pub total_tokens: u64,
    /// How many of its tool uses were answered.
    pub tool_uses: u64,
    /// How long it has run, in milliseconds.
    pub duration_ms: u64,
}

impl TaskUsage {
    /// Tokens, tool uses and milliseconds.
    pub fn new(total_tokens: u64, tool_uses: u64, duration_ms: u64) -> Self {
        Self { total_tokens, tool_uses, duration_ms }
    }
}

/// How far an agent in the background is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TaskProgress {
    /// The task.
    #[serde(flatten)]
    pub info: TaskInfo,
    /// What it used until now.
    pub usage: TaskUsage,
    /// The tool that it used last.
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
    /// How it ended.
    pub status: TaskStatus,
    /// Its result, in a sentence.
    pub summary: String,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What it used, if it is an agent.
    pub usage: Option<TaskUsage>,
    /// What an agent reports, for the model.
    pub report: Option<String>,
}

impl TaskEnded {
    /// A task that ended at once.
    pub fn new(info: TaskInfo, status: TaskStatus, summary: impl Into<String>) -> Self {
        Self { info, status, summary: summary.into(), duration_ms: 0, usage: None, report: None }
    }
}

/// What a log keeps of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskRecord {
    /// A call left work behind.
    Started(TaskInfo),
    /// The model ordered its end, so it need not read of it.
    Stopping(TaskId),
    /// It ended.
    Ended(TaskEnded),
}
