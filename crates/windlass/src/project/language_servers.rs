//! The language servers of settings and plugins in the sessions of a project.

use super::{LoadedProject, ProjectNoticeKind};
use crate::session::Options;
use serde_json::Value;
use std::ffi::OsString;
use std::sync::Arc;
use windlass_lsp::{LanguageServers, ServerConfig, ServerSurroundings};
use windlass_tool::{Ids, SystemIds};
use windlass_tools::LocalProcess;

impl LoadedProject {
    /// Gives a session whose files are those of this machine the language servers that settings and plugins name, if the program
    /// gave it none. Of two for the same files that of settings counts.
    pub(super) fn apply_language_servers(&self, options: &mut Options) {
        if options.surroundings.workspace.is_none()
            && let Some(servers) = self.servers_in(options.surroundings.env.clone())
        {
            crate::lsp::give(options, &servers, !self.choice.without_lsp_tool);
        }
    }

    /// The language servers that settings and plugins name. `None`: there are none. A session that takes the project heeds them
    /// by itself. None is started yet.
    pub fn language_servers(&self) -> Option<LanguageServers> {
        self.servers_in(self.program_environment())
    }

    /// Without an environment they get what other programs here get.
    fn servers_in(&self, env: Option<Vec<(OsString, OsString)>>) -> Option<LanguageServers> {
        let servers = self.configured_servers();
        if servers.is_empty() {
            return None;
        }
        let env = env.unwrap_or_else(|| host_environment(self.usual_environment()));
        let watch = LocalProcess::new(format!("lsp.{:032x}", SystemIds::default().bits()));
        let surroundings = ServerSurroundings::new(self.places().start(), env).with_watch(Arc::new(watch));
        Some(LanguageServers::new(servers, surroundings))
    }

    fn configured_servers(&self) -> Vec<ServerConfig> {
        let mut servers = Vec::new();
        let mut add = |place: &str, configured: Result<Value, String>| {
            let read = configured.and_then(|all| ServerConfig::read_all(&all).map_err(|error| error.message));
            match read {
                Ok(read) => servers.extend(read),
                Err(error) => self.note(ProjectNoticeKind::Server, format!("{place} cannot be used: {error}")),
            }
        };
        if let Some(setting) = &self.resolved().session.lsp_servers {
            add("`lspServers`", setting.value.to().map_err(|error| error.to_string()));
        }
        // Each alone: one that cannot be used does not take others along.
        for (name, server) in self.plugins().plugins.iter().flat_map(|plugin| &plugin.language_servers) {
            let server = server.to::<Value>().map_err(|error| error.to_string());
            add(
                "a language server of a plugin",
                server.map(|server| Value::Object([(name.clone(), server)].into_iter().collect())),
            );
        }
        servers
    }
}
