//! The language servers of settings and plugins in the sessions of a project.

use super::reviewed_servers::ReviewedServers;
use super::{LoadedProject, ProjectNoticeKind};
use crate::options::Options;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use windlass_local::LocalProcess;
use windlass_lsp::{LanguageServers, ServerConfig, ServerConfinement, ServerSurroundings};
use windlass_project::{ProgramAuthor, ProgramLine, StartRefusal};
use windlass_tool::environment::host_environment;
use windlass_tool::{Ids, SystemIds};
use windlass_types::JsonText;

impl LoadedProject {
    /// Gives a session with local files the language servers from settings and plugins, if the program gave it none.
    /// For the same files, a server from settings precedes one from a plugin.
    pub(super) fn apply_language_servers(&self, options: &mut Options) {
        if options.surroundings.files.workspace.is_none()
            && let Some(servers) = self.language_servers_with(options.surroundings.environments.programs.clone())
        {
            crate::lsp::give(options, &servers, !self.choice.without.lsp_tool);
        }
    }

    /// Language servers from settings and plugins. `None`: there are none, the files are not on this machine, or the
    /// project is not trusted, which a notice reports, because such a server builds the project. A session with the
    /// project uses them automatically. No server is started yet.
    pub fn language_servers(&self) -> Option<LanguageServers> {
        self.language_servers_with(self.program_environment())
    }

    /// Language servers with this environment, or that of other programs here.
    fn language_servers_with(&self, env: Option<Vec<(OsString, OsString)>>) -> Option<LanguageServers> {
        if self.place_elsewhere().is_some() {
            return None;
        }
        let servers = self.configured_servers(&mut |text| self.note(ProjectNoticeKind::Server, text));
        let servers = self.startable(servers);
        if servers.is_empty() {
            return None;
        }
        let env = env.unwrap_or_else(|| host_environment(self.usual_environment()));
        let watch = LocalProcess::new(format!("lsp.{:032x}", SystemIds::default().bits()));
        let surroundings = ServerSurroundings::new(self.places().start(), env).with_watch(Arc::new(watch));
        Some(LanguageServers::new(servers, surroundings))
    }

    /// Servers that may start in this project. A notice names the others.
    fn startable(&self, mut servers: Vec<ServerConfig>) -> Vec<ServerConfig> {
        if servers.is_empty() {
            return servers;
        }
        let starts = self.starts();
        let mut refused: Option<StartRefusal> = None;
        servers.retain(|server| {
            let line = ProgramLine::LanguageServer(&server.name);
            let Err(refusal) = self.read.place(&starts, &ProgramAuthor::User, &line, &[]) else { return true };
            match &mut refused {
                Some(first) => first.program = format!("{}, {}", first.program, refusal.program),
                None => refused = Some(refusal),
            }
            false
        });
        if let Some(refusal) = refused {
            self.note(ProjectNoticeKind::Server, format!("no language server is started: {refusal}"));
        }
        servers
    }

    /// Compares programs of language servers with their trusted versions, and confines them if there is a sandbox.
    pub(crate) fn reviewed_language_servers(
        &self,
        confinement: Option<Arc<dyn ServerConfinement>>,
    ) -> Arc<dyn ServerConfinement> {
        Arc::new(ReviewedServers { reviewer: self.program_reviewer(), confinement })
    }

    /// Servers named by settings and plugins. `note` receives the unusable ones.
    pub(super) fn configured_servers(&self, note: &mut dyn FnMut(String)) -> Vec<ServerConfig> {
        let mut servers = Vec::new();
        let mut add = |place: &str, configured: &JsonText| {
            let read = configured.to().map_err(|error| error.to_string());
            match read.and_then(|all| ServerConfig::read_all(&all).map_err(|error| error.message)) {
                Ok(read) => servers.extend(read),
                Err(error) => note(format!("{place} cannot be used: {error}")),
            }
        };
        if let Some(setting) = &self.resolved().session.lsp_servers {
            add("`lspServers`", &setting.value);
        }
        for plugin in &self.plugins().plugins {
            // Each is read alone, so that an unusable one does not invalidate the others.
            for (name, server) in &plugin.language_servers {
                if let Ok(one) = JsonText::of(&BTreeMap::from([(name, server)])) {
                    add("a language server of a plugin", &one);
                }
            }
        }
        servers
    }
}
