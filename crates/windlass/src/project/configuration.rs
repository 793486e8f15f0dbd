//! Settings of a project as options of a session: the one place that turns the first into the second.
//!
//! The order of the parts:
//!
//! 1. [`limits`], [`models`], [`bash`]: single values. Nothing else depends on them.
//! 2. [`skills`], [`memory`], [`index`]: what brings tools, which the next part judges rules about.
//! 3. [`permissions`]: the mode, the rules, and the files that they protect.
//! 4. [`surroundings`]: directories and the environment of programs.
//! 5. [`language_servers`]: behind the environment, which language servers take.
//! 6. [`sandbox`]: confines the programs of all parts before.
//! 7. [`prompts`]: the system prompt of the agent, then the output style, which needs to know whose prompt it is.
//! 8. [`agents`]: the agents below, with the notes that [`memory`] has found.
//!
//! Options of the program have priority over settings in every part.

mod agents;
mod bash;
mod index;
mod limits;
mod memory;
mod models;
mod permissions;
mod prompts;
mod skills;
pub(in crate::project) mod state;
mod surroundings;

use super::{language_servers, sandbox};
use crate::error::Error;
use crate::options::Options;
use crate::project::{Applied, GivenSkills, LoadedProject, ProjectError, ProjectInput, ProjectNoticeKind};
use crate::tool_names::KnownTools;
use state::Configuration;
use std::sync::Arc;
use windlass_project::Agents;

/// A part of the settings.
type Part = fn(&mut Configuration<'_>) -> Result<(), ProjectError>;

/// The parts in their order.
const PARTS: &[Part] = &[
    limits::configure,
    models::configure,
    bash::configure,
    skills::configure,
    memory::configure,
    index::configure,
    permissions::configure,
    surroundings::configure,
    language_servers::configure,
    sandbox::configure,
    prompts::configure,
    agents::configure,
];

impl Options {
    /// Applies the project to the options, if it is not applied yet: settings are read, and become options, once.
    pub(crate) fn apply_project(&mut self) -> Result<(), Error> {
        let mut project = match std::mem::take(&mut self.project.input) {
            Applied::Given(ProjectInput::Unread(project)) => project.review()?,
            Applied::Given(ProjectInput::Loaded(project)) => *project,
            before => {
                self.project.input = before;
                return Ok(());
            }
        };
        project.check_hooks()?;
        project.choice.skills.extend(self.project.skills.iter().cloned());
        let found = project.known_agents();
        project.check_elsewhere(&found)?;
        surroundings::check_directory(&project, self)?;
        project.choice.directories = Arc::new(self.surroundings.additional_directories.clone());
        let is_set = (self.model.name.is_some(), self.model.effort.is_some());
        configure(&project, &found, self)?;
        let resolved = project.resolved();
        let model = resolved.models.model.as_ref().map(|model| &model.value);
        let effort = resolved.session.effort.as_ref().map(|effort| effort.value);
        let follows = (!is_set.0 && self.model.name.as_ref() == model, !is_set.1 && self.model.effort == effort);
        (project.choice.follows.model, project.choice.follows.effort) = follows;
        self.project.agents = Arc::new(found);
        self.project.input = Applied::Yes(project);
        Ok(())
    }

    /// The name of the output style: `default`, unless settings choose another one.
    pub fn output_style(&self) -> &str {
        self.project.style.as_deref().unwrap_or("default")
    }

    /// Text of the session's agent for the start of a new session, before its first prompt. A [query](crate::query())
    /// puts it in front of its prompt; a program decides about it for a session.
    pub fn initial_prompt(&self) -> Option<&str> {
        self.project.initial.as_deref()
    }

    /// Skills of the program in a session without a project; `None` if there are none.
    pub(crate) fn given_skills(&self) -> Option<GivenSkills> {
        self.project.given_skills(|| self.working_directory().ok())
    }

    /// Adds the tool for the program's skills, if there is no project, which would bring it.
    pub(crate) fn add_skill_tool(&mut self) {
        if let Some(tool) = self.given_skills().and_then(|given| given.tool()) {
            self.tools.toolkit.add_missing(tool);
        }
    }
}

/// Turns the settings of a project into options. `found` are its agents.
fn configure(project: &LoadedProject, found: &Agents, options: &mut Options) -> Result<(), Error> {
    let variables = project.session_variables();
    for note in &variables.notes {
        project.note(ProjectNoticeKind::Variable, note.as_str());
    }
    let agents = project.checked(&KnownTools::new(&options.tools), found.clone());
    let tools = options.tools.toolkit.tools().iter().map(|tool| tool.name().into_owned());
    let tools: Vec<String> = tools.chain(project.memory_tool()).collect();
    let agent = project.main_agent(&agents, &tools, options.permissions.bypass_allowed)?;
    let mut configuration = Configuration { project, options, variables, found, agents, agent, memories: None };
    for part in PARTS {
        part(&mut configuration)?;
    }
    Ok(())
}

/// Gives a session the servers of its project, and starts to connect those of files.
pub(crate) async fn offer_servers(options: &mut Options) -> Result<(), Error> {
    if let Some(project) = options.project.applied().cloned() {
        project.share_sandbox(&options.surroundings.sandbox);
        project.offer_servers(&mut options.tools.mcp).await?;
    }
    Ok(())
}
