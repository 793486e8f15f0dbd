//! Candidates for mentions in the prompts of a session.

use crate::offer::ToolOptions;
use async_trait::async_trait;
use std::sync::Arc;
#[cfg(feature = "mcp")]
use windlass_mcp::McpServers;
use windlass_runtime::{MentionSource, Mentions};

/// Name of the built-in tool that reads files.
const READER: &str = "Read";

/// The agents and servers of a session.
#[derive(Debug)]
struct OfSession {
    agents: Vec<String>,
    #[cfg(feature = "mcp")]
    servers: Option<McpServers>,
}

/// Files, the agents that the session opens with, and the resources of its servers.
pub(crate) fn of(tools: &ToolOptions) -> Mentions {
    let agents = tools.subagents.iter().flat_map(|agents| agents.definitions());
    let of_session = OfSession {
        agents: agents.map(|agent| agent.name.clone()).collect(),
        #[cfg(feature = "mcp")]
        servers: tools.mcp.clone(),
    };
    Mentions::new(READER).with_others(Arc::new(of_session))
}

#[async_trait]
impl MentionSource for OfSession {
    fn agents(&self) -> Vec<String> {
        self.agents.clone()
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> Vec<String> {
        let servers = self.servers.iter().flat_map(McpServers::status);
        servers.map(|status| status.name).collect()
    }

    #[cfg(not(feature = "mcp"))]
    async fn resource(&self, server: &str, _: &str) -> Result<String, String> {
        Err(format!("there is no server {server:?}"))
    }

    #[cfg(feature = "mcp")]
    async fn resource(&self, server: &str, uri: &str) -> Result<String, String> {
        let Some(servers) = &self.servers else { return Err(format!("there is no server {server:?}")) };
        let read = servers.follow_resource(server, uri).await.map_err(|error| error.to_string())?;
        texts_of(&read).ok_or_else(|| "the resource has no text".to_owned())
    }
}

/// The texts of a resource, which may have several parts.
#[cfg(feature = "mcp")]
fn texts_of(read: &windlass_types::JsonText) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Read {
        #[serde(default)]
        contents: Vec<Part>,
    }
    #[derive(serde::Deserialize)]
    struct Part {
        text: Option<String>,
    }
    let texts: Vec<String> = read.to::<Read>().ok()?.contents.into_iter().filter_map(|part| part.text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
