//! The tools of MCP servers in a session.

use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_context::{ServerInstructions, foreign_text, missing_servers, server_instructions};
use windlass_mcp::{McpResourceChange, McpServers, McpToolLeftOut};
use windlass_tool::{DynTool, ToolSet};
use windlass_types::text::visible_line;

/// Maximum number of changed resources named to the model at once, and maximum number of characters of their addresses.
const MAX_CHANGES: usize = 20;
const MAX_ADDRESS_CHARS: usize = 300;

/// Joins the session's own tools and the wanted tools of the servers.
pub(super) fn join(own: ToolSet, servers: &McpServers, is_wanted: impl Fn(&str) -> bool) -> ToolSet {
    let usable = |tool: &Arc<dyn DynTool>| {
        let name = tool.name().into_owned();
        if !is_wanted(&name) {
            return false;
        }
        let is_taken = own.get(&name).is_some();
        if is_taken {
            tracing::warn!(name, "an MCP tool is left out: the session has one of this name");
        }
        !is_taken
    };
    let server_tools = servers.tools().into_iter().chain(servers.resource_tools()).filter(usable);
    let own_tools = own.names().filter_map(|name| own.get(name)).cloned();
    ToolSet::new(own_tools.chain(server_tools)).unwrap_or_else(|error| {
        tracing::warn!(%error, "the tools of MCP servers cannot be used");
        own
    })
}

/// Usage instructions of the servers for the model, and the missing servers that could have wanted tools.
pub(super) fn instructions(servers: &McpServers, could_have: impl Fn(&str) -> bool) -> Vec<ServerInstructions> {
    let texts = servers.instructions();
    let texts = texts.iter().map(|texts| (texts.server.as_str(), texts.prefix.as_str(), texts.text.as_str()));
    let missing = servers.missing();
    let missing = missing.iter().filter(|missing| could_have(&missing.prefix));
    let missing = missing_servers(missing.map(|missing| (missing.server.as_str(), missing.prefix.as_str())));
    missing.into_iter().chain(server_instructions(texts)).collect()
}

/// Lines for the host about tools of servers that cannot be used, or have changed since the last session, by server and
/// tool.
pub(super) fn left_out(servers: &McpServers) -> BTreeSet<String> {
    let left_out = servers.status().into_iter().flat_map(|status| {
        let server = status.name;
        let changed: Vec<String> = status
            .tools_changed
            .iter()
            .map(|tool| {
                format!("The tool {tool:?} of the MCP server {server:?} is another one than in the last session.")
            })
            .collect();
        let of_server = move |tool: McpToolLeftOut| {
            format!("The tool {:?} of the MCP server {server:?} is left out: {}.", tool.name, tool.reason)
        };
        status.tools_left_out.into_iter().map(of_server).chain(changed)
    });
    left_out.collect()
}

/// Text for the model about resources that have changed since they were read; `None` for none.
pub(super) fn changed_resources(changed: &[McpResourceChange]) -> Option<String> {
    let line = |change: &McpResourceChange| {
        let uri: String = change.uri.chars().take(MAX_ADDRESS_CHARS).collect();
        format!("- {} of the MCP server {:?}", foreign_text(&visible_line(&uri)), change.server)
    };
    let lines: Vec<String> = changed.iter().take(MAX_CHANGES).map(line).collect();
    (!lines.is_empty()).then(|| {
        let lines = lines.join("\n");
        format!("Resources that were read in this session have changed since. Read again what still matters:\n{lines}")
    })
}
