//! The MCP servers that the sessions of a project share.

use super::ProjectServers;
use crate::lock::Lock;
use std::sync::OnceLock;
use windlass_project::{Plugins, ServerFiles};

/// The servers of a project, once a session or the program has asked for them.
#[derive(Default)]
pub(crate) struct SharedServers {
    /// Files of servers that were read before their set exists, which takes them.
    pub(in crate::project) files: Lock<Option<ServerFiles>>,
    pub(in crate::project) set: OnceLock<ProjectServers>,
}

impl SharedServers {
    /// Names of the servers that these plugins would add, and of those that they would remove.
    pub(in crate::project) fn changed_by(&self, plugins: &Plugins) -> (Vec<String>, Vec<String>) {
        let Some(servers) = self.set.get() else { return Default::default() };
        let renewal = servers.renewal(plugins);
        (renewal.come.into_iter().map(|server| server.name).collect(), renewal.go)
    }

    /// Replaces the servers of plugins.
    pub(in crate::project) fn renew(&self, plugins: &Plugins) {
        if let Some(servers) = self.set.get() {
            servers.renew(servers.renewal(plugins));
        }
    }
}
