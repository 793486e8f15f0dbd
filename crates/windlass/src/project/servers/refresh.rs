//! The MCP servers of a project by its present files and settings.

use crate::project::LoadedProject;
use windlass_project::{ServerDefinition, ServerFiles};
use windlass_runtime::{SessionError, SessionHandle};

impl LoadedProject {
    /// Active MCP servers of files and plugins.
    pub(in crate::project) fn server_definitions(&self) -> Vec<ServerDefinition> {
        let read = &self.read;
        let of_plugins = self.plugins();
        let mut all: Vec<_> = of_plugins.servers().cloned().collect();
        if let Some(servers) = self.shared.servers.set.get() {
            all.extend(servers.defined(&read.resolved));
        } else if read.request.file_servers {
            let mut known = self.shared.servers.files.lock();
            let files = known.get_or_insert_with(|| ServerFiles::read(&read.places, &read.settings));
            all.extend(files.servers(&read.places, &read.settings, &read.resolved).servers);
        }
        all
    }

    /// Starts, restarts and ends servers according to the present files and the settings of this session.
    pub(in crate::project) async fn refresh_servers(
        &self,
        session: &SessionHandle,
        have_changed: bool,
    ) -> Result<(), SessionError> {
        let Some(servers) = self.shared.servers.set.get() else { return Ok(()) };
        let newer = servers.look();
        if newer.is_none() && !have_changed {
            return Ok(());
        }
        if let Some((newer, changed)) = newer {
            let refused = self.refused(session, &changed).await?;
            servers.take(newer, &refused);
        }
        if let Some(resolved) = self.resolved_of(session.session_id()) {
            servers.follow(&resolved).await;
        }
        Ok(())
    }
}
