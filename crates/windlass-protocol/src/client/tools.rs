//! Tools of the host, served to another process as MCP servers.

use super::failure::RequestFailure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_schema::ToolServer;
use windlass_tool::{Ids, SessionState, SystemClock, ToolSet};
use windlass_types::JsonText;

/// Tools of a host, by the name of their server. They share their state, because a client has one session.
pub(super) struct ToolServers(BTreeMap<String, ToolServer>);

#[derive(Deserialize)]
struct ToolEnvelope {
    server_name: String,
    message: JsonText,
}

#[derive(Serialize)]
struct ToolsAnswer {
    mcp_response: JsonText,
}

impl ToolServers {
    pub(super) fn new(servers: BTreeMap<String, ToolSet>, ids: &Arc<dyn Ids>) -> Self {
        let state = Arc::new(SessionState::default());
        let new_server = |(name, tools): (String, ToolSet)| {
            let clock = Arc::new(SystemClock::default());
            let server = ToolServer::new(&name, tools, clock, Arc::clone(ids), Arc::clone(&state));
            (name, server)
        };
        Self(servers.into_iter().map(new_server).collect())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Answers a message to one of the servers.
    pub(super) async fn answer(&self, body: &JsonText) -> Result<JsonText, RequestFailure> {
        let ToolEnvelope { server_name, message } = body.to()?;
        let mcp_response = match self.0.get(&server_name) {
            Some(server) => server.answer(&message).await?,
            None => ToolServer::absent(&server_name, &message)?,
        };
        Ok(JsonText::of(&ToolsAnswer { mcp_response })?)
    }
}
