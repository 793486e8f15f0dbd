//! The language servers of settings in the sessions of a project.

use super::{LoadedProject, ProjectNoticeKind};
use crate::session::Options;
use std::sync::Arc;
use windlass_lsp::{LanguageServers, ServerConfig, ServerSurroundings};
use windlass_tool::{Ids, SystemIds};
use windlass_tools::LocalProcess;

impl LoadedProject {
    /// Gives a session whose files are those of this machine the language servers that settings name, if the program gave it
    /// none.
    pub(super) fn apply_language_servers(&self, options: &mut Options) {
        let Some(setting) = &self.resolved().session.lsp_servers else { return };
        if options.surroundings.workspace.is_some() {
            return;
        }
        let read = setting.value.to().map_err(|error| error.to_string());
        let read = read.and_then(|servers| ServerConfig::read_all(&servers).map_err(|error| error.message));
        let servers = match read {
            Ok(servers) => servers,
            Err(error) => return self.note(ProjectNoticeKind::Server, format!("`lspServers` cannot be used: {error}")),
        };
        let env = options.surroundings.env.clone().unwrap_or_else(|| self.usual_environment());
        let watch = LocalProcess::new(format!("lsp.{:032x}", SystemIds::default().bits()));
        let surroundings = ServerSurroundings::new(self.places().start(), env).with_watch(Arc::new(watch));
        let servers = LanguageServers::new(servers, surroundings);
        crate::lsp::give(options, &servers, !self.choice.without_lsp_tool);
    }
}
