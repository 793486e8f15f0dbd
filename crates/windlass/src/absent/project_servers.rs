//! The MCP servers that the sessions of a project share, in a build without the feature `mcp`: there are none.

use crate::project::{LoadedProject, ProjectError};
use crate::session_servers::SessionServers;
use windlass_project::{Plugins, ServerDefinition};
use windlass_runtime::{SessionError, SessionHandle};

/// No servers.
#[derive(Default)]
pub(crate) struct SharedServers;

impl SharedServers {
    pub(super) fn changed_by(&self, _: &Plugins) -> (Vec<String>, Vec<String>) {
        Default::default()
    }

    pub(super) fn renew(&self, _: &Plugins) {}
}

impl LoadedProject {
    pub(super) fn server_definitions(&self) -> Vec<ServerDefinition> {
        Vec::new()
    }

    pub(super) async fn refresh_servers(&self, _: &SessionHandle, _: bool) -> Result<(), SessionError> {
        Ok(())
    }

    pub(crate) async fn offer_servers(&self, _: &mut SessionServers) -> Result<(), ProjectError> {
        Ok(())
    }
}
