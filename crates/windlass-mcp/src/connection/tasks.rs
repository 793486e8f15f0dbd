//! Requests about a task.

use super::Connection;
use super::call::{CallCx, NotCalled};
use crate::McpError;
use crate::content::{lenient_output, output};
use crate::task::{Begun, PolledState, as_task, pause};
use rmcp::model::{ClientRequest, CustomRequest, InputRequests, ProgressToken, ServerResult};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use windlass_tool::ToolOutput;

/// Maximum time for a server to report the state of a task.
const TASK_STATE_TIMEOUT: Duration = Duration::from_secs(60);

/// Outcome of a call.
pub(crate) enum CallOutcome {
    Done(ToolOutput),
    /// Task that the server continues on its own.
    Task(Begun),
}

impl Connection {
    /// Returns the request that calls a tool as a task of 2025-11-25. The server may still answer it at once.
    pub(super) fn call_as_task(&self, tool: &str, arguments: &Map<String, Value>, cx: &CallCx<'_>) -> ClientRequest {
        let params = as_task(tool, arguments, cx.timeout.or(self.limits.whole));
        ClientRequest::CustomRequest(CustomRequest::new("tools/call", Some(params)))
    }

    /// Interprets an answer to a call that requests no input.
    pub(super) fn called(&self, answer: ServerResult, token: ProgressToken) -> Result<CallOutcome, NotCalled> {
        let bad_answer = || NotCalled::Failed(self.bad_answer());
        if let Some(task) = Begun::read(&answer, Some((Arc::clone(&self.heard), token))) {
            return Ok(CallOutcome::Task(task));
        }
        match answer {
            ServerResult::CallToolResult(result) => Ok(CallOutcome::Done(output(result))),
            ServerResult::CustomResult(result) => {
                lenient_output(result.0).map(CallOutcome::Done).ok_or_else(bad_answer)
            }
            _ => Err(bad_answer()),
        }
    }

    async fn about(&self, method: &str, params: Value, limit: Duration) -> Result<ServerResult, McpError> {
        self.ask_for(method, &params, limit).await
    }

    /// Returns the state of a task, and the pause until the next poll if the server gives one.
    pub(crate) async fn look_at(&self, task: &Begun) -> Result<(PolledState, Option<Duration>), McpError> {
        let answer = self.about("tasks/get", json!({ "taskId": task.id }), TASK_STATE_TIMEOUT).await?;
        let answer = serde_json::to_value(&answer).map_err(|_| self.bad_answer())?;
        let state = PolledState::read(task.shape, &answer).ok_or_else(|| self.bad_answer())?;
        Ok((state, pause(&answer)))
    }

    /// Waits for the result of a task of 2025-11-25, while elicitations of the server are answered.
    pub(crate) async fn result_of(&self, task: &Begun, limit: Duration) -> Result<ToolOutput, McpError> {
        let answer = self.about("tasks/result", json!({ "taskId": task.id }), limit).await?;
        let answer = serde_json::to_value(&answer).map_err(|_| self.bad_answer())?;
        self.output_of(answer)
    }

    /// Converts the result of a call that was a task.
    pub(crate) fn output_of(&self, result: Value) -> Result<ToolOutput, McpError> {
        lenient_output(result).ok_or_else(|| self.bad_answer())
    }

    /// Answers the input requests of a task.
    pub(crate) async fn answer(&self, task: &Begun, requests: InputRequests) -> Result<(), McpError> {
        let responses = self.answers.input(requests).await.map_err(|error| McpError::Refused {
            code: i64::from(error.code.0),
            message: error.message.into_owned(),
        })?;
        self.about("tasks/update", json!({ "taskId": task.id, "inputResponses": responses }), TASK_STATE_TIMEOUT)
            .await
            .map(drop)
    }

    /// Asks the server to cancel a task.
    pub(crate) async fn cancel_task(&self, task: &Begun) {
        if let Err(error) = self.about("tasks/cancel", json!({ "taskId": task.id }), TASK_STATE_TIMEOUT).await {
            tracing::debug!(server = self.server, %error, "a task of an MCP server could not be cancelled");
        }
    }
}
