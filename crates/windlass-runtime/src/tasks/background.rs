//! Work that continues after its call: the driver's side.

use crate::files::survey::CallSurvey;
use crate::tasks::AbortOnDrop;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use windlass_core::{EffectId, Input};
use windlass_tool::{Background, BoxFuture, Cancel, Ids, TaskCx, TaskOutcome, TaskSpec, TaskWork, ToolError};
use windlass_types::{TaskEnded, TaskId, TaskInfo, TaskKind, TaskStatus, ToolUseId};

/// Maximum number of background tasks in one session at a time.
const MOST: usize = 64;
/// Grace period for a task to end after it was asked to. Then it is dropped.
const GRACE: Duration = Duration::from_secs(3);
/// Grace period for agents: their own background tasks need time to end, too.
const GRACE_OF_AGENTS: Duration = Duration::from_secs(5);

/// The background work of one session. Dropping it stops everything.
#[derive(Debug)]
pub(crate) struct BackgroundTasks {
    shared: Arc<BackgroundState>,
}

#[derive(Debug)]
struct BackgroundState {
    tasks: Mutex<Tasks>,
    results: mpsc::UnboundedSender<Input>,
    /// Number of running tasks.
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Tasks {
    alive: HashMap<TaskId, RunningTask>,
    closed: bool,
}

#[derive(Debug)]
struct RunningTask {
    info: TaskInfo,
    cancel: Cancel,
    /// Dropped with this.
    _work: AbortOnDrop<()>,
}

impl BackgroundTasks {
    pub(crate) fn new(results: mpsc::UnboundedSender<Input>) -> Self {
        let shared = BackgroundState { tasks: Mutex::default(), results, count: watch::Sender::new(0) };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the background interface of one call.
    pub(crate) fn of_call(&self, of: CallParts) -> Arc<dyn Background> {
        Arc::new(CallBackground { shared: Arc::clone(&self.shared), of })
    }

    /// Asks a task to stop, if it runs.
    pub(crate) fn stop(&self, id: &TaskId) {
        if let Some(task) = self.shared.lock().alive.get(id) {
            task.cancel.cancel();
        }
    }

    /// Asks all tasks to stop.
    pub(crate) fn stop_all(&self) {
        for task in self.shared.lock().alive.values() {
            task.cancel.cancel();
        }
    }

    /// Stops everything and waits until it has ended. Bounded.
    pub(crate) async fn close(&self) {
        self.shared.lock().closed = true;
        self.stop_all();
        let all_ended = async { self.shared.count.subscribe().wait_for(|count| *count == 0).await.is_ok() };
        // Each task ends within its own grace period.
        let _ = tokio::time::timeout(GRACE * 2, all_ended).await;
    }
}

impl Drop for BackgroundTasks {
    fn drop(&mut self) {
        let mut tasks = self.shared.lock();
        tasks.closed = true;
        tasks.alive.clear();
    }
}

impl BackgroundState {
    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self, id: &TaskId, outcome: TaskOutcome, began: Instant) {
        let Some(task) = self.lock().alive.remove(id) else { return };
        let mut ended = TaskEnded::new(task.info, outcome.status, outcome.summary);
        (ended.usage, ended.report) = (outcome.usage, outcome.report);
        ended.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        // Sending fails only when the session has ended.
        let _ = self.results.send(Input::TaskEnded(Box::new(ended)));
        self.count.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// The call that starts work.
#[derive(Debug)]
pub(crate) struct CallParts {
    pub(crate) effect: EffectId,
    pub(crate) tool_use_id: ToolUseId,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) folder: Option<PathBuf>,
    /// `true` for a call that only reads: it may run before its message is accepted, and its message may be withdrawn.
    pub(crate) only_reads: bool,
    /// Finds the changes of the work, if it may change any file.
    pub(crate) survey: Option<CallSurvey>,
}

/// Background interface of one call.
#[derive(Debug)]
struct CallBackground {
    shared: Arc<BackgroundState>,
    of: CallParts,
}

impl Background for CallBackground {
    #[expect(clippy::disallowed_methods, reason = "measures how long the work takes")]
    fn start(&self, spec: TaskSpec, work: TaskWork) -> Result<TaskId, ToolError> {
        if self.of.only_reads {
            return Err(ToolError::rejected("A call that only reads cannot leave work behind."));
        }
        let mut tasks = self.shared.lock();
        if tasks.closed {
            return Err(ToolError::rejected("The session is about to end: no new work can run in the background."));
        }
        if tasks.alive.len() >= MOST {
            let text = format!("{MOST} background tasks run already: stop one, or wait until one ends.");
            return Err(ToolError::rejected(text));
        }
        let id = spec.id.unwrap_or_else(|| TaskId::from(format!("b{:08x}", self.of.ids.bits() as u32)));
        if tasks.alive.contains_key(&id) {
            return Err(ToolError::rejected("The task could not be named: try again."));
        }
        let mut info = TaskInfo::new(id.clone(), spec.kind, spec.description, self.of.tool_use_id.clone());
        (info.output_file, info.agent_type) = (spec.output_file, spec.agent_type);
        // Sent before the task can end. Sending fails only when the session has ended.
        let _ = self.shared.results.send(Input::TaskStarted(self.of.effect, Box::new(info.clone())));
        let cancel = Cancel::new();
        let cx = TaskCx::new(id.clone(), cancel.clone());
        let (shared, began, task_id) = (Arc::clone(&self.shared), Instant::now(), id.clone());
        let stop = cancel.clone();
        let grace = if info.kind == TaskKind::LocalAgent { GRACE_OF_AGENTS } else { GRACE };
        let survey = self.of.survey.as_ref().map(CallSurvey::of_background);
        let work = AbortOnDrop(tokio::spawn(async move {
            let outcome = carry_out(work, cx, stop, grace).await;
            if let Some(survey) = survey {
                survey.after().await;
            }
            shared.ended(&task_id, outcome, began);
        }));
        tasks.alive.insert(id.clone(), RunningTask { info, cancel, _work: work });
        self.shared.count.send_modify(|count| *count += 1);
        Ok(id)
    }

    fn find(&self, id: &TaskId) -> Option<TaskInfo> {
        self.shared.lock().alive.get(id).map(|task| task.info.clone())
    }

    fn folder(&self) -> Option<PathBuf> {
        self.of.folder.clone()
    }
}

/// Works to the end, also when the work panics or does not stop.
async fn carry_out(work: TaskWork, cx: TaskCx, cancel: Cancel, grace: Duration) -> TaskOutcome {
    let begun: BoxFuture<'static, TaskOutcome> = Box::pin(async move { work(cx).await });
    let mut work = AbortOnDrop(tokio::spawn(begun));
    let join_result = tokio::select! {
        join_result = &mut work.0 => Some(join_result),
        () = cancel.cancelled() => tokio::time::timeout(grace, &mut work.0).await.ok(),
    };
    let mut outcome = match join_result {
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) if error.is_panic() => {
            tracing::error!(task_panicked = true, "background work panicked");
            TaskOutcome::new(TaskStatus::Failed, "The background work panicked. It may have taken effect in part.")
        }
        Some(Err(_)) | None => TaskOutcome::new(TaskStatus::Stopped, "The background work was stopped."),
    };
    if cancel.is_cancelled() {
        outcome.status = TaskStatus::Stopped;
    }
    outcome
}

/// Removes the scratch folder of the session, if it was made.
pub(crate) async fn remove_scratch(scratch: &Path) {
    match tokio::fs::remove_dir_all(scratch).await {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(path = %scratch.display(), %error, "a temporary folder could not be removed"),
    }
}
