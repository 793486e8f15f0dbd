//! What `system/init` lists besides the session.

use crate::{McpControl, McpStatus, PluginControl, PluginListing};
use std::sync::Arc;

/// What `system/init` lists: commands, agents, servers, plugins and what can be ordered.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) mcp: Option<Arc<dyn McpControl>>,
    pub(super) plugins: Option<Arc<dyn PluginControl>>,
    /// What the next one lists instead of asking these.
    pub(super) known: Option<(Vec<McpStatus>, PluginListing)>,
    pub(super) slash_commands: Vec<String>,
    pub(super) skills: Vec<String>,
    /// The agents that the model can start.
    pub(super) callable: Vec<String>,
    /// What the side that reads the host's orders can do.
    pub(super) capabilities: &'static [&'static str],
}

impl Lists {
    /// What the next one lists.
    pub(super) fn take(&mut self) -> (Vec<McpStatus>, PluginListing) {
        self.known.take().unwrap_or_else(|| {
            let servers = self.mcp.as_ref().map(|servers| servers.status());
            let plugins = self.plugins.as_ref().map(|plugins| plugins.listing());
            (servers.unwrap_or_default(), plugins.unwrap_or_default())
        })
    }
}
