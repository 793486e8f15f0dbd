//! Tools of the host, served to another process as MCP servers.

mod content;
mod cx;

use super::failure::Failure;
use content::{CallResult, Listed};
use cx::Calls;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use windlass_schema::CheckedTools;
use windlass_tool::{Ids, ToolError, ToolOutput, ToolSet};
use windlass_types::JsonText;

/// The version of MCP that is spoken when the other side names none.
const VERSION: &str = "2025-11-25";

/// The codes of JSON-RPC.
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// The tools of a host, by the name of their server.
pub(super) struct ToolServers {
    servers: BTreeMap<String, CheckedTools>,
    calls: Calls,
}

#[derive(Deserialize)]
struct Envelope {
    server_name: String,
    message: Message,
}

/// A request or a notification of JSON-RPC.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<JsonText>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Option<JsonText>,
}

#[derive(Serialize)]
struct Answer {
    mcp_response: Response,
}

#[derive(Serialize)]
struct Response {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<JsonText>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Result(JsonText),
    Error { code: i32, message: String },
}

#[derive(Deserialize)]
struct Initialize {
    #[serde(default, rename = "protocolVersion")]
    version: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Option<JsonText>,
    #[serde(default, rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default, rename = "claudecode/toolUseId")]
    tool_use_id: Option<String>,
}

impl ToolServers {
    pub(super) fn new(servers: BTreeMap<String, ToolSet>, ids: Arc<dyn Ids>) -> Self {
        let servers = servers.into_iter().map(|(name, tools)| (name, tools.into())).collect();
        Self { servers, calls: Calls::new(ids) }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.servers.keys().cloned().collect()
    }

    /// Answers a message to one of the servers.
    pub(super) async fn answer(&self, body: &JsonText) -> Result<JsonText, Failure> {
        let Envelope { server_name, message } = body.to()?;
        let id = message.id.clone();
        let outcome = match self.servers.get(&server_name) {
            Some(tools) => self.outcome(&server_name, tools, message).await?,
            None => Outcome::Error { code: METHOD_NOT_FOUND, message: format!("there is no server {server_name:?}") },
        };
        Ok(JsonText::of(&Answer { mcp_response: Response { jsonrpc: "2.0", id, outcome } })?)
    }

    async fn outcome(&self, server: &str, tools: &CheckedTools, message: Message) -> Result<Outcome, Failure> {
        let params = message.params.unwrap_or_else(JsonText::empty_object);
        Ok(match message.method.as_str() {
            "initialize" => {
                let asked = params.to::<Initialize>().ok().and_then(|params| params.version);
                Outcome::Result(JsonText::of(&serde_json::json!({
                    "protocolVersion": asked.as_deref().unwrap_or(VERSION),
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": server, "version": env!("CARGO_PKG_VERSION") },
                }))?)
            }
            "tools/list" => Outcome::Result(JsonText::of(&Listed::new(tools))?),
            "tools/call" => match params.to::<Call>() {
                Ok(call) => Outcome::Result(JsonText::of(&self.call(tools, call).await)?),
                Err(error) => Outcome::Error { code: INVALID_PARAMS, message: error.to_string() },
            },
            "ping" => Outcome::Result(JsonText::empty_object()),
            // A notification has no result; the envelope still needs an answer.
            method if method.starts_with("notifications/") => Outcome::Result(JsonText::empty_object()),
            method => Outcome::Error { code: METHOD_NOT_FOUND, message: format!("there is no method {method:?}") },
        })
    }

    async fn call(&self, tools: &CheckedTools, call: Call) -> CallResult {
        let input = call.arguments.unwrap_or_else(JsonText::empty_object);
        let id = call.meta.and_then(|meta| meta.tool_use_id).unwrap_or_default();
        let result = match tools.prepare(&call.name, &input) {
            Ok(prepared) => {
                // Cancelled when this future is dropped, for what the tool may have started.
                let (cx, _stop) = self.calls.cx(&call.name, id);
                let called = AssertUnwindSafe(async { prepared.call(cx).await }).catch_unwind().await;
                called.unwrap_or_else(|_| Err(ToolError::from_boxed("it panicked".into())))
            }
            Err(error) => Err(error),
        };
        CallResult::new(result.unwrap_or_else(|error| failed(&call.name, &error)))
    }
}

fn failed(tool: &str, error: &ToolError) -> ToolOutput {
    if let Some(source) = error.source() {
        tracing::warn!(tool, error = source, "a tool failed");
    }
    ToolOutput::text(error.model_text()).failed()
}
