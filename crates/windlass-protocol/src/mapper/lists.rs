//! Lists in `system/init` beside the session.

use crate::{McpControl, McpStatus, PluginControl, PluginListing};
use std::sync::Arc;

/// Lists in `system/init`: commands, agents, servers, plugins and capabilities.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) mcp: Option<Arc<dyn McpControl>>,
    pub(super) plugins: Option<Arc<dyn PluginControl>>,
    /// Lists for the next frame. They replace those of the ports.
    pub(super) known: Option<(Vec<McpStatus>, PluginListing)>,
    pub(super) slash_commands: Vec<String>,
    pub(super) skills: Vec<String>,
    /// Agents that the model can start.
    pub(super) callable: Vec<String>,
    /// Capabilities of the reader of the host's requests.
    pub(super) capabilities: &'static [&'static str],
}

impl Lists {
    /// Lists for the next frame.
    pub(super) fn take(&mut self) -> (Vec<McpStatus>, PluginListing) {
        self.known.take().unwrap_or_else(|| {
            let servers = self.mcp.as_ref().map(|servers| servers.status());
            let plugins = self.plugins.as_ref().map(|plugins| plugins.listing());
            (servers.unwrap_or_default(), plugins.unwrap_or_default())
        })
    }
}
