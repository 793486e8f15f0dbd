//! Skills in sessions: the list that the model reads, and the tool that reads one.

use super::LoadedProject;
use crate::storage::allow_reading_below;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::FileInstructions;
use windlass_hook_runner::ConfiguredHook;
use windlass_permission::Policy;
use windlass_project::{Command, CommandError, CommandSource, CommandUse, Commands, Fork, Skill};
use windlass_runtime::{Prompt, SessionError, SessionHandle};
use windlass_subagent::AGENT_TOOL_NAME;
use windlass_tool::{DynTool, ToolCx, ToolError, ToolOutput, schemars, tool_fn_with};
use windlass_types::names;
use windlass_types::near::nearest;
use windlass_types::{Access, ContentBlock, ContextChange, RunModel, SessionId};

/// The name of the tool.
pub(crate) const SKILL_TOOL: &str = "Skill";
const DESCRIPTION: &str = "Reads a skill: instructions, written by people, for a kind of work. The list of skills says what each is \
                           for. Use one when it fits the task, then follow what it says. Files that it names lie in its directory.";

/// Note after the text of a skill that names programs: the model runs them like any others.
const PROGRAMS: &str =
    "\n\nWhere this text has !`command`, run the command with Bash and read its output in that place.";
/// Agent for a skill that runs in an agent and names none.
const GENERAL: &str = "general-purpose";

/// Maximum number of sessions whose listed skills are remembered.
const MAX_SESSIONS: usize = 1_024;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "windlass_tool::schemars")]
struct Input {
    /// The name of the skill, as it is listed.
    skill: String,
    /// What the skill is to work on, if it takes anything.
    args: Option<String>,
}

impl LoadedProject {
    /// Tool that reads skills. `None` if the model has none.
    pub(crate) fn skill_tool(&self) -> Option<Arc<dyn DynTool>> {
        offers(&self.of_main_agent(self.commands())).then_some(())?;
        let read = |project: Arc<Self>, input: Input, cx: ToolCx| async move {
            let commands = project.current_commands();
            let commands = if is_main(&cx) { project.of_main_agent(commands) } else { commands };
            read(&commands, &input, &cx, |skill, args| project.text(skill, args, cx.session_id()))
        };
        Some(Arc::new(tool_fn_with(SKILL_TOOL, DESCRIPTION, self.clone(), read).with_access(Access::NOTHING)))
    }

    /// Commands that the model of the main agent may use.
    fn of_main_agent(&self, commands: Arc<Commands>) -> Arc<Commands> {
        match &self.choice.only_skills {
            Some(names) => Arc::new(Commands::clone(&commands).only_for_models(names)),
            None => commands,
        }
    }

    /// Text of a skill for the model, with its scope.
    fn text(&self, skill: &Command, args: &str, session: &SessionId) -> Result<Text, CommandError> {
        let folder = self.extracted(skill);
        let mut used = self.used(args, Some(session));
        used.skill_directory = folder.as_deref();
        Text::of(skill, &used)
    }

    /// List of skills for the model of a session that is offered the tool.
    pub(crate) fn skill_list(&self, session: &SessionId) -> Option<FileInstructions> {
        let commands = self.of_main_agent(self.commands());
        let lines: BTreeMap<String, String> =
            commands.listed().map(|skill| (skill.name.clone(), skill.listing())).collect();
        let list = FileInstructions::skills(SKILL_TOOL, lines.iter().map(|(name, line)| (name.as_str(), line.clone())));
        let mut listed = self.shared.listed_skills.lock();
        if listed.len() < MAX_SESSIONS {
            listed.insert(session.clone(), lines);
        }
        list
    }

    /// News about skills for the model of a session: added, removed and changed skills, and those for these files.
    pub(super) fn skill_news(&self, session: &SessionId, paths: &[PathBuf]) -> Option<FileInstructions> {
        let commands = self.of_main_agent(self.current_commands());
        let mut listed = self.shared.listed_skills.lock();
        let known = listed.get_mut(session)?;
        let now = commands.listed().chain(commands.listed_for(paths, &self.places().project));
        let mut news: BTreeMap<String, String> = now.map(|skill| (skill.name.clone(), skill.listing())).collect();
        news.retain(|name, line| known.get(name) != Some(line));
        let removed: Vec<String> =
            known.keys().filter(|name| !commands.for_models().any(|skill| skill.name == **name)).cloned().collect();
        for name in removed {
            known.remove(&name);
            news.insert(name, "This skill is not there any more.".to_owned());
        }
        let list = FileInstructions::skills(SKILL_TOOL, news.iter().map(|(name, line)| (name.as_str(), line.clone())));
        news.retain(|name, _| commands.for_models().any(|skill| skill.name == *name));
        known.extend(news);
        list
    }

    /// Checks the files of commands and skills for changes and applies them. The model of the session reads the news
    /// with its next prompt. The tool for skills does this too, and so does [`expand`](Self::expand). Call it before
    /// prompts of a long-lived session. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The session is closed.
    pub fn refresh_skills(&self, session: &SessionHandle) -> Result<(), SessionError> {
        match self.skill_news(session.session_id(), &[]) {
            Some(news) => session.add_instructions(vec![news]),
            None => Ok(()),
        }
    }

    /// Lets calls read the folders of skills without a permission request. Those of the project are in the workspace.
    pub(crate) fn allow_reading_skills(&self, policy: &mut Policy, cwd: &Path) {
        allow_reading(&self.commands(), policy, cwd);
        if let Some(folder) = self.bundled_folder() {
            allow_reading_below(policy, &folder, cwd);
        }
    }

    /// Directory of extracted bundled skills.
    fn bundled_folder(&self) -> Option<PathBuf> {
        let home = self.read.request.home_of()?;
        Some(home.root().join("bundled-skills").join(env!("CARGO_PKG_VERSION")))
    }

    /// Folder of a bundled skill, which is extracted if necessary. `None` for another skill, or if there is no home to
    /// write to.
    pub(super) fn extracted(&self, skill: &Command) -> Option<PathBuf> {
        if skill.source != CommandSource::Bundled {
            return None;
        }
        let extracted = skill.extracted(&self.bundled_folder()?);
        extracted.unwrap_or_else(|problem| {
            let text = format!("the files of /{} cannot be written: {problem}", skill.name);
            self.note(super::ProjectNoticeKind::Setting, text);
            None
        })
    }
}

/// Skills that a program gives to a session without a project.
#[derive(Debug, Clone)]
pub(crate) struct GivenSkills {
    commands: Arc<Commands>,
    directories: Arc<[PathBuf]>,
}

impl GivenSkills {
    /// Skills for a session in this directory.
    pub(crate) fn new(skills: &[Skill], directory: Option<PathBuf>) -> Self {
        let directories = directory.into_iter().collect();
        Self { commands: Arc::new(Commands::default().with_given(skills)), directories }
    }

    /// Notices about unusable skills.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.commands.notes.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn tool(&self) -> Option<Arc<dyn DynTool>> {
        offers(&self.commands).then_some(())?;
        let read = |given: Arc<Self>, input: Input, cx: ToolCx| async move {
            let text = |skill: &Command, args: &str| Text::of(skill, &given.used(args, Some(cx.session_id())));
            read(&given.commands, &input, &cx, text)
        };
        Some(Arc::new(tool_fn_with(SKILL_TOOL, DESCRIPTION, self.clone(), read).with_access(Access::NOTHING)))
    }

    /// List of the skills for a model that is offered the tool.
    pub(crate) fn list(&self) -> Option<FileInstructions> {
        let skills = self.commands.listed().map(|skill| (skill.name.as_str(), skill.listing()));
        FileInstructions::skills(SKILL_TOOL, skills)
    }

    pub(crate) fn allow_reading(&self, policy: &mut Policy, cwd: &Path) {
        allow_reading(&self.commands, policy, cwd);
    }

    pub(crate) fn hooks(&self) -> Vec<ConfiguredHook> {
        super::hooks::of_commands(&self.commands)
    }

    /// Expands a prompt that names a skill; others are returned unchanged.
    pub(crate) fn expand(&self, prompt: Prompt, session: Option<&SessionId>) -> Result<Prompt, CommandError> {
        let Some((name, arguments)) = named(&prompt) else { return Ok(prompt) };
        self.commands.check(name)?;
        let Some(skill) = self.commands.get(name) else { return Ok(prompt) };
        Ok(for_users(skill, skill.prompt(&self.used(arguments, session))?))
    }

    fn used<'a>(&'a self, arguments: &'a str, session: Option<&'a SessionId>) -> CommandUse<'a> {
        let mut used = CommandUse::with(arguments);
        used.session = session.map(SessionId::as_str).unwrap_or_default();
        used.project = &self.directories;
        used
    }
}

/// Command that a prompt names, and the text after the name.
pub(crate) fn named(prompt: &Prompt) -> Option<(&str, &str)> {
    let [ContentBlock::Text { text, .. }] = prompt.content.as_slice() else { return None };
    let called = text.strip_prefix('/')?;
    Some(called.split_once(char::is_whitespace).unwrap_or((called, "")))
}

/// `true` if the model of a session is offered skills.
fn offers(commands: &Commands) -> bool {
    commands.for_models().any(|skill| skill.skill.as_ref().is_some_and(|skill| skill.listed))
}

fn allow_reading(commands: &Commands, policy: &mut Policy, cwd: &Path) {
    let elsewhere = commands.commands.iter().filter(|command| command.source != CommandSource::Project);
    for directory in elsewhere.filter_map(Command::directory) {
        allow_reading_below(policy, directory, cwd);
    }
}

/// Text of a skill for the model.
struct Text {
    body: String,
    /// Scope of the run that uses the skill.
    scope: windlass_types::RunScope,
    /// `true` if programs in the text are to be run.
    has_programs: bool,
}

impl Text {
    fn of(skill: &Command, used: &CommandUse<'_>) -> Result<Self, CommandError> {
        let mut body = skill.expand(used)?;
        if let Some(directory) = skill.directory().or(used.skill_directory) {
            body = format!("Directory of this skill: {}\n\n{body}", directory.display());
        }
        let has_programs = !skill.programs().is_empty() && !used.without_programs;
        Ok(Self { body, scope: skill.run_scope(used), has_programs })
    }
}

fn read(
    commands: &Commands,
    input: &Input,
    cx: &ToolCx,
    text: impl FnOnce(&Command, &str) -> Result<Text, CommandError>,
) -> Result<ToolOutput, ToolError> {
    let name = names::skill(&input.skill);
    commands.check(name).map_err(|error| ToolError::rejected(error.to_string()))?;
    let Some(skill) = commands.for_models().find(|skill| skill.name == name) else {
        return Err(unknown(commands, name));
    };
    let text = text(skill, input.args.as_deref().unwrap_or_default());
    let Text { mut body, mut scope, has_programs } =
        text.map_err(|error| ToolError::invalid_input(error.to_string()))?;
    if has_programs {
        body.push_str(PROGRAMS);
    }
    let delegates = cx.agents().is_ok_and(|agents| agents.depth() == 0);
    if let Some(fork) = skill.fork.as_ref().filter(|_| delegates) {
        body = delegated(fork, scope.model.take().as_ref()) + &body;
    }
    let output = ToolOutput::text(body);
    Ok(if scope.is_empty() { output } else { output.with_change(ContextChange::Scope(Box::new(scope))) })
}

/// `true` unless the call is one of a subagent.
fn is_main(cx: &ToolCx) -> bool {
    !cx.agents().is_ok_and(|agents| agents.depth() > 0)
}

/// Prompt of a skill called by a user: for a skill that runs in an agent, it asks for that.
pub(super) fn for_users(skill: &Command, mut prompt: Prompt) -> Prompt {
    if let Some(fork) = &skill.fork {
        let lead = delegated(fork, prompt.scope.model.take().as_ref());
        prompt = super::prompt::behind(lead, prompt);
    }
    prompt
}

/// Instruction before the text of a skill that a subagent is to carry out.
fn delegated(fork: &Fork, model: Option<&RunModel>) -> String {
    let agent = fork.agent.as_deref().unwrap_or(GENERAL);
    let model = match model {
        Some(RunModel::Named(name)) => format!(" and the model {name:?}"),
        _ => String::new(),
    };
    format!(
        "An agent is to carry this out. Call the tool {AGENT_TOOL_NAME} with the type {agent:?}{model}, and give it all that \
         follows as its prompt; then answer with what it reports.\n\n"
    )
}

fn unknown(commands: &Commands, name: &str) -> ToolError {
    let near = nearest(name, commands.for_models().map(|skill| skill.name.as_str()));
    let hint = near.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    ToolError::invalid_input(format!("there is no skill of this name{hint}"))
}
