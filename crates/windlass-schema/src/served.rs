//! Tools as an MCP server, message by message.

mod content;
mod cx;

use crate::CheckedTools;
pub use content::call_result;
use content::{CallResult, ToolsAnswer};
use cx::ServedCalls;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use windlass_tool::{Clock, Ids, SessionState, ToolError, ToolOutput, ToolSet};
use windlass_types::{JsonError, JsonText};

/// The version of MCP to use when the other side names none.
const VERSION: &str = "2025-11-25";

/// Error codes of JSON-RPC.
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// A set of tools as an MCP server without a transport: it answers one JSON-RPC message at a time.
///
/// Calls are read with their schema. The files and programs of the calling session are at the other end: a tool that
/// asks its context for them is refused.
pub struct ToolServer {
    name: String,
    tools: CheckedTools,
    calls: ServedCalls,
}

/// A request or a notification of JSON-RPC.
#[derive(Deserialize)]
struct RpcMessage {
    #[serde(default)]
    id: Option<JsonText>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Option<JsonText>,
}

#[derive(Serialize)]
struct RpcResponse {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<JsonText>,
    #[serde(flatten)]
    outcome: RpcOutcome,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum RpcOutcome {
    Result(JsonText),
    Error { code: i32, message: String },
}

impl RpcOutcome {
    fn answers(self, id: Option<JsonText>) -> Result<JsonText, JsonError> {
        JsonText::of(&RpcResponse { jsonrpc: "2.0", id, outcome: self })
    }
}

#[derive(Deserialize)]
struct InitializeParams {
    #[serde(default, rename = "protocolVersion")]
    version: Option<String>,
}

#[derive(Deserialize)]
struct ServedCall {
    name: String,
    #[serde(default)]
    arguments: Option<JsonText>,
    #[serde(default, rename = "_meta")]
    meta: Option<CallMeta>,
}

#[derive(Deserialize)]
struct CallMeta {
    #[serde(default, rename = "claudecode/toolUseId")]
    tool_use_id: Option<String>,
}

impl ToolServer {
    /// Returns a server with a name. Its tools keep state between calls in `state`.
    pub fn new(
        name: impl Into<String>,
        tools: ToolSet,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        state: Arc<SessionState>,
    ) -> Self {
        Self { name: name.into(), tools: tools.into(), calls: ServedCalls { clock, ids, state } }
    }

    /// Answers a message. The answer to a notification does not matter.
    ///
    /// Dropping the future stops the call that the message asks for.
    ///
    /// # Errors
    /// The message is not a JSON-RPC message.
    pub async fn answer(&self, message: &JsonText) -> Result<JsonText, JsonError> {
        let RpcMessage { id, method, params } = message.to()?;
        let params = params.unwrap_or_else(JsonText::empty_object);
        self.outcome(&method, &params).await?.answers(id)
    }

    /// Answers a message to a server that does not exist.
    ///
    /// # Errors
    /// The message is not a JSON-RPC message.
    pub fn absent(name: &str, message: &JsonText) -> Result<JsonText, JsonError> {
        let message: RpcMessage = message.to()?;
        let absent = RpcOutcome::Error { code: METHOD_NOT_FOUND, message: format!("there is no server {name:?}") };
        absent.answers(message.id)
    }

    async fn outcome(&self, method: &str, params: &JsonText) -> Result<RpcOutcome, JsonError> {
        Ok(match method {
            "initialize" => {
                let asked = params.to::<InitializeParams>().ok().and_then(|params| params.version);
                RpcOutcome::Result(JsonText::of(&serde_json::json!({
                    "protocolVersion": asked.as_deref().unwrap_or(VERSION),
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": self.name, "version": env!("CARGO_PKG_VERSION") },
                }))?)
            }
            "tools/list" => RpcOutcome::Result(JsonText::of(&ToolsAnswer::new(&self.tools))?),
            "tools/call" => match params.to::<ServedCall>() {
                Ok(call) => RpcOutcome::Result(JsonText::of(&self.call(call).await)?),
                Err(error) => RpcOutcome::Error { code: INVALID_PARAMS, message: error.to_string() },
            },
            "ping" => RpcOutcome::Result(JsonText::empty_object()),
            // Notifications have no effect; the sender may still want an answer.
            method if method.starts_with("notifications/") => RpcOutcome::Result(JsonText::empty_object()),
            method => RpcOutcome::Error { code: METHOD_NOT_FOUND, message: format!("there is no method {method:?}") },
        })
    }

    async fn call(&self, call: ServedCall) -> CallResult {
        let input = call.arguments.unwrap_or_else(JsonText::empty_object);
        let id = call.meta.and_then(|meta| meta.tool_use_id).unwrap_or_default();
        let said = match self.tools.prepare(&call.name, &input) {
            Ok(prepared) => {
                // Cancelled when this future is dropped, so that work started by the tool stops too.
                let (cx, _stop) = self.calls.cx(&call.name, id);
                let called = AssertUnwindSafe(async { prepared.call(cx).await }).catch_unwind().await;
                called.unwrap_or_else(|_| Err(ToolError::from_boxed("it panicked".into())))
            }
            Err(error) => Err(error),
        };
        CallResult::new(said.unwrap_or_else(|error| failed(&call.name, &error)))
    }
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer").field("name", &self.name).field("tools", &*self.tools).finish_non_exhaustive()
    }
}

fn failed(tool: &str, error: &ToolError) -> ToolOutput {
    if let Some(source) = error.source() {
        tracing::warn!(tool, error = source, "a tool failed");
    }
    ToolOutput::text(error.model_text()).failed()
}
