//! The port to work that continues after its call.

use crate::{BoxFuture, Cancel, ToolError};
use std::fmt::Debug;
use std::path::PathBuf;
use windlass_types::{TaskId, TaskInfo, TaskKind, TaskStatus, TaskUsage};

/// Runs work that continues after the call that began it has ended.
///
/// The start and end of a task are reported to the host, its end also to the model.
/// All tasks end with the session.
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
    /// Starts work and returns its name. It continues when the call has ended, also
    /// when the run is stopped. Panics are caught and become a failure. Work that
    /// does not stop when it is asked to is dropped some seconds later.
    ///
    /// # Errors
    /// Too many tasks are running, the session is about to end, or the call only
    /// reads by its [`Access`](windlass_types::Access): such a call may run before it counts.
    fn start(&self, spec: TaskSpec, work: TaskWork) -> Result<TaskId, ToolError>;

    /// The task of this name, if it is running.
    fn find(&self, id: &TaskId) -> Option<TaskInfo>;

    /// Where output goes that the model may read; made when needed. `None` when there is no such place.
    fn folder(&self) -> Option<PathBuf>;
}

/// What is known of work before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSpec {
    /// What kind of work it is.
    pub kind: TaskKind,
    /// What it does, in a line.
    pub description: String,
    /// Where its output goes, if it has any.
    pub output_file: Option<PathBuf>,
    /// Its name; `None` lets one be made.
    pub id: Option<TaskId>,
    /// The type of the agent, if it is one.
    pub agent_type: Option<String>,
}

impl TaskSpec {
    /// Work without output.
    pub fn new(kind: TaskKind, description: impl Into<String>) -> Self {
        Self { kind, description: description.into(), output_file: None, id: None, agent_type: None }
    }

    /// Says where its output goes.
    #[must_use]
    pub fn with_output_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.output_file = Some(path.into());
        self
    }

    /// Says that it is an agent of a type, and names it.
    #[must_use]
    pub fn with_agent(mut self, id: TaskId, agent_type: impl Into<String>) -> Self {
        (self.id, self.agent_type) = (Some(id), Some(agent_type.into()));
        self
    }
}

/// The context of running work.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskCx {
    /// Its name.
    pub id: TaskId,
    /// Given when it should stop.
    pub cancel: Cancel,
}

impl TaskCx {
    /// The context of work of this name.
    pub fn new(id: TaskId, cancel: Cancel) -> Self {
        Self { id, cancel }
    }
}

/// The work itself.
pub type TaskWork = Box<dyn FnOnce(TaskCx) -> BoxFuture<'static, TaskOutcome> + Send>;

/// How work ended. Of work that was asked to stop, only the summary counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskOutcome {
    /// How it ended.
    pub status: TaskStatus,
    /// Its result, in a sentence that the model and people read.
    pub summary: String,
    /// What it used, if it is an agent.
    pub usage: Option<TaskUsage>,
    /// What an agent reports, for the model.
    pub report: Option<String>,
}

impl TaskOutcome {
    /// An outcome.
    pub fn new(status: TaskStatus, summary: impl Into<String>) -> Self {
        Self { status, summary: summary.into(), usage: None, report: None }
    }
}

const _: fn(&dyn Background) = |_| {};
