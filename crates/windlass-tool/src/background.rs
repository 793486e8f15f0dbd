//! Port to work that continues after its call.

use crate::{BoxFuture, Cancel, ToolError};
use std::fmt::Debug;
use std::path::PathBuf;
use windlass_types::{TaskId, TaskInfo, TaskKind, TaskStatus, TaskUsage};

/// Runs work that continues after the call that began it has ended.
///
/// The start and end of a task are reported to the host, the end also to the model. All tasks end with the session.
///
/// ```
/// use windlass_tool::{TaskOutcome, TaskSpec, ToolCx, ToolError};
/// use windlass_types::{TaskId, TaskKind, TaskStatus};
///
/// /// What a tool does that leaves work behind, which continues until it is stopped.
/// fn watch(cx: &ToolCx) -> Result<TaskId, ToolError> {
///     let spec = TaskSpec::new(TaskKind::LocalBash, "Watches the build");
///     cx.background()?.start(spec, Box::new(|task| Box::pin(async move {
///         task.cancel.cancelled().await;
///         TaskOutcome::new(TaskStatus::Stopped, "The build is watched no longer.")
///     })))
/// }
/// ```
pub trait Background: Debug + Send + Sync + 'static {
    /// Starts work and returns its id. The work continues when the call has ended, also when the run is stopped. Panics
    /// are caught and become a failure. Work that does not stop on request is dropped some seconds later.
    ///
    /// # Errors
    /// Too many tasks are running, the session is about to end, or the call only reads by its
    /// [`Access`](windlass_types::Access): such a call may run before it counts.
    fn start(&self, spec: TaskSpec, work: TaskWork) -> Result<TaskId, ToolError>;

    /// Returns the task with this id, if it is running.
    fn find(&self, id: &TaskId) -> Option<TaskInfo>;

    /// Returns the folder for output that the model may read; created when needed. `None` if there is no such folder.
    fn folder(&self) -> Option<PathBuf>;
}

/// Description of work before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSpec {
    /// Kind of the work.
    pub kind: TaskKind,
    /// Description of the work, in a line.
    pub description: String,
    /// File for the output, if the work has any.
    pub output_file: Option<PathBuf>,
    /// Id of the task; `None` to generate one.
    pub id: Option<TaskId>,
    /// Type of the agent, if the work is one.
    pub agent_type: Option<String>,
}

impl TaskSpec {
    /// Returns work without output.
    pub fn new(kind: TaskKind, description: impl Into<String>) -> Self {
        Self { kind, description: description.into(), output_file: None, id: None, agent_type: None }
    }

    /// Sets the file for the output.
    #[must_use]
    pub fn with_output_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.output_file = Some(path.into());
        self
    }

    /// Marks the work as an agent of a type, and sets its id.
    #[must_use]
    pub fn with_agent(mut self, id: TaskId, agent_type: impl Into<String>) -> Self {
        (self.id, self.agent_type) = (Some(id), Some(agent_type.into()));
        self
    }
}

/// Context of running work.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskCx {
    /// Id of the task.
    pub id: TaskId,
    /// Signal that is given when the work should stop.
    pub cancel: Cancel,
}

impl TaskCx {
    /// Returns the context of work with this id.
    pub fn new(id: TaskId, cancel: Cancel) -> Self {
        Self { id, cancel }
    }
}

/// The work itself.
pub type TaskWork = Box<dyn FnOnce(TaskCx) -> BoxFuture<'static, TaskOutcome> + Send>;

/// Outcome of work. If the work was asked to stop, only the summary is used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskOutcome {
    /// Status at the end.
    pub status: TaskStatus,
    /// Result, in a sentence that the model and people read.
    pub summary: String,
    /// Usage, if the work is an agent.
    pub usage: Option<TaskUsage>,
    /// Report of an agent, for the model.
    pub report: Option<String>,
}

impl TaskOutcome {
    /// Returns an outcome without usage and report.
    pub fn new(status: TaskStatus, summary: impl Into<String>) -> Self {
        Self { status, summary: summary.into(), usage: None, report: None }
    }
}

const _: fn(&dyn Background) = |_| {};
