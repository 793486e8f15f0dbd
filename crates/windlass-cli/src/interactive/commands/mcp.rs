//! `/mcp`: MCP servers with their states; logging in and connecting again.

use super::context::{CommandContext, lines};
use crate::mcp::shown;
use windlass::mcp::McpServers;
use windlass_terminal::app::CommandReply;

pub(super) async fn view(context: &CommandContext, argument: &str) -> anyhow::Result<CommandReply> {
    let (verb, name) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    match (verb, name.trim()) {
        ("", _) => {
            let statuses = context.servers.as_ref().map(McpServers::status).unwrap_or_default();
            let rows = shown::rows(&shown::known(&context.project), &statuses);
            let none = "No MCP server is configured here. `windlass mcp add` adds one.";
            Ok(lines(&rows, none))
        }
        ("login" | "logout", name) if !name.is_empty() => {
            Ok(CommandReply::Attended(vec!["mcp".to_owned(), verb.to_owned(), name.to_owned()]))
        }
        ("reconnect", name) if !name.is_empty() => {
            let servers = context.servers.as_ref().ok_or_else(|| anyhow::anyhow!("no MCP server is connected here"))?;
            servers.reconnect(name).await?;
            Ok(CommandReply::Text(format!("The server {name} is connected again.")))
        }
        _ => Ok(CommandReply::Text("Write /mcp, /mcp login NAME, /mcp logout NAME or /mcp reconnect NAME.".to_owned())),
    }
}
