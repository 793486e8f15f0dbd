//! Files that determine which programs the active configuration runs.
//!
//! Trust covers the text of configuration. The programs that the text runs are in other files, so these are protected
//! like the configuration itself.

use super::LoadedProject;
use std::path::{Path, PathBuf};
use windlass_hook_runner::{ConfiguredHook, HookHandler};
use windlass_project::{Agents, Command, ConfiguredLine};

/// A file that determines what a configured line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramFile {
    pub(crate) path: PathBuf,
    /// The configuration that runs it, for people.
    pub(crate) source: String,
}

impl LoadedProject {
    /// Files that active hooks, servers, helpers and commands run. Empty if the files are not on this machine.
    pub(crate) fn program_files(&self, agents: &Agents) -> Vec<ProgramFile> {
        let mut files: Vec<ProgramFile> = Vec::new();
        if self.place_elsewhere().is_some() {
            return files;
        }
        for line in self.configured_lines(agents) {
            for path in line.files(self.places().start(), self.places()) {
                if !files.iter().any(|known| known.path == path) {
                    files.push(ProgramFile { path, source: line.source.clone() });
                }
            }
        }
        files
    }

    /// The paths of these files, to be protected, and the patterns that files made later may fit.
    pub fn protected_programs(&self) -> Vec<PathBuf> {
        let agents = self.known_agents();
        self.protected(self.program_files(&agents), &agents)
    }

    /// The paths of known files, and the patterns that files made later may fit.
    pub(crate) fn protected(&self, files: Vec<ProgramFile>, agents: &Agents) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
        if self.place_elsewhere().is_none() {
            let lines = self.configured_lines(agents);
            paths.extend(lines.iter().flat_map(|line| line.patterns(self.places().start(), self.places())));
        }
        paths
    }

    fn configured_lines(&self, agents: &Agents) -> Vec<ConfiguredLine> {
        let mut lines: Vec<ConfiguredLine> =
            self.all_hooks(agents).iter().filter_map(|(hook, _)| hook_line(hook)).collect();
        if let Some(helper) = &self.resolved().session.api_key_helper {
            lines.push(ConfiguredLine::new("`apiKeyHelper`", &helper.value).giving_credentials());
        }
        lines.extend(self.commands().commands.iter().flat_map(command_lines));
        lines.extend(self.language_server_lines());
        for server in self.server_definitions() {
            let source = format!("the MCP server {:?}", server.name);
            let all = ConfiguredLine::of_server(&source, server.config.as_str()).into_iter();
            lines.extend(all.map(|line| line.of_plugin(server.plugin_root.as_deref())));
        }
        lines
    }
}

/// The lines of programs in the text of a command.
pub(super) fn command_lines(command: &Command) -> Vec<ConfiguredLine> {
    let line = |program| {
        ConfiguredLine::new(format!("/{}", command.name), program).of_plugin(command.plugin_root().map(Path::new))
    };
    command.programs().into_iter().map(line).collect()
}

/// The line of a hook that runs a program.
fn hook_line(hook: &ConfiguredHook) -> Option<ConfiguredLine> {
    let HookHandler::Command(handler) = &hook.definition.handler else { return None };
    let source = format!("the hook {:?}", hook.definition.to_string());
    let line = match &handler.args {
        Some(args) => ConfiguredLine::of_program(source, &handler.command, args),
        None => ConfiguredLine::new(source, &handler.command),
    };
    Some(line.of_plugin(hook.plugin.as_deref()))
}
