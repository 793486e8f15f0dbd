//! The MCP servers of a session, as the other parts of the session see them.

pub(crate) mod elicitations;
mod offered;
pub(crate) mod sampling;

use crate::error::Error;
use crate::lock::Lock;
use crate::server_guard::{ServerGuard, ServerKind};
use async_trait::async_trait;
use std::collections::BTreeSet;
use std::sync::Arc;
use windlass_context::ServerInstructions;
use windlass_mcp::{ConfinedProgram, McpServers, ProgramConfinement};
use windlass_runtime::SessionHandle;
use windlass_tool::{ProcessCommand, ToolSet};
use windlass_types::{ContentBlock, JsonText, ToolResultContent};

/// Maximum number of unusable server tools reported to the host.
const MAX_REPORTED_TOOLS: usize = 200;

/// The MCP servers of a session, if it has any.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionServers(pub(crate) Option<McpServers>);

impl From<McpServers> for SessionServers {
    fn from(servers: McpServers) -> Self {
        Self(Some(servers))
    }
}

impl SessionServers {
    /// Names of the servers.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().flat_map(McpServers::status).map(|status| status.name).collect()
    }

    /// Text of a resource.
    pub(crate) async fn resource(&self, server: &str, uri: &str) -> Result<String, String> {
        let Some(servers) = &self.0 else { return Err(format!("there is no server {server:?}")) };
        let content = servers.follow_resource(server, uri).await.map_err(|error| error.to_string())?;
        texts_of(&content).ok_or_else(|| "the resource has no text".to_owned())
    }

    /// Text of a tool's result, for a hook.
    pub(crate) async fn call(&self, server: &str, tool: &str, input: &JsonText) -> Result<String, String> {
        let servers = self.0.as_ref().ok_or("this session has no MCP servers")?;
        let output = servers.call(server, tool, input, None).await.map_err(|error| error.to_string())?;
        let text = match &output.content {
            ToolResultContent::Text(text) => text.clone(),
            ToolResultContent::Blocks(blocks) => {
                blocks.iter().filter_map(|block| block.as_text()).collect::<Vec<_>>().join("\n")
            }
        };
        if output.is_error { Err(text.chars().take(500).collect()) } else { Ok(text) }
    }

    /// Content of a prompt by its command (`mcp__server__prompt`); `None` if there is none of this name.
    pub(crate) async fn named_prompt(
        &self,
        command: &str,
        arguments: &[String],
    ) -> Result<Option<Vec<ContentBlock>>, Error> {
        match self.0.as_ref().filter(|_| command.starts_with("mcp__")) {
            Some(servers) => Ok(servers.named_prompt(command, arguments).await?),
            None => Ok(None),
        }
    }

    /// Joins the session's own tools and the wanted tools of the servers.
    pub(crate) fn join(&self, own: ToolSet, is_wanted: impl Fn(&str) -> bool) -> ToolSet {
        match &self.0 {
            Some(servers) => offered::join(own, servers, is_wanted),
            None => own,
        }
    }

    /// Usage instructions of the servers, and the missing servers. `could_have`: the model may be offered tools with
    /// this prefix.
    pub(crate) fn instructions(&self, could_have: impl Fn(&str) -> bool) -> Vec<ServerInstructions> {
        self.0.as_ref().map(|servers| offered::instructions(servers, could_have)).unwrap_or_default()
    }
}

/// The texts of a resource, which may have several parts.
fn texts_of(content: &JsonText) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Read {
        #[serde(default)]
        contents: Vec<ResourceText>,
    }
    #[derive(serde::Deserialize)]
    struct ResourceText {
        text: Option<String>,
    }
    let texts: Vec<String> = content.to::<Read>().ok()?.contents.into_iter().filter_map(|part| part.text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Reports about servers that the host and the model of an open session have read.
#[derive(Debug, Default)]
pub(crate) struct ServerReports {
    /// Unusable tools that were reported to the host.
    unusable: Lock<BTreeSet<String>>,
    /// Names of the missing servers that were reported to the host.
    missing: Lock<BTreeSet<String>>,
    /// Number of the last resource change that the model has read about.
    resources: Lock<u64>,
}

impl ServerReports {
    /// Reports from now on. Earlier changes of resources are known.
    pub(crate) fn new(servers: &SessionServers) -> Self {
        let resources = servers.0.as_ref().map_or(0, |servers| servers.resource_changes(0).1);
        Self { resources: Lock::new(resources), ..Self::default() }
    }

    /// Reports missing servers and unusable tools to the host, each once, and changed resources to the model.
    pub(crate) fn report(&self, servers: &SessionServers, session: &SessionHandle) {
        let Some(servers) = &servers.0 else { return };
        self.report_missing(servers, session);
        self.report_unusable(servers, session);
        self.report_resources(servers, session);
    }

    /// Reports the servers that are not connected, each once until it is connected again.
    fn report_missing(&self, servers: &McpServers, session: &SessionHandle) {
        let now = servers.missing();
        let mut reported = self.missing.lock();
        reported.retain(|name| now.iter().any(|missing| missing.server == *name));
        for missing in now {
            if reported.insert(missing.server) {
                let _ = session.notice(missing.reason);
            }
        }
    }

    fn report_unusable(&self, servers: &McpServers, session: &SessionHandle) {
        let mut reported = self.unusable.lock();
        for line in offered::left_out(servers) {
            if reported.len() < MAX_REPORTED_TOOLS && reported.insert(line.clone()) {
                let _ = session.notice(line);
            }
        }
    }

    fn report_resources(&self, servers: &McpServers, session: &SessionHandle) {
        let mut seen = self.resources.lock();
        let (changed, last) = servers.resource_changes(*seen);
        *seen = last;
        if let Some(text) = offered::changed_resources(&changed) {
            let _ = session.add_context(vec![text]);
        }
    }
}

/// Guard of the programs of MCP servers.
#[derive(Debug)]
pub(crate) struct GuardedServers(pub(crate) Arc<dyn ServerGuard>);

#[async_trait]
impl ProgramConfinement for GuardedServers {
    async fn confine(&self, server: &str, program: ProcessCommand) -> Result<ConfinedProgram, String> {
        let guarded = self.0.guard(ServerKind::Mcp, server, program).await?;
        let mut confined = ConfinedProgram::new(guarded.command);
        confined.until_end = Some(guarded.kept);
        confined.advice = guarded.advice.map(str::to_owned);
        Ok(confined)
    }
}
