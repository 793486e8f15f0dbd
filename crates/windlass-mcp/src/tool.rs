//! A tool of a server as a tool of windlass.

use crate::connection::CallCx;
use crate::server::Server;
use crate::tools::RemoteTool;
use crate::{McpError, McpToolPolicy};
use std::sync::Arc;
use windlass_tool::{Annotations, BoxFuture, DynTool, PreparedCall, ToolCheck, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, JsonText, ToolLoading, ToolSpec};

/// A tool of a server.
pub(crate) struct McpTool {
    name: String,
    tool: RemoteTool,
    server: Arc<Server>,
}

impl McpTool {
    pub(crate) fn new(name: String, tool: RemoteTool, server: Arc<Server>) -> Self {
        Self { name, tool, server }
    }
}

impl DynTool for McpTool {
    fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec::new(self.name.clone(), self.tool.info.description.clone(), self.tool.schema.clone());
        if self.server.config.always_load {
            spec.loading = ToolLoading::Always;
        }
        spec
    }

    fn annotations(&self) -> Annotations {
        // Hints of a server on its tools are not believed, but the host may decide in which order its own calls run.
        let hints = self.tool.info.annotations;
        let hinted = self.server.config.is_in_process() && hints.read_only && !hints.destructive;
        Annotations::default().with_foreign_output().with_hinted_read_only(hinted)
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(McpCall { input: input.clone(), tool: self }))
    }
}

struct McpCall {
    tool: Arc<McpTool>,
    input: JsonText,
}

impl PreparedCall for McpCall {
    fn access(&self) -> Access {
        Access::Unknown
    }

    fn check(&self) -> ToolCheck {
        match self.tool.server.config.policies.get(&self.tool.tool.info.name) {
            None => ToolCheck::Undecided,
            Some(McpToolPolicy::Ask) => ToolCheck::Ask("the server is configured to ask for this tool".to_owned()),
            Some(McpToolPolicy::Deny) => ToolCheck::Deny("the server is configured to refuse this tool".to_owned()),
        }
    }

    fn title(&self) -> String {
        let shown = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
        format!("{} ({})", shown(&self.tool.tool.info.name), shown(&self.tool.server.name))
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let report = |text: String| cx.progress(text);
            let call = CallCx {
                tool_use_id: Some(cx.tool_use_id().as_str()),
                cancel: cx.cancel().clone(),
                progress: &report,
                timeout: None,
            };
            let called = self.tool.server.call(&self.tool.tool.info.name, &self.input, call).await;
            called.map_err(|error| match error {
                McpError::Stopped => ToolError::cancelled(),
                error => ToolError::rejected(error.without_output().to_string()),
            })
        })
    }
}
