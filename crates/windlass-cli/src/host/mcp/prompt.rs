//! Permission requests that the tool of `--permission-prompt-tool mcp__server__tool` answers.

use super::asked::AskedTool;
use async_trait::async_trait;
use serde_json::json;
use windlass::text::clause;
use windlass::{JsonText, PermissionAnswer, PermissionRequest, mcp::McpServers, permission::CanUseTool};
use windlass_protocol::read_permission_answer;

/// Tool of an MCP server that answers permission requests. A call is denied if the tool is missing, or its answer is
/// malformed.
#[derive(Debug)]
pub(crate) struct PromptTool(AskedTool);

impl PromptTool {
    /// Creates the prompt tool with the full name `mcp__server__tool`.
    pub(crate) fn new(servers: McpServers, tool: &str) -> Self {
        Self(AskedTool::new(servers, tool))
    }

    async fn ask(&self, request: &PermissionRequest) -> Result<PermissionAnswer, String> {
        let question = json!({
            "tool_name": request.tool,
            "input": request.input,
            "tool_use_id": request.tool_use_id.as_str(),
        });
        parse_answer(request, &self.0.ask(&question).await?)
    }
}

#[async_trait]
impl CanUseTool for PromptTool {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        self.ask(&request).await.unwrap_or_else(|problem| {
            PermissionAnswer::deny(format!(
                "The permission prompt tool {:?} gave no answer: {}.",
                self.0.name,
                clause(&problem)
            ))
        })
    }
}

fn parse_answer(request: &PermissionRequest, answer: &JsonText) -> Result<PermissionAnswer, String> {
    let parsed = read_permission_answer(&request.input, answer)?;
    // An answer with unreadable permission updates is rejected, because they may have restricted it.
    match parsed.unread_updates {
        Some(problem) => Err(problem),
        None => Ok(parsed.answer),
    }
}

#[cfg(test)]
mod tests {
    use super::super::asked::json_of;
    use super::*;
    use windlass::ToolOutput;
    use windlass::permission::CallDigest;
    use windlass::{
        permission::{Behavior, Decision, DecisionReason},
        tool::ToolUse,
    };

    fn answer(text: &str) -> Result<PermissionAnswer, String> {
        let input = JsonText::parse(r#"{"command":"ls"}"#).unwrap();
        let call = ToolUse::new("t", "Bash", input);
        let decision = Decision::new(Behavior::Ask, DecisionReason::Mode, "asks");
        let request = PermissionRequest::new(call, "ls".to_owned(), decision, CallDigest::new("d"));
        parse_answer(&request, &json_of(&ToolOutput::text(text))?)
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
