//! Server made with the library that servers are made with.

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use std::sync::Arc;

/// Tools: `add`, `fail`, `slow` (reports that it has begun, and ends when it is cancelled), `steps` (reports progress),
/// `grow` (reports a changed list).
#[derive(Debug, Clone)]
pub(crate) struct Server;

fn tool(name: &'static str) -> Tool {
    let schema =
        serde_json::json!({ "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } } });
    Tool::new(name, "A tool.", Arc::new(schema.as_object().unwrap().clone()))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(["add", "fail", "slow", "steps", "grow"].map(tool).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let number = |name: &str| request.arguments.as_ref().and_then(|given| given.get(name)?.as_f64()).unwrap_or(0.0);
        let text = |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        match request.name.as_ref() {
            "add" => text((number("a") + number("b")).to_string()),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it went wrong")]).into()),
            "slow" => {
                if let Some(token) = context.meta.get_progress_token() {
                    context.peer.notify_progress(ProgressNotificationParam::new(token, 1.0)).await.unwrap();
                }
                context.ct.cancelled().await;
                text("cancelled".to_owned())
            }
            "steps" => {
                let token = context.meta.get_progress_token().unwrap();
                for step in 1..=3 {
                    let progress = ProgressNotificationParam::new(token.clone(), f64::from(step))
                        .with_message(format!("step {step}"));
                    context.peer.notify_progress(progress).await.unwrap();
                }
                text("walked".to_owned())
            }
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }
}
