//! Tasks of a server, from the call that began them to their result.

use super::{FIRST_PAUSE, MAX_PAUSE, PooledServer};
use crate::McpError;
use crate::connection::{CallCx, Connection};
use crate::task::{Begun, PolledState};
use rmcp::model::InputRequests;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use windlass_tool::ToolOutput;

/// Maximum number of consecutive failures to reach a server before its task is given up as lost.
const MAX_FAILURES: u32 = 8;
/// Maximum number of questions of one task.
const MAX_QUESTIONS: usize = 64;
/// Maximum time to fetch the result of a task that reports it as available, if no limit is configured.
const RESULT: Duration = Duration::from_secs(24 * 3600);

/// Task that is cancelled when no caller waits for it any more.
struct OpenTask {
    server: Arc<PooledServer>,
    task: Option<Begun>,
}

impl Drop for OpenTask {
    fn drop(&mut self) {
        if let Some(task) = self.task.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
            // A lost server has no task to cancel, and is not started for that.
            && let Some(connection) = self.server.current().filter(|connection| !connection.is_closed())
        {
            runtime.spawn(async move { connection.cancel_task(&task).await });
        }
    }
}

impl PooledServer {
    /// Waits for the result of a task. If the connection is lost, another one is used. Dropping the future cancels the
    /// task.
    pub(super) async fn follow_task(self: &Arc<Self>, task: Begun, cx: &CallCx<'_>) -> Result<ToolOutput, McpError> {
        let mut open = OpenTask { server: Arc::clone(self), task: Some(task.clone()) };
        let limit = cx.timeout.or(self.config.timeout);
        let work = async {
            match limit {
                Some(limit) => timeout(limit, self.task(task, cx))
                    .await
                    .unwrap_or_else(|_| Err(McpError::TimedOut { name: self.name.clone(), limit })),
                None => self.task(task, cx).await,
            }
        };
        let done = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Err(McpError::Stopped),
            done = work => done,
        };
        if done.is_ok() {
            open.task = None;
        }
        done
    }

    async fn task(self: &Arc<Self>, mut task: Begun, cx: &CallCx<'_>) -> Result<ToolOutput, McpError> {
        let (mut failures, mut answered) = (0_u32, BTreeSet::new());
        loop {
            self.pause_of(&task, cx).await;
            let looked = self.step(&mut task, &mut answered, cx).await;
            match looked {
                Ok(Some(output)) => return Ok(output),
                Ok(None) => failures = 0,
                // The task continues without a connection.
                Err(error) if is_out_of_reach(&error) && failures < MAX_FAILURES => {
                    tracing::debug!(server = self.name, %error, "a task of an MCP server is looked for again");
                    sleep(FIRST_PAUSE.saturating_mul(1 << failures).min(MAX_PAUSE)).await;
                    failures += 1;
                }
                Err(error) => return Err(error),
            }
            if answered.len() > MAX_QUESTIONS {
                return Err(McpError::bad_answer(&self.name));
            }
        }
    }

    /// Waits until the next poll of the task, and passes progress on.
    async fn pause_of(&self, task: &Begun, cx: &CallCx<'_>) {
        let Some((heard, token)) = &task.progress else { return sleep(task.pause).await };
        let (mut progress, _listening) = heard.listen(token.clone());
        let pause = sleep(task.pause);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                biased;
                () = &mut pause => return,
                Ok(()) = progress.changed() => (cx.progress)(progress.borrow_and_update().clone()),
            }
        }
    }

    /// Polls a task once. Returns its result, if available.
    async fn step(
        self: &Arc<Self>,
        task: &mut Begun,
        answered: &mut BTreeSet<String>,
        cx: &CallCx<'_>,
    ) -> Result<Option<ToolOutput>, McpError> {
        let connection = self.connect(false).await?;
        let looked = connection.look_at(task).await.map_err(|error| self.refused(&connection, error));
        let (state, pause) = looked?;
        task.pause = pause.unwrap_or(task.pause);
        match state {
            PolledState::Working(said) => {
                if let Some(said) = said.filter(|said| !said.is_empty()) {
                    (cx.progress)(said);
                }
                Ok(None)
            }
            PolledState::Asks(requests) => self.answer(&connection, task, requests, answered).await.map(|()| None),
            PolledState::Due => {
                connection.result_of(task, cx.timeout.or(self.config.timeout).unwrap_or(RESULT)).await.map(Some)
            }
            PolledState::Done(result) => connection.output_of(result).map(Some),
            PolledState::Failed(code, message) => Err(McpError::Refused { code, message }),
            PolledState::Cancelled => {
                Err(McpError::Refused { code: 0, message: "the server cancelled the task".to_owned() })
            }
        }
    }

    /// Answers the new questions of a task: a server may repeat a question until it has processed the answer.
    async fn answer(
        &self,
        connection: &Connection,
        task: &Begun,
        requests: InputRequests,
        answered: &mut BTreeSet<String>,
    ) -> Result<(), McpError> {
        let new: InputRequests = requests.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = new.keys().cloned().collect();
        connection.answer(task, new).await?;
        answered.extend(keys);
        Ok(())
    }
}

fn is_out_of_reach(error: &McpError) -> bool {
    // A request that was not stopped by its caller was on a connection that has been replaced.
    matches!(
        error,
        McpError::NotConnected { .. } | McpError::Lost { .. } | McpError::TimedOut { .. } | McpError::Stopped
    )
}
