//! Mapping of the command line to the library's options, shared by `-p` and hosts.

use crate::args::{OutputFormat, PermissionArgs, RunArgs, SettingsArgs};
use crate::elsewhere::Elsewhere;
use crate::failure::{Usage, of_project};
use crate::files::text_or_file;
use crate::permissions::{permissions, rules};
use crate::programs::{PROGRAM_TOOL, with_programs};
use crate::web::with_web_of_session;
use std::path::{Path, PathBuf};
use windlass::conversation::ConversationOptions;
use windlass::lsp::Lsp;
use windlass::options::{
    ContextOptions, HostOptions, LimitOptions, ModelOptions, NameChecks, StorageOptions, ToolSetOptions,
    WorkspaceOptions,
};
use windlass::project::ProjectSearch;
use windlass::project::{Agents, MEMORY_TOOL, SettingSources};
use windlass::tool::AGENT_TOOL_NAME;
use windlass::tool::built_in::{AskUserQuestion, Bash, PreviewFormat};
use windlass::{
    PermissionMode, Permissions, Project, SessionBuilder, Subagents, SystemPrompt, coding_tools,
    project::LoadedProject, provider::UnpricedModels, session, tool::Toolkit,
};

/// The tool that searches the project.
const SEARCH_TOOL: &str = <ProjectSearch as windlass::tool::Tool>::NAME;

/// The tool that asks language servers.
const LSP_TOOL: &str = <Lsp as windlass::tool::Tool>::NAME;

/// The variable by which SDKs pass their option `toolConfig.askUserQuestion.previewFormat`.
const PREVIEW_FORMAT: &str = "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT";

/// The former name of the tool for agents, which lists may still contain.
const OLD_AGENT_TOOL_NAME: &str = "Task";

/// The driver of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Driver {
    /// A person, with `-p`: an error in the command line ends the command.
    Person,
    /// A person in a conversation at the terminal, who can be asked.
    Terminal,
    /// A program. It may be of another version, so unknown values are ignored.
    Host,
}

/// Returns the project of a session that starts in `cwd`, a path with links followed, before it is read.
pub(crate) fn project(args: &SettingsArgs, cwd: &Path) -> Result<Project, Usage> {
    let mut project = Project::at(cwd).environment(std::env::vars_os()).trust(args.trust);
    if let Some(names) = &args.setting_sources {
        let sources = names.parse::<SettingSources>();
        project = project.sources(sources.map_err(|problem| Usage(format!("--setting-sources: {problem}")))?);
    }
    if let Some(settings) = &args.managed_settings {
        project = project.managed_settings(settings);
    }
    if let Ok(program) = std::env::current_exe() {
        project = project.sandbox_helper(program);
    }
    Ok(match &args.settings {
        Some(settings) => project.settings(settings),
        None => project,
    })
}

/// Reads the project of a session.
pub(crate) fn load(args: &RunArgs, cwd: &Path, driver: Driver) -> anyhow::Result<LoadedProject> {
    wanted(args, cwd, driver)?.load().map_err(of_project)
}

/// Reads the project of a session that a person starts in `cwd` and whose files may be on another machine.
pub(crate) async fn load_there(
    args: &RunArgs,
    cwd: &Path,
    elsewhere: Option<&Elsewhere>,
) -> anyhow::Result<LoadedProject> {
    moved(wanted(args, cwd, Driver::Person)?, elsewhere).await
}

/// Reads a project whose files may be on another machine.
pub(crate) async fn moved(project: Project, elsewhere: Option<&Elsewhere>) -> anyhow::Result<LoadedProject> {
    let Some(there) = elsewhere else { return project.load().map_err(of_project) };
    let (files, home) = (there.remote.workspace(), there.remote.home());
    let project = project.elsewhere(&*files, &there.directory, home).await.map_err(of_project)?;
    project.load().map_err(of_project)
}

/// Returns the project of a session before it is read.
fn wanted(args: &RunArgs, cwd: &Path, driver: Driver) -> Result<Project, Usage> {
    let mut project = project(&args.settings, cwd)?
        .plugins(args.plugins.directories())
        .file_servers(!args.mcp.strict_mcp_config)
        .subagents(offers_agents(args.offered.tools.as_deref()))
        .memory(has_memory(args))
        .index_tool(offers(args.offered.tools.as_deref(), SEARCH_TOOL))
        .lsp_tool(offers(args.offered.tools.as_deref(), LSP_TOOL));
    if driver == Driver::Host {
        project = project.in_claude_folder();
    }
    if let Some(name) = args.model.agent.as_deref() {
        project = project.agent(name);
    }
    Ok(project)
}

/// Returns the options of a session, except its model provider, the callback for questions, and the place of its log.
/// Agents that the host defines override those of the command line.
pub(crate) fn options(
    args: &RunArgs,
    project: &LoadedProject,
    (driver, defined): (Driver, Agents),
) -> anyhow::Result<SessionBuilder> {
    let cwd = project.places().start().to_path_buf();
    let project = project.clone().agents(defined.or(agents(args.model.agents.as_deref())?));
    let tools = with_background(tools(args, cwd, driver)?, &project, driver);
    let entrypoint = if driver == Driver::Host { "sdk-cli" } else { "cli" };
    let mut builder = session()
        .project(project)
        .model(ModelOptions::new().thinking_keywords(true))
        .context(ContextOptions::new().mentions(true))
        .tools(tools)
        .host(
            HostOptions::new()
                .partial_messages(
                    args.output.include_partial_messages && args.output.output_format == OutputFormat::StreamJson,
                )
                .hook_events(args.output.include_hook_events && args.output.output_format == OutputFormat::StreamJson),
        )
        .storage(
            StorageOptions::new()
                .entrypoint(std::env::var("CLAUDE_CODE_ENTRYPOINT").unwrap_or_else(|_| entrypoint.to_owned())),
        );
    if driver == Driver::Host {
        builder = builder.names(NameChecks::Off);
    }
    if let Ok(program) = std::env::current_exe() {
        builder = builder.workspace(WorkspaceOptions::new().sandbox_helper(program));
    }
    if offers_agents(args.offered.tools.as_deref()) {
        builder = builder.subagents(Subagents::new().background_by_default(driver == Driver::Host));
    }
    for directory in &args.permissions.add_dir {
        builder = builder.workspace(WorkspaceOptions::new().add_dir(directory));
    }
    if let Some(model) = &args.model.model {
        builder = builder.model(model);
    }
    // The first model of a list takes over.
    let fallback = args.model.fallback_model.as_deref().and_then(|models| models.split(',').next());
    if let Some(model) = fallback {
        builder = builder.model(ModelOptions::new().fallback(model.trim()));
    }
    if let Some(turns) = args.model.max_turns {
        builder = builder.max_turns(turns);
    }
    if let Some(usd) = args.model.max_budget_usd {
        builder = builder.max_budget_usd(usd).limits(LimitOptions::new().unpriced_models(UnpricedModels::Allow));
    }
    if let Some(effort) = args.model.effort {
        builder = builder.model(ModelOptions::new().effort(effort));
    }
    if let Some(schema) = &args.output.json_schema {
        builder = builder.tools(ToolSetOptions::new().output_schema(schema.clone()));
    }
    if let Some(text) = &args.model.system_prompt {
        builder = builder.system_prompt(SystemPrompt::Custom(text.clone()));
    }
    if let Some(text) = &args.model.append_system_prompt {
        builder = builder.context(ContextOptions::new().append_system_prompt(text));
    }
    Ok(builder)
}

/// Returns the permissions that the command line sets, with warnings about its rules.
pub(crate) fn permissions_of(args: &RunArgs, driver: Driver) -> Result<(Permissions, Vec<String>), Usage> {
    let (mut permissions, notes) = match driver {
        Driver::Person | Driver::Terminal => permissions(&args.permissions)?,
        Driver::Host => {
            let PermissionArgs { allowed_tools, disallowed_tools, .. } = &args.permissions;
            (Permissions::new().allow(rules(allowed_tools)).deny(rules(disallowed_tools)), Vec::new())
        }
    };
    let own_path = std::env::current_exe().ok();
    if let Some(name) = own_path.as_deref().and_then(Path::file_name) {
        permissions = permissions.own_command(name.to_string_lossy());
    }
    if args.bypass_allowed() {
        permissions = permissions.allow_bypass();
    }
    if args.asks.wait_for_answers {
        permissions = permissions.wait_for_answers();
    }
    Ok((args.chosen_mode().into_iter().fold(permissions, Permissions::mode), notes))
}

/// Returns the initial mode of a session whose agent sets none.
pub(crate) fn first_mode(args: &RunArgs, project: &LoadedProject) -> PermissionMode {
    let bypass = bypass_allowed(args, project);
    project.permitted_mode(args.chosen_mode().unwrap_or_else(|| project.mode(bypass).unwrap_or_default()))
}

/// Returns `true` if the mode may be bypassPermissions.
pub(crate) fn bypass_allowed(args: &RunArgs, project: &LoadedProject) -> bool {
    args.bypass_allowed() && project.resolved().permissions.bypass_disabled.is_none()
}

/// Returns the options of a conversation with a person or an editor.
pub(crate) fn conversation_options(args: &RunArgs, project: &LoadedProject) -> ConversationOptions {
    let mut options = ConversationOptions::default();
    options.permission_mode = first_mode(args, project);
    options.bypass_allowed = bypass_allowed(args, project);
    options.auto_forbidden = project.resolved().permissions.auto_disabled.is_some();
    options.has_commands = true;
    options.commands = project.slash_commands();
    options.background_wait = crate::background::wait();
    options
}

/// Returns the agents of `--agents`: JSON text, or a file with it.
pub(crate) fn agents(given: Option<&str>) -> Result<Agents, Usage> {
    let Some(given) = given.filter(|given| !given.trim().is_empty()) else { return Ok(Agents::default()) };
    let text = text_or_file(given).map_err(|error| Usage(format!("--agents {given}: {error}")))?;
    Agents::parse(&text).map_err(|error| Usage(format!("--agents: {error}")))
}

/// Returns the tools of `--tools` and `--programs`. Tools that ask a question are offered if a host answers.
fn tools(args: &RunArgs, cwd: PathBuf, driver: Driver) -> Result<Toolkit, Usage> {
    let mut all = with_web_of_session(coding_tools(cwd));
    if driver != Driver::Person {
        let named = std::env::var(PREVIEW_FORMAT).ok().filter(|name| !name.is_empty());
        all = match named.map(|name| name.parse::<PreviewFormat>()) {
            None => all.with(AskUserQuestion::default()),
            Some(Ok(format)) => all.with(AskUserQuestion::default().with_previews(format)),
            Some(Err(unknown)) => return Err(Usage(format!("{PREVIEW_FORMAT}: {unknown}"))),
        };
    }
    if let Some(names) = listed(args.offered.tools.as_deref()) {
        // The tools of the task list by single calls are offered only if they are named.
        all = all.with_task_list();
        let mut known: Vec<String> = all.tools().iter().map(|tool| tool.name().into_owned()).collect();
        known.splice(..0, [AGENT_TOOL_NAME, LSP_TOOL, MEMORY_TOOL, SEARCH_TOOL].map(str::to_owned));
        known.extend(args.offered.programs.then(|| PROGRAM_TOOL.to_owned()));
        let is_known = |name: &str| known.iter().any(|known| known == name) || is_agent_tool(name);
        if let Some(unknown) = names.iter().find(|name| driver != Driver::Host && !is_known(name)) {
            return Err(Usage(format!("there is no tool {unknown:?}: --tools takes {}", known.join(", "))));
        }
        all = all.only(&names);
    }
    if args.offered.programs { with_programs(all) } else { Ok(all) }
}

/// Lets a person move the running command to the background, unless settings or variables decide on Bash.
fn with_background(tools: Toolkit, project: &LoadedProject, driver: Driver) -> Toolkit {
    let is_decided = project.bash().is_some() || project.resolved().session.background_long_commands.is_some();
    if driver != Driver::Terminal || is_decided {
        return tools;
    }
    tools.replacing(Bash::new().with_moves_to_background(true))
}

/// Returns the names in the value of `--tools`; `None` if it means all.
fn listed(names: Option<&str>) -> Option<Vec<&str>> {
    match names.map(str::trim) {
        None | Some("default") => None,
        Some(names) => Some(names.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).collect()),
    }
}

/// Returns `true` if `--tools` leaves the model the tool that gives tasks to agents.
pub(crate) fn offers_agents(tools: Option<&str>) -> bool {
    listed(tools).is_none_or(|names| names.into_iter().any(is_agent_tool))
}

/// Returns `true` if the flags leave the session a memory.
pub(crate) fn has_memory(args: &RunArgs) -> bool {
    args.elsewhere.workspace.is_none()
        && !args.session.no_session_persistence
        && offers(args.offered.tools.as_deref(), MEMORY_TOOL)
}

/// Returns `true` if `--tools` leaves the model the tool of this name.
fn offers(tools: Option<&str>, name: &str) -> bool {
    listed(tools).is_none_or(|names| names.contains(&name))
}

fn is_agent_tool(name: &str) -> bool {
    [AGENT_TOOL_NAME, OLD_AGENT_TOOL_NAME].contains(&name)
}

#[cfg(test)]
mod tests;
