//! Options of queries, sessions and agents, in groups.

mod compaction;
mod context;
mod host;
mod limits;
mod model;
mod storage;
mod tools;
mod workspace;

pub use crate::tool_names::NameChecks;
pub use compaction::CompactionOptions;
pub use context::ContextOptions;
pub use host::HostOptions;
pub use limits::LimitOptions;
pub use model::{ModelOptions, RequestOptions};
pub use storage::StorageOptions;
pub use tools::{ToolSetOptions, ToolSource};
pub use workspace::WorkspaceOptions;

use crate::error::Error;
use crate::git_places::git_places;
use crate::machine::Surroundings;
use crate::model::{Compaction, ModelChoice, Prompts, RunLimits};
use crate::offer::ToolOptions;
use crate::permissions::Permissions;
use crate::project::ProjectOptions;
use crate::resume::Start;
use crate::storage::Storage;
use crate::toolkit::Toolkit;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::{ReminderSettings, SystemPrompt, ThinkingKeywords};
use windlass_hook::Hook;
use windlass_model::ModelProvider;
use windlass_permission::{Policy, PolicyConfig};
use windlass_runtime::MachineConfig;
use windlass_schema::StructuredOutput;
use windlass_subagent::Subagents;
use windlass_types::{PermissionMode, Thinking};

/// Options of a query and of a session. Made through their builders.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Options {
    pub(crate) model: ModelChoice,
    pub(crate) prompts: Prompts,
    pub(crate) limits: RunLimits,
    pub(crate) compaction: Compaction,
    pub(crate) tools: ToolOptions,
    pub(crate) permissions: Permissions,
    /// Hooks of the program, in code.
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) surroundings: Surroundings,
    pub(crate) storage: Storage,
    pub(crate) start: Start,
    /// Checks of doubtful names.
    pub(crate) names: NameChecks,
    pub(crate) project: ProjectOptions,
}

/// A value of a group that a feature brings, as the change that it makes.
#[derive(Clone)]
pub(crate) struct OptionChange(Arc<dyn Fn(&mut Options) + Send + Sync>);

impl OptionChange {
    pub(crate) fn new(change: impl Fn(&mut Options) + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    fn apply(&self, options: &mut Options) {
        (self.0)(options);
    }
}

impl std::fmt::Debug for OptionChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OptionChange").finish_non_exhaustive()
    }
}

impl Options {
    /// Requested model, by id or alias.
    pub fn model(&self) -> Option<&str> {
        self.model.name.as_deref()
    }

    /// Initial permission mode of the session.
    pub fn permission_mode(&self) -> PermissionMode {
        self.permissions.mode.unwrap_or_default()
    }

    /// Thinking of the model.
    pub fn thinking(&self) -> Thinking {
        self.model.thinking()
    }

    /// System prompt, with all appended texts.
    pub fn system_prompt(&self) -> SystemPrompt {
        self.prompts.system()
    }

    /// Agents that the model can give tasks to; `None` if it has no tool for that. Except for MCP servers and
    /// structured output, this and [`tools`](Self::tools) are all tools offered to the model.
    pub fn subagents(&self) -> Option<&Subagents> {
        self.tools.subagents.as_ref()
    }

    /// Tools of the program that the lists of [tools](ToolSetOptions::only) keep.
    pub fn tools(&self) -> Toolkit {
        self.tools.kept()
    }

    /// Permission policy of the session, for programs that explain or check a policy without running anything. The
    /// rules of a project are included once it is [resolved](crate::SessionBuilder::resolve).
    ///
    /// # Errors
    /// A directory or a rule cannot be used.
    pub fn policy(&self) -> Result<Policy, Error> {
        self.policy_in(&self.working_directory()?, &mut Vec::new())
    }

    /// Working directory given by the program or with its tools.
    pub(crate) fn given_directory(&self) -> Option<&Path> {
        self.surroundings.cwd.as_deref().or(self.tools.toolkit.cwd.as_deref())
    }

    /// The working directory, absolute, with links resolved.
    pub(crate) fn working_directory(&self) -> Result<PathBuf, Error> {
        self.directory("the working directory", self.given_directory().unwrap_or(Path::new(".")))
    }

    /// The provider of the program, else the one that the variables of a project set up.
    pub(crate) fn provider(&self) -> Result<Arc<dyn ModelProvider>, Error> {
        let provider = self.model.provider.clone().or_else(|| self.project.provider()).ok_or(Error::NoProvider)?;
        Ok(self.compaction.with_own(self.model.described(provider)))
    }

    /// Resolves a directory. A remote one is resolved when the session opens.
    fn directory(&self, role: &'static str, path: &Path) -> Result<PathBuf, Error> {
        if self.surroundings.is_elsewhere() { Ok(path.to_path_buf()) } else { directory(role, path) }
    }

    /// Protects the paths that the workspace's repositories name as places of git.
    pub(crate) fn protect_git_places(&mut self, cwd: &Path) {
        if self.surroundings.is_elsewhere() {
            return;
        }
        let more =
            self.surroundings.additional_directories.iter().map(|extra| windlass_types::path::absolute(cwd, extra));
        let directories: Vec<PathBuf> = std::iter::once(cwd.to_path_buf()).chain(more).collect();
        let home = self.surroundings.user_home();
        self.permissions.protected.extend(git_places(&directories, home.as_deref()));
    }

    /// Permission policy of the session. Warnings about the program's own rules are appended to `notices`.
    pub(crate) fn policy_in(&self, cwd: &Path, notices: &mut Vec<String>) -> Result<Policy, Error> {
        let mut config = PolicyConfig::new(cwd);
        for extra in &self.surroundings.additional_directories {
            let extra = windlass_types::path::absolute(cwd, extra);
            config.additional_directories.push(self.directory("the additional directory", &extra)?);
        }
        config.home = self.surroundings.user_home();
        config.bypass_allowed = self.permissions.bypass_allowed;
        config.auto_allowed = !self.permissions.auto.forbidden;
        let home = self.storage.home.iter().map(|home| home.root().to_path_buf());
        config.protected_paths.extend(home.chain(self.permissions.protected.iter().cloned()));
        config.own_commands.clone_from(&self.permissions.own_commands);
        let mut policy = Policy::new(config);
        policy.set_mode(self.permission_mode())?;
        self.permissions.add_rules(&mut policy, cwd, notices)?;
        self.project.allow(&mut policy);
        Ok(policy)
    }

    /// Writes the request and run options into the configuration of a machine.
    pub(crate) fn configure(&self, machine: &mut MachineConfig) {
        let (request, settings) = (&mut machine.request, &self.model.requests);
        request.system = self.system_prompt().sections();
        request.thinking = self.thinking();
        request.effort = self.model.effort;
        request.thinking_keywords = self.model.keywords.then(ThinkingKeywords::default);
        request.max_output_tokens = settings.max_output_tokens;
        request.betas.clone_from(&settings.betas);
        request.cache = settings.cache;
        request.raw_frames = settings.raw_frames;
        request.extra.clone_from(&settings.extra);
        machine.context.shares = self.prompts.shares;
        self.compaction.configure(&mut machine.auto_compact);
        if self.prompts.reminders.unwrap_or(true) {
            machine.context.reminders = ReminderSettings::all();
        }
        machine.tools.budget = self.tools.budget.unwrap_or_default();
        machine.tools.structured_output = self.tools.output_schema.as_ref().map(|_| StructuredOutput::NAME.to_owned());
        machine.limits = self.limits.effective();
    }
}

fn directory(role: &'static str, path: &Path) -> Result<PathBuf, Error> {
    let unusable = |problem: String| Error::Directory { role, path: path.to_path_buf(), problem };
    let resolved = std::fs::canonicalize(path).map_err(|error| unusable(error.to_string()))?;
    // Only a readable directory can be used.
    std::fs::read_dir(&resolved).map_err(|error| unusable(error.to_string()))?;
    Ok(resolved)
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Options")
            .field("provider", &self.model.provider)
            .field("model", &self.model.name)
            .field("toolkit", &self.tools.toolkit)
            .field("permissions", &self.permissions)
            .field("cwd", &self.surroundings.cwd)
            .field("resume", &self.start.resume)
            .finish_non_exhaustive()
    }
}
