//! The skills of a project in its sessions.

use super::LoadedProject;
use crate::storage::allow_reading_below;
use std::path::Path;
use std::sync::Arc;
use windlass_context::FileInstructions;
use windlass_permission::Policy;
use windlass_project::{Command, CommandSource, Commands, Fork};
use windlass_subagent::AGENT_TOOL_NAME;
use windlass_tool::{DynTool, ToolCx, ToolError, ToolOutput, schemars, tool_fn_with};
use windlass_types::near::nearest;
use windlass_types::{Access, ContextChange, RunModel};

/// The name of the tool.
const NAME: &str = "Skill";
const DESCRIPTION: &str = "Reads a skill: instructions, written by people, for a kind of work. The list of skills says what each is \
                           for. Use one when it fits the task, then follow what it says. Files that it names lie in its directory.";

/// What stands behind the text of a skill that names programs: the model runs them as any others.
const PROGRAMS: &str =
    "\n\nWhere this text has !`command`, run the command with Bash and read its output in that place.";
/// The agent that carries out a skill that names none.
const GENERAL: &str = "general-purpose";

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
        let read = |project: Arc<Self>, input: Input, cx: ToolCx| async move { read(&project, &input, &cx) };
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

fn read(project: &LoadedProject, input: &Input, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let commands = project.commands();
    let name = input.skill.trim().trim_start_matches('/');
    let Some(skill) = commands.for_models().find(|skill| skill.name == name) else {
        return Err(unknown(&commands, name));
    };
    let used = project.used(input.args.as_deref().unwrap_or_default(), Some(cx.session_id()));
    let body = skill.expand(&used).map_err(|error| ToolError::invalid_input(error.to_string()))?;
    let mut text = match directory(skill) {
        Some(directory) => format!("Directory of this skill: {}\n\n{body}", directory.display()),
        None => body,
    };
    if !skill.programs().is_empty() && !used.without_programs {
        text.push_str(PROGRAMS);
    }
    let is_main = cx.agents().is_ok_and(|agents| agents.depth() == 0);
    let mut scope = skill.run_scope(&used);
    if let Some(fork) = skill.fork.as_ref().filter(|_| is_main) {
        text = delegated(fork, scope.model.take().as_ref(), &text);
    }
    let output = ToolOutput::text(text);
    Ok(if scope.is_empty() { output } else { output.with_change(ContextChange::Scope(Box::new(scope))) })
}

/// The text of a skill that an agent below the main one is to carry out.
pub(super) fn delegated(fork: &Fork, model: Option<&RunModel>, text: &str) -> String {
    let agent = fork.agent.as_deref().unwrap_or(GENERAL);
    let model = match model {
        Some(RunModel::Named(name)) => format!(" and the model {name:?}"),
        _ => String::new(),
    };
    format!(
        "An agent is to carry this out. Call the tool {AGENT_TOOL_NAME} with the type {agent:?}{model}, and give it all that \
         follows as its prompt; then answer with what it reports.\n\n{text}"
    )
}

fn directory(skill: &Command) -> Option<&Path> {
    skill.skill.as_ref().map(|skill| skill.directory.as_path())
}

fn unknown(commands: &Commands, name: &str) -> ToolError {
    let near = nearest(name, commands.for_models().map(|skill| skill.name.as_str()));
    let hint = near.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    ToolError::invalid_input(format!("there is no skill of this name{hint}"))
}
