//! `--permission-prompt-tool mcp__server__tool`.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use windlass::crates::types::ToolResultContent;
use windlass::{CanUseTool, JsonText, McpServers, PermissionAnswer, PermissionRequest, PermissionUpdate, ToolOutput};

/// How long the server of the tool may take to connect.
const PATIENCE: Duration = Duration::from_secs(30);

/// A tool of an MCP server that answers questions about tool calls. What it
/// does not answer in the right form is denied, and so is everything when it is
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
        let said = self.servers.call(&server, &tool, &question, None).await.map_err(|error| error.to_string())?;
        read(request, &said)
    }
}

#[async_trait]
impl CanUseTool for PromptTool {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        self.ask(&request).await.unwrap_or_else(|problem| {
            PermissionAnswer::deny(format!("The permission prompt tool {:?} gave no answer: {problem}.", self.tool))
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    behavior: String,
    #[serde(default)]
    updated_input: Option<JsonText>,
    #[serde(default)]
    updated_permissions: Option<JsonText>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    interrupt: Option<bool>,
}

fn read(request: &PermissionRequest, output: &ToolOutput) -> Result<PermissionAnswer, String> {
    let text = match &output.content {
        ToolResultContent::Text(text) => text.as_str(),
        ToolResultContent::Blocks(blocks) => blocks.first().and_then(|block| block.as_text()).unwrap_or_default(),
    };
    if output.is_error {
        return Err(text.chars().take(500).collect());
    }
    let said = JsonText::parse_strict(text).and_then(|text| text.to::<Said>()).map_err(|error| error.to_string())?;
    match said.behavior.as_str() {
        "allow" => {
            let value = |json: &JsonText| json.to::<serde_json::Value>().ok();
            let updated_input = said.updated_input.filter(|input| value(input) != value(&request.input));
            if updated_input.as_ref().is_some_and(|input| !input.is_object()) {
                return Err("`updatedInput` is not an object".to_owned());
            }
            let updates = said.updated_permissions.as_ref().map(updates).transpose()?.unwrap_or_default();
            Ok(PermissionAnswer::Allow { updated_input, updates })
        }
        "deny" => {
            let message = said.message.filter(|message| !message.is_empty());
            let message = message.unwrap_or_else(|| "The user refused this call.".to_owned());
            Ok(PermissionAnswer::Deny { message, interrupt: said.interrupt == Some(true) })
        }
        other => Err(format!("unknown behavior {other:?}")),
    }
}

/// The changes that come with an answer.
fn updates(json: &JsonText) -> Result<Vec<PermissionUpdate>, String> {
    // A rule whose content is null is not one for the whole tool.
    #[derive(Deserialize)]
    struct Rules {
        #[serde(default)]
        rules: Vec<BTreeMap<String, Option<String>>>,
    }
    let all = json.to::<Vec<Rules>>().map_err(|error| error.to_string())?;
    if all.iter().flat_map(|update| &update.rules).any(|rule| rule.values().any(Option::is_none)) {
        return Err("a rule has a part that is null".to_owned());
    }
    json.to().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass::crates::types::CallDigest;
    use windlass::{Behavior, Decision, DecisionReason, ToolUse};

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
