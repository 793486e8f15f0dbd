//! The skills of a project in its sessions.

use super::LoadedProject;
use crate::storage::allow_reading_below;
use std::path::Path;
use std::sync::Arc;
use windlass_context::FileInstructions;
use windlass_permission::Policy;
use windlass_project::{Command, CommandSource, Commands};
use windlass_tool::{DynTool, ToolCx, ToolError, schemars, tool_fn_with};
use windlass_types::Access;
use windlass_types::near::nearest;

/// The name of the tool.
const NAME: &str = "Skill";
const DESCRIPTION: &str = "Reads a skill: instructions, written by people, for a kind of work. The list of skills says what each is \
                           for. Use one when it fits the task, then follow what it says. Files that it names lie in its directory.";

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "windlass_tool::schemars")]
struct Input {
    /// The name of the skill, as it is listed.
    skill: String,
    /// What the skill is to work on, if it takes anything.
    args: Option<String>,
}

impl LoadedProject {
    /// The tool that reads skills. `None` if there are none for the model.
    pub(crate) fn skill_tool(&self) -> Option<Arc<dyn DynTool>> {
        self.commands().for_models().next()?;
        let read = |project: Arc<Self>, input: Input, _: ToolCx| async move { read(&project.commands(), &input) };
        let tool = tool_fn_with(NAME, DESCRIPTION, self.clone(), read).with_access(Access::NOTHING);
        Some(Arc::new(tool))
    }

    /// The list of skills that the model reads, if it is offered the tool.
    pub(crate) fn skill_list(&self, offered: impl Fn(&str) -> bool) -> Option<FileInstructions> {
        let commands = self.commands();
        let skills = commands.for_models().map(|skill| (skill.name.as_str(), skill.listing()));
        FileInstructions::skills(NAME, skills).filter(|_| offered(NAME))
    }

    /// Lets calls read the folders of the user's skills without a question. Those of the project lie in the workspace.
    pub(crate) fn allow_reading_skills(&self, policy: &mut Policy, cwd: &Path) {
        let commands = self.commands();
        let of_user = commands.commands.iter().filter(|command| command.source != CommandSource::Project);
        for skill in of_user.filter_map(|command| command.skill.as_ref()) {
            allow_reading_below(policy, &skill.directory, cwd);
        }
    }
}

fn read(commands: &Commands, input: &Input) -> Result<String, ToolError> {
    let name = input.skill.trim().trim_start_matches('/');
    let Some(skill) = commands.for_models().find(|skill| skill.name == name) else {
        return Err(unknown(commands, name));
    };
    let body = skill.expand(input.args.as_deref().unwrap_or_default());
    let body = body.map_err(|error| ToolError::invalid_input(error.to_string()))?;
    Ok(match directory(skill) {
        Some(directory) => format!("Directory of this skill: {}\n\n{body}", directory.display()),
        None => body,
    })
}

fn directory(skill: &Command) -> Option<&Path> {
    skill.skill.as_ref().map(|skill| skill.directory.as_path())
}

fn unknown(commands: &Commands, name: &str) -> ToolError {
    let near = nearest(name, commands.for_models().map(|skill| skill.name.as_str()));
    let hint = near.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    ToolError::invalid_input(format!("there is no skill of this name{hint}"))
}
