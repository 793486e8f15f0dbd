//! The MCP servers of a session, in a build without the feature `mcp`: there are none.

use crate::error::Error;
use windlass_context::ServerInstructions;
use windlass_runtime::SessionHandle;
use windlass_tool::ToolSet;
use windlass_types::{ContentBlock, JsonText};

/// No MCP servers.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionServers;

impl SessionServers {
    pub(crate) fn names(&self) -> Vec<String> {
        Vec::new()
    }

    pub(crate) async fn resource(&self, server: &str, _: &str) -> Result<String, String> {
        Err(format!("there is no server {server:?}"))
    }

    pub(crate) async fn call(&self, _: &str, _: &str, _: &JsonText) -> Result<String, String> {
        Err("this session has no MCP servers".to_owned())
    }

    pub(crate) async fn named_prompt(&self, _: &str, _: &[String]) -> Result<Option<Vec<ContentBlock>>, Error> {
        Ok(None)
    }

    pub(crate) fn join(&self, own: ToolSet, _: impl Fn(&str) -> bool) -> ToolSet {
        own
    }

    pub(crate) fn instructions(&self, _: impl Fn(&str) -> bool) -> Vec<ServerInstructions> {
        Vec::new()
    }
}

/// No reports.
#[derive(Debug)]
pub(crate) struct ServerReports;

impl ServerReports {
    pub(crate) fn new(_: &SessionServers) -> Self {
        Self
    }

    pub(crate) fn report(&self, _: &SessionServers, _: &SessionHandle) {}
}
