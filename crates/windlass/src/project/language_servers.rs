//! The language servers of settings and plugins in the sessions of a project.

use super::configuration::state::Configuration;
use super::{LoadedProject, Project, ProjectError, ProjectNoticeKind};
use crate::lsp;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use windlass_local::LocalProcess;
use windlass_lsp::{LanguageServers, ServerConfig, ServerSurroundings};
use windlass_project::{ConfiguredLine, ProgramAuthor, ProgramLine, StartRefusal};
use windlass_tool::environment::host_environment;
use windlass_tool::{Ids, SystemIds};
use windlass_types::JsonText;

impl Project {
    /// Gives the session the tool `LSP`, if settings name language servers. Default: `true`.
    pub fn lsp_tool(mut self, on: bool) -> Self {
        self.choice.without.lsp_tool = !on;
        self
    }
}

impl LoadedProject {
    /// Language servers from settings and plugins. `None`: there are none, the files are not on this machine, or the
    /// project is not trusted, which a notice reports, because such a server builds the project. A session with the
    /// project uses them automatically. No server is started yet.
    pub fn language_servers(&self) -> Option<LanguageServers> {
        self.language_servers_with(self.program_environment())
    }

    /// Language servers with this environment, or that of other programs here.
    pub(crate) fn language_servers_with(&self, env: Option<Vec<(OsString, OsString)>>) -> Option<LanguageServers> {
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

    /// Lines of the programs of language servers.
    pub(super) fn language_server_lines(&self) -> Vec<ConfiguredLine> {
        let line = |server: ServerConfig| {
            let source = format!("the language server {:?}", server.name);
            ConfiguredLine::of_program(source, &server.command, &server.args)
        };
        self.configured_servers(&mut |_| {}).into_iter().map(line).collect()
    }

    /// Servers named by settings and plugins. `note` receives the unusable ones.
    fn configured_servers(&self, note: &mut dyn FnMut(String)) -> Vec<ServerConfig> {
        let mut servers = Vec::new();
        let mut add = |place: &str, configured: &JsonText| {
            let configs = configured.to().map_err(|error| error.to_string());
            match configs.and_then(|all| ServerConfig::read_all(&all).map_err(|error| error.message)) {
                Ok(configs) => servers.extend(configs),
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

/// Gives a session with local files the language servers from settings and plugins, if the program gave it none. For
/// the same files, a server from settings precedes one from a plugin.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, .. } = configuration;
    let surroundings = &mut options.surroundings;
    if surroundings.files.workspace.is_none()
        && let Some(servers) = project.language_servers_with(surroundings.environments.programs.clone())
    {
        if !project.choice.without.lsp_tool {
            lsp::add_tool(&mut options.tools, &servers);
        }
        lsp::add_servers(surroundings, &servers);
    }
    Ok(())
}
