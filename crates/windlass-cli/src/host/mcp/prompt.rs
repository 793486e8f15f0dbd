//! `--permission-prompt-tool mcp__server__tool`.

use async_trait::async_trait;
use serde_json::json;
use std::time::Duration;
use windlass::crates::types::ToolResultContent;
use windlass::crates::types::text::clause;
use windlass::{JsonText, PermissionAnswer, PermissionRequest, ToolOutput, mcp::McpServers, permission::CanUseTool};
use windlass_protocol::read_permission_answer;

/// How long the server of the tool may take to connect.
const PATIENCE: Duration = Duration::from_secs(30);

/// A tool of an MCP server that answers questions about tool calls. A call
/// whose answer does not have the right form is denied, and so is every call when the tool is
/// not there.
#[derive(Debug)]
pub(crate) struct PromptTool {
    servers: McpServers,
    tool: String,
}

impl PromptTool {
    /// The tool of this whole name.
    pub(crate) fn new(servers: McpServers, tool: &str) -> Self {
        Self { servers, tool: tool.to_owned() }
    }

    async fn ask(&self, request: &PermissionRequest) -> Result<PermissionAnswer, String> {
        if self.servers.find(&self.tool).is_none() {
            self.servers.settled(PATIENCE).await;
        }
        let (server, tool) = self.servers.find(&self.tool).ok_or("it is not there")?;
        let question = json!({
            "tool_name": request.tool,
            "input": request.input,
            "tool_use_id": request.tool_use_id.as_str(),
        });
        let question = JsonText::of(&question).map_err(|error| error.to_string())?;
        let result = self.servers.call(&server, &tool, &question, None).await.map_err(|error| error.to_string())?;
        read(request, &result)
    }
}

#[async_trait]
impl CanUseTool for PromptTool {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        self.ask(&request).await.unwrap_or_else(|problem| {
            PermissionAnswer::deny(format!(
                "The permission prompt tool {:?} gave no answer: {}.",
                self.tool,
                clause(&problem)
            ))
        })
    }
}

fn read(request: &PermissionRequest, output: &ToolOutput) -> Result<PermissionAnswer, String> {
    let text = match &output.content {
        ToolResultContent::Text(text) => text.as_str(),
        ToolResultContent::Blocks(blocks) => blocks.first().and_then(|block| block.as_text()).unwrap_or_default(),
    };
    if output.is_error {
        return Err(text.chars().take(500).collect());
    }
    let answer = JsonText::parse_strict(text).map_err(|error| error.to_string())?;
    let read = read_permission_answer(&request.input, &answer)?;
    // An answer whose changes cannot be read does not count: they may have restricted it.
    match read.unread_updates {
        Some(problem) => Err(problem),
        None => Ok(read.answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass::crates::types::CallDigest;
    use windlass::{
        permission::{Behavior, Decision, DecisionReason},
        tool::ToolUse,
    };

    fn answer(text: &str) -> Result<PermissionAnswer, String> {
        let input = JsonText::parse(r#"{"command":"ls"}"#).unwrap();
        let call = ToolUse::new("t", "Bash", input);
        let decision = Decision::new(Behavior::Ask, DecisionReason::Mode, "asks");
        let request = PermissionRequest::new(call, "ls".to_owned(), decision, CallDigest::new("d"));
        read(&request, &ToolOutput::text(text))
    }

    #[test]
    fn answers_are_read_strictly() {
        assert_eq!(answer(r#"{"behavior":"allow","updatedInput":{"command": "ls"}}"#), Ok(PermissionAnswer::allow()));
        assert_eq!(answer(r#"{"behavior":"allow"}"#), Ok(PermissionAnswer::allow()));
        assert_eq!(answer(r#"{"behavior":"deny","message":"no"}"#), Ok(PermissionAnswer::deny("no")));
        let changed = answer(r#"{"behavior":"allow","updatedInput":{"command":"pwd"}}"#);
        assert!(matches!(changed, Ok(PermissionAnswer::Allow { updated_input: Some(_), .. })));
        for bad in [
            "",
            "yes",
            "{}",
            r#"{"behavior":"ok"}"#,
            r#"{"behavior":"allow","updatedInput":7}"#,
            r#"{"behavior":"allow","behavior":"deny"}"#,
            r#"{"behavior":"allow","updatedPermissions":[{"type":"?"}]}"#,
            r#"{"behavior":"allow","updatedPermissions":[{"type":"addRules","behavior":"allow","destination":"session",
                "rules":[{"toolName":"Bash","ruleContent":null}]}]}"#,
        ] {
            assert!(answer(bad).is_err(), "{bad}");
        }
    }
}
