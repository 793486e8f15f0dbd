//! Tools of MCP servers that answer windlass itself, such as those that a host names on its command line.

use serde_json::Value;
use std::time::Duration;
use windlass::event::ToolResultContent;
use windlass::{JsonText, ToolOutput, mcp::McpServers};

/// Time limit for the tool's server to connect.
const PATIENCE: Duration = Duration::from_secs(30);

/// A tool of an MCP server that is called outside of the conversation and without a permission.
#[derive(Debug)]
pub(super) struct AskedTool {
    servers: McpServers,
    pub(super) name: String,
}

impl AskedTool {
    /// The tool of this whole name.
    pub(super) fn new(servers: McpServers, name: &str) -> Self {
        Self { servers, name: name.to_owned() }
    }

    /// Returns the answer, which must be JSON in its first text. Cancel safe.
    pub(super) async fn ask(&self, question: &Value) -> Result<JsonText, String> {
        if self.servers.find(&self.name).is_none() {
            self.servers.settled(PATIENCE).await;
        }
        let (server, tool) = self.servers.find(&self.name).ok_or("it is not there")?;
        let question = JsonText::of(question).map_err(|error| error.to_string())?;
        let result = self.servers.call(&server, &tool, &question, None).await.map_err(|error| error.to_string())?;
        json_of(&result)
    }
}

/// Returns the JSON in the first text of a result. The text of a failed result is the error.
pub(super) fn json_of(output: &ToolOutput) -> Result<JsonText, String> {
    let text = match &output.content {
        ToolResultContent::Text(text) => text.as_str(),
        ToolResultContent::Blocks(blocks) => blocks.first().and_then(|block| block.as_text()).unwrap_or_default(),
    };
    if output.is_error {
        return Err(text.chars().take(500).collect());
    }
    JsonText::parse_strict(text).map_err(|error| error.to_string())
}
