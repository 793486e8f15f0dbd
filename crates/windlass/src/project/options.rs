//! Options of a session that need a project, or the feature `project`.

use super::index::SessionIndex;
use super::skills::{GivenSkills, named};
use super::{LoadedProject, ProjectError, ProjectInput};
use crate::error::Error;
use crate::memory::Memory;
use crate::prompt::checked;
use crate::session_servers::SessionServers;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_hook_runner::HookDefinition;
use windlass_model::ModelProvider;
use windlass_permission::Policy;
use windlass_project::{Agents, Skill, split_arguments};
use windlass_runtime::{Prompt, PromptKind};
use windlass_types::SessionId;

/// Options of a session that need a project, or the feature `project`.
#[derive(Clone, Default)]
pub(crate) struct ProjectOptions {
    pub(crate) input: Applied,
    /// Agents of the applied project, as they were found.
    pub(crate) agents: Arc<Agents>,
    pub(crate) index: Option<SessionIndex>,
    /// Memory of the session. Its tool is in the list of tools.
    pub(crate) memory: Option<Memory>,
    /// The output style, if it is not the default.
    pub(crate) style: Option<String>,
    /// Initial prompt of a new session.
    pub(crate) initial: Option<String>,
    /// Skills of the program.
    pub(crate) skills: Vec<Skill>,
    /// Hooks that the host program defines as commands, HTTP requests or model prompts.
    pub(crate) hooks: Vec<HookDefinition>,
}

/// State of the project: absent, supplied, or applied to the options.
#[derive(Debug, Clone, Default)]
#[expect(clippy::large_enum_variant, reason = "a session has one")]
pub(crate) enum Applied {
    /// There is no project.
    #[default]
    None,
    /// Supplied by the caller, not applied yet.
    Given(ProjectInput),
    /// Applied to the options.
    Yes(LoadedProject),
}

impl ProjectOptions {
    /// Returns the project if it has been applied to the options.
    pub(crate) fn applied(&self) -> Option<&LoadedProject> {
        match &self.input {
            Applied::Yes(project) => Some(project),
            _ => None,
        }
    }

    /// Checks that the project and the workspace are on the same machine.
    pub(crate) fn check_place(&self, is_elsewhere: bool) -> Result<(), Error> {
        let Some(project) = self.applied() else { return Ok(()) };
        let (path, problem) = match (is_elsewhere, project.place_elsewhere()) {
            (true, None) => (
                project.places().start(),
                "settings and trust are those of directories of this machine, and the files are elsewhere: leave out \
                 `.project(..)`, or give it what `Project::elsewhere` has read there",
            ),
            (false, Some(remote_place)) => (
                remote_place.start(),
                "it was read elsewhere, and the session works on this machine: say where with `.remote(..)`",
            ),
            _ => return Ok(()),
        };
        Err(Error::Directory { role: "the project", path: path.to_path_buf(), problem: problem.to_owned() })
    }

    /// Returns the provider that the project's variables configure, if this build includes a vendor.
    pub(crate) fn provider(&self) -> Option<Arc<dyn ModelProvider>> {
        let project =
            self.applied().filter(|_| cfg!(any(feature = "anthropic", feature = "gemini", feature = "openai")));
        project.map(|project| Arc::new(project.provider()) as _)
    }

    /// Skills of the program in a session without a project; `None` if there are none.
    pub(crate) fn given_skills(&self, directory: impl FnOnce() -> Option<PathBuf>) -> Option<GivenSkills> {
        let is_needed = self.applied().is_none() && !self.skills.is_empty();
        is_needed.then(|| GivenSkills::new(&self.skills, directory()))
    }

    /// Expands the command or skill in a prompt. The agent's initial prompt precedes the first prompt.
    pub(crate) fn expand(&mut self, prompt: Prompt, directory: &Path, session: &SessionId) -> Result<Prompt, Error> {
        if prompt.kind == PromptKind::Continue {
            return checked(prompt);
        }
        let initial = self.initial.take();
        checked(match (self.applied(), self.given_skills(|| Some(directory.to_path_buf()))) {
            (Some(project), _) => project.prompt(prompt, initial.as_deref(), Some(session))?,
            (None, Some(given)) => given.expand(prompt, Some(session)).map_err(ProjectError::from)?,
            (None, None) => prompt,
        })
    }

    /// Replaces a prompt of the form `/mcp__server__prompt argument` by that server prompt. Other prompts stay
    /// unchanged.
    pub(crate) async fn server_prompt(&self, mut prompt: Prompt, servers: &SessionServers) -> Result<Prompt, Error> {
        let reads_commands = self.applied().is_some() || !self.skills.is_empty();
        let Some((command, arguments)) = named(&prompt).filter(|_| reads_commands) else { return Ok(prompt) };
        if let Some(blocks) = servers.named_prompt(command, &split_arguments(arguments)).await? {
            (prompt.content, prompt.ignores_keywords) = (blocks, true);
        }
        Ok(prompt)
    }

    /// Makes a run wait until its notes are extracted, because the session ends with the run.
    pub(crate) fn wait_for_notes(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.wait_for_notes();
        }
    }

    /// Allows the model to change its own memory without a permission request.
    pub(crate) fn allow(&self, policy: &mut Policy) {
        if let Some(memory) = &self.memory {
            memory.allow(policy);
        }
    }
}
