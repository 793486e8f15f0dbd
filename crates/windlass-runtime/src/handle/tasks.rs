//! The handle's orders about background work, and waits for its end.

use crate::SessionError;
use crate::commands::SessionCommand;
use crate::handle::SessionHandle;
use std::future::Future;
use std::time::Duration;
use tokio::sync::oneshot;
use windlass_types::{TaskId, ToolUseId};

impl SessionHandle {
    /// Stops background work. It ends soon, and then an event reports it; the model
    /// reads of it with the next prompt. A task that is not there is not an error:
    /// it may just have ended.
    ///
    /// # Errors
    /// The session is closed.
    pub fn stop_task(&self, id: TaskId) -> Result<(), SessionError> {
        self.command(SessionCommand::StopTask(id))
    }

    /// Stops all background work, as [`stop_task`](Self::stop_task) does.
    ///
    /// # Errors
    /// The session is closed.
    pub fn stop_tasks(&self) -> Result<(), SessionError> {
        self.command(SessionCommand::StopTasks)
    }

    /// Moves a call in progress to the background, where its tool supports that; `None`: all such calls of the
    /// session's own agent. The future returns `true` if there was such a call, and `false` for a session that has
    /// ended.
    ///
    /// Cancel safe: the command is sent when this returns.
    pub fn move_to_background(&self, call: Option<ToolUseId>) -> impl Future<Output = bool> + Send + 'static {
        let (answer, answered) = oneshot::channel();
        let sent = self.command(SessionCommand::MoveToBackground(call, answer));
        async move { sent.is_ok() && answered.await.unwrap_or_default() }
    }

    /// Waits until no run and no background work is in progress or about to begin: every earlier prompt is answered,
    /// and neither background work nor a run that its end started is left. Also ready when the session has ended. A
    /// session whose stream is neither read nor detached stops once the stream is full (see
    /// [`EventStream`](crate::EventStream)), and is not quiet then.
    ///
    /// Cancel safe.
    pub fn quiet(&self) -> impl Future<Output = ()> + Send + 'static {
        self.answered_when(SessionCommand::Quiet)
    }

    /// Waits until no run is in progress and none is about to begin: every earlier prompt is answered, and no run
    /// begins because background work has ended. Background work may still run. Also ready when the session has ended.
    ///
    /// Cancel safe.
    pub fn settled(&self) -> impl Future<Output = ()> + Send + 'static {
        self.answered_when(SessionCommand::Settled)
    }

    fn answered_when(
        &self,
        command: fn(oneshot::Sender<()>) -> SessionCommand,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let sent = self.command(command(answer));
        async move {
            if sent.is_ok() {
                // Receiving fails when the session has ended.
                let _ = answered.await;
            }
        }
    }

    /// Like [`quiet`](Self::quiet), with a time limit. Returns `true` if the session is quiet.
    pub fn quiet_within(&self, limit: Duration) -> impl Future<Output = bool> + Send + 'static {
        let quiet = self.quiet();
        async move { tokio::time::timeout(limit, quiet).await.is_ok() }
    }
}
