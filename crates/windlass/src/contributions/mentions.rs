//! Candidates for mentions in the prompts of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use crate::session_servers::SessionServers;
use async_trait::async_trait;
use std::sync::Arc;
use windlass_runtime::MentionSource;

/// Name of the built-in tool that reads files.
const READER: &str = "Read";

/// Joins the files, the agents that the session opens with, and the resources of its servers as targets of mentions.
pub(crate) struct Mentions;

#[async_trait]
impl Contribution for Mentions {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let (prompts, tools) = (&assembly.options.prompts, &assembly.options.tools);
        let agents = tools.subagents.iter().flat_map(|agents| agents.definitions());
        let others =
            SessionMentions { agents: agents.map(|agent| agent.name.clone()).collect(), servers: tools.mcp.clone() };
        let mentions = || windlass_runtime::Mentions::new(READER).with_others(Arc::new(others));
        assembly.ports.context.mentions = prompts.mentions.then(mentions);
        Ok(())
    }
}

/// The agents and servers of a session.
#[derive(Debug)]
struct SessionMentions {
    agents: Vec<String>,
    servers: SessionServers,
}

#[async_trait]
impl MentionSource for SessionMentions {
    fn agents(&self) -> Vec<String> {
        self.agents.clone()
    }

    fn servers(&self) -> Vec<String> {
        self.servers.names()
    }

    async fn resource(&self, server: &str, uri: &str) -> Result<String, String> {
        self.servers.resource(server, uri).await
    }
}
