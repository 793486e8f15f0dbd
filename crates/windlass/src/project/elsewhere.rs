//! Projects in a remote workspace: the applicable parts of their files, and of this machine.

use super::remote_start::Elsewhere;
use super::{LoadedProject, Project, ProjectError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_hook_runner::{Background, ConfiguredHook, HookHandler, OnFailure};
use windlass_project::{Agents, Layer, SettingSource, load_elsewhere};
use windlass_tool::Workspace;

impl Project {
    /// Moves the project to a remote workspace ([`remote`](crate::options::WorkspaceOptions::remote)). `directory` is
    /// an absolute path there with links followed. Reads the settings files of the project through the port.
    ///
    /// Applicable parts of this machine: the settings of the user, the administrator and the program; the user's
    /// agents, commands, output styles and instructions; and the setup of the model provider. Nothing is read of the
    /// directory that this project is [at](Self::at), except for files that the program names relative to it.
    /// Applicable parts of the remote project:
    ///
    /// - Entries of `settings.json` and `settings.local.json` that **forbid** something. Trust is about directories of
    ///   this machine, so entries that allow, set or run something are ignored, and a notice reports that.
    /// - Instruction files.
    ///
    /// Features that need programs and files of this machine are disabled: hooks that run commands, skills, memory, the
    /// index, language servers, servers of `.mcp.json` and `.claude.json`, variables for programs, additional
    /// directories, stored answers. A notice names the disabled features that the settings request. A session does not
    /// open if that would allow more than they intend: with a command hook that can deny something, or a required
    /// sandbox.
    ///
    /// `home` is the remote home directory; instruction files are also read in the directories between it and
    /// `directory`.
    ///
    /// # Errors
    /// A remote settings file cannot be used, or its existence cannot be determined; or the project has
    /// [plugins](Self::plugins), or was [trusted](Self::trust).
    pub async fn elsewhere(
        mut self,
        files: &dyn Workspace,
        directory: impl Into<PathBuf>,
        home: Option<&Path>,
    ) -> Result<Self, ProjectError> {
        self.check_chosen()?;
        let (directory, sources) = (directory.into(), self.sources);
        self.settings.elsewhere = load_elsewhere(files, &directory, sources).await?;
        // Sources of the local directory belong to another project.
        self.sources = [SettingSource::User].into_iter().filter(|_| sources.contains(Layer::User)).collect();
        (self.file_servers, self.choice.with_memory) = (false, false);
        self.choice.elsewhere = Some(Arc::new(Elsewhere::new(directory, home.map(Path::to_path_buf), sources)));
        Ok(self)
    }

    /// Refuses options of the program that concern this machine.
    fn check_chosen(&self) -> Result<(), ProjectError> {
        let of_directories = [Layer::Project, Layer::Local].iter().any(|layer| self.sources.contains(*layer));
        let is_read = self.choice.elsewhere.is_some();
        let choices = [
            (!self.plugins.is_empty(), "plugins: their hooks, servers and files are on this machine"),
            (self.trust, "trust in the project: it is about directories of this machine"),
            (is_read && of_directories, "settings of a directory of this machine: choose sources before `elsewhere`"),
            (is_read && self.file_servers, "MCP servers of files: they are about a directory of this machine"),
            (is_read && self.choice.with_memory, "the memory of a directory of this machine"),
        ];
        match choices.into_iter().find(|(is_chosen, _)| *is_chosen) {
            Some((_, what)) => Err(ProjectError::OfThisMachine { what }),
            None => Ok(()),
        }
    }
}

impl LoadedProject {
    /// Location of the project, if it is remote.
    pub(crate) fn place_elsewhere(&self) -> Option<&Elsewhere> {
        self.choice.elsewhere.as_deref()
    }

    /// Refuses restrictions in settings that cannot be enforced remotely.
    pub(crate) fn check_elsewhere(&self, agents: &Agents) -> Result<(), ProjectError> {
        if self.place_elsewhere().is_none() {
            return Ok(());
        }
        self.read.request.check_chosen()?;
        if let Some(origin) = &self.resolved().sandbox.required {
            return Err(ProjectError::SandboxElsewhere { origin: origin.clone() });
        }
        match self.all_hooks(agents).iter().find(|(hook, _)| closes_a_gate(hook)) {
            Some((hook, _)) => Err(ProjectError::HookElsewhere { hook: hook.definition.to_string() }),
            None => Ok(()),
        }
    }

    /// Sentence about the features that settings request and a remote session lacks.
    pub(super) fn left_out_elsewhere(&self) -> Option<String> {
        self.place_elsewhere()?;
        let resolved = self.resolved();
        let left_out = [
            (
                self.all_hooks(&self.known_agents()).iter().any(|(hook, _)| runs_a_command(hook)),
                "hooks that run commands",
            ),
            (resolved.sandbox.enabled.is_some(), "the sandbox"),
            (!resolved.env.programs.is_empty(), "`env` for programs"),
            (!resolved.permissions.additional_directories.is_empty(), "`additionalDirectories`"),
            (resolved.session.lsp_servers.is_some(), "language servers"),
            (!resolved.servers.provided.is_empty(), "`managedMcpServers`"),
        ];
        let left_out: Vec<&str> = left_out.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect();
        (!left_out.is_empty()).then(|| {
            format!("the files are elsewhere, so these settings have no effect there: {}", left_out.join(", "))
        })
    }
}

pub(super) fn runs_a_command(hook: &ConfiguredHook) -> bool {
    matches!(hook.definition.handler, HookHandler::Command(_))
}

/// `true` if more could happen without the hook than its author intends.
pub(super) fn closes_a_gate(hook: &ConfiguredHook) -> bool {
    let definition = &hook.definition;
    // A program that nothing waits for decides nothing.
    let is_waited_for =
        matches!(&definition.handler, HookHandler::Command(handler) if handler.background == Background::No);
    is_waited_for && definition.event.is_gating() && definition.on_failure == OnFailure::Block
}
