//! `--input-format stream-json`: another program drives the session over
//! standard input and output.

mod agent;
mod checkpoints;
mod commands;
mod flags;
mod live;
pub(crate) mod mcp;
pub(crate) mod plugins;
mod remember;
mod sessions;

use crate::agents::{MainAgent, in_background, listed};
use crate::args::Cli;
use crate::failure::Usage;
use crate::mcp::Configured;
use crate::permissions::rules;
use crate::provider::Provider;
use crate::settings::{ProjectSettings, SettingsFlags};
use crate::terminal::clean_line;
use crate::variables::Variables;
use crate::writer::{WaitingOutput, Writer};
use agent::OpenAgents;
use clap::Parser;
use commands::LiveCommands;
use flags::Flags;
use live::{Environment, Renewable};
use mcp::{HostServers, PromptTool};
use plugins::HostPlugins;
use remember::Remembering;
use std::future::Future;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use windlass::crates::context::SystemPrompt;
use windlass::crates::project::{PluginDir, Servers};
use windlass::crates::runtime::ModelProfile;
use windlass::crates::tools::AskUserQuestion;
use windlass::{ModelProvider, PermissionMode, Permissions, SessionBuilder, Thinking, Toolkit, coding_tools, session};
use windlass_protocol::{
    FrameOptions, HostSetup, Mirror, OpenFailure, Opened, Served, Server, ServerError, ServerOptions,
};

/// The arguments, if a host wants to drive the session.
pub(crate) fn wanted(args: impl IntoIterator<Item = String>) -> Option<Flags> {
    let flags = Flags::parse(args);
    (flags.value("input-format") == Some("stream-json")).then_some(flags)
}

/// Serves a host until it is done, and returns the exit code.
pub(crate) async fn host(flags: Flags) -> anyhow::Result<i32> {
    if flags.value("output-format") != Some("stream-json") {
        return Err(Usage("--input-format stream-json needs --output-format stream-json".to_owned()).into());
    }
    let host = Host::new(flags)?;
    for note in host.notes() {
        note_to_stderr(&note);
    }
    let options = host.options();
    let server = Server::new(|setup| host.open(setup), options);
    let output = WaitingOutput::new(Writer::of_process());
    let served = server.serve(tokio::io::stdin(), output, terminated()).await;
    host.mcp.servers.close().await;
    match served {
        Ok(Served { shut_down: true, .. }) => Ok(143),
        Ok(served) => Ok(i32::from(served.is_error)),
        // A host that no longer reads knows why.
        Err(ServerError::Output(_)) => Ok(1),
        Err(error) => Err(error.into()),
    }
}

/// What the command line and the environment say. Clones share what a host may change.
#[derive(Debug, Clone)]
struct Host {
    flags: Flags,
    settings: Arc<ProjectSettings>,
    variables: Arc<Variables>,
    commands: Arc<LiveCommands>,
    mode: PermissionMode,
    bypass_allowed: bool,
    cwd: PathBuf,
    mirror: Option<Mirror>,
    mcp: Arc<HostServers>,
    /// What people should know of the mode and of the MCP servers of files.
    notes: Vec<String>,
    open_agents: Arc<Mutex<Option<OpenAgents>>>,
}

impl Host {
    fn new(flags: Flags) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir()?.canonicalize()?;
        let settings = Arc::new(settings(&flags, &cwd)?);
        let variables = Arc::new(settings.variables());
        let commands = Arc::new(LiveCommands::new(&settings, !flags.has("disable-slash-commands")));
        let skip = flags.has("dangerously-skip-permissions");
        let asked = flags.text("permission-mode").map(str::parse::<PermissionMode>).transpose().map_err(Usage)?;
        let disabled = settings.resolved.bypass_disabled.is_some();
        let launched = asked == Some(PermissionMode::BypassPermissions);
        let bypass_allowed = !disabled && (skip || launched || flags.has("allow-dangerously-skip-permissions"));
        let (mode, forbidden) = settings.within(match (skip, asked) {
            (true, _) => PermissionMode::BypassPermissions,
            (false, Some(mode)) => mode,
            (false, None) => settings.mode(bypass_allowed).unwrap_or_default(),
        });
        let mirror = sessions::mirror(&flags);
        let mcp = HostServers::start(Configured::read(flags.values("mcp-config"))?, settings.server_policy(), &cwd);
        let (mcp, mut notes) = files(mcp, &settings, flags.has("strict-mcp-config"));
        notes.extend(forbidden);
        let mcp = Arc::new(mcp);
        let open_agents = Arc::default();
        Ok(Self { flags, settings, variables, commands, mode, bypass_allowed, cwd, mirror, mcp, notes, open_agents })
    }

    /// What is accepted but has no effect.
    fn notes(&self) -> Vec<String> {
        let flags = &self.flags;
        let mut notes: Vec<String> =
            flags.unknown.iter().map(|flag| format!("{flag} is not known and has no effect")).collect();
        for ignored in ["managed-settings", "permission-prompts", "task-budget"] {
            if flags.has(ignored) {
                notes.push(format!("--{ignored} has no effect in this version"));
            }
        }
        notes.extend(self.variables.notes.iter().cloned());
        notes.extend(self.settings.notes());
        notes.extend(self.notes.iter().cloned());
        notes.extend(self.commands.current().notes.iter().map(ToString::to_string));
        notes.extend(sessions::notes(&self.flags));
        notes
    }

    fn options(&self) -> ServerOptions {
        let set = |name: &&&str| self.settings.provider_variable(name).is_some_and(|value| !value.is_empty());
        let source = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];
        let mut options = ServerOptions::default();
        options.frames = FrameOptions::default()
            .with_partial_messages(self.flags.has("include-partial-messages"))
            .with_hook_events(self.flags.has("include-hook-events"))
            .with_subagent_text(self.flags.has("forward-subagent-text"))
            .with_api_key_source(*source.iter().find(set).unwrap_or(&"none"));
        options.permission_prompts = self.flags.value("permission-prompt-tool") == Some("stdio");
        options.permission_mode = self.mode;
        options.bypass_allowed = self.bypass_allowed;
        options.background_wait = crate::background::wait();
        options.session_state = std::env::var("CLAUDE_CODE_SDK_READS_SESSION_STATE").is_ok_and(|value| value == "1");
        options.models = [
            ("default", "The default model"),
            ("opus", "For hard work"),
            ("sonnet", "For daily work"),
            ("haiku", "For quick work"),
        ]
        .map(|(name, description)| (name.to_owned(), description.to_owned()))
        .to_vec();
        options.slash_commands = !self.flags.has("disable-slash-commands");
        options.commands = commands::listed(&self.commands.current());
        options.replay_user_messages = self.flags.has("replay-user-messages");
        options.mcp_servers = self.mcp.named();
        options.mcp = Some(Arc::clone(&self.mcp) as _);
        options.plugins = Some(Arc::new(HostPlugins(self.clone())));
        options.agents = self.first_agents();
        options.mirror.clone_from(&self.mirror);
        options.session_id = self.flags.text("resume").or(self.flags.text("session-id")).map(str::to_owned);
        options
    }

    /// Opens the session as the host wants it.
    async fn open(&self, setup: HostSetup) -> Result<Opened, OpenFailure> {
        self.session(setup).await.map_err(|error| format!("{error:#}").into())
    }

    async fn session(&self, setup: HostSetup) -> anyhow::Result<Opened> {
        let provider = Arc::new(Renewable::new(self.provider(&setup)?));
        let home = sessions::home(&self.flags)?;
        let agent = self.agent(&setup)?;
        if !setup.fresh {
            agent.notes.iter().for_each(|note| note_to_stderr(note));
        }
        let said = self.flags.text("model").or(agent.model());
        let default = said.or(self.variables.model.as_deref()).or(self.settings.model());
        let default = default.unwrap_or("default").to_owned();
        let builder = self.builder(&setup, Arc::clone(&provider) as Arc<dyn ModelProvider>, &default, &agent)?;
        let agents = self.agents(&agent, &builder)?;
        let builder = sessions::keep(builder, home.as_ref(), self.mirror.as_ref());
        let builder = checkpoints::keep(builder, home.as_ref());
        let opened = builder.open_with_tools().await;
        let (session, live) = opened.map_err(|error| sessions::failure(error, &self.flags))?;
        let listed = agents.as_ref().map(listed).unwrap_or_default();
        self.keep_agents(&setup, agents, live)?;
        for notice in &session.notices {
            note_to_stderr(notice);
        }
        let kept =
            home.map(|home| sessions::Kept::new(&home, self.mirror.as_ref(), &self.cwd, session.handle.session_id()));
        let environment = Environment {
            settings: Arc::clone(&self.settings),
            provider: Arc::clone(&provider),
            handle: session.handle.clone(),
            said: Mutex::new(setup.environment.clone()),
        };
        let (tools, (prompt, append)) = (agent.keep(self.tools()), self.system_prompt(&setup, &agent)?);
        let host = self.clone();
        let opened = Opened::new(session, move |name| {
            let id = provider.resolve_model(name.unwrap_or(&default));
            let info = provider.model_info(&id);
            ModelProfile::new(id, info)
        })
        .with_commands(commands::listed(&self.commands.current()), commands::expand(Arc::clone(&self.commands)))
        .with_settings(windlass::JsonText::of(&self.settings.shown())?)
        .with_thinking(self.thinking()?)
        .with_permission_mode(self.first_mode(&agent))
        .with_agents(listed)
        .with_initial_prompt(self.initial_prompt(&agent, &setup))
        .with_context(move || live::context(prompt.clone(), &append, &host.tools_now(&tools)))
        .with_environment(move |variables| {
            if let Err(problem) = environment.take(variables) {
                note_to_stderr(&problem);
            }
        });
        Ok(match kept {
            Some(kept) => opened.with_transcript(kept.path()).with_rename(move |title| kept.rename(&title)),
            None => opened,
        })
    }

    fn provider(&self, setup: &HostSetup) -> anyhow::Result<Arc<dyn ModelProvider>> {
        let lookup =
            |name: &str| setup.environment.get(name).cloned().or_else(|| self.settings.provider_variable(name));
        let mut args = Cli::try_parse_from(["windlass"])?.run;
        args.replay = self.flags.text("replay").map(PathBuf::from);
        Ok(Provider::choose(&args, &lookup)?.model)
    }

    fn builder(
        &self,
        setup: &HostSetup,
        provider: Arc<dyn ModelProvider>,
        model: &str,
        agent: &MainAgent,
    ) -> anyhow::Result<SessionBuilder> {
        let flags = &self.flags;
        let (prompt, append) = self.system_prompt(setup, agent)?;
        let named = setup.model.clone().flatten();
        let mut builder = session()
            .provider(provider)
            .model(named.as_deref().unwrap_or(model))
            .tools(self.tools())
            .permissions(self.permissions(setup, agent)?)
            .hook(setup.hooks.clone())
            .mcp_servers(self.mcp.servers.clone())
            .system_prompt(prompt)
            .append_system_prompt(&append)
            .thinking(match setup.thinking.flatten() {
                Some(thinking) => thinking,
                None => self.thinking()?,
            })
            .git_status(self.settings.may_ask_git())
            .send_user_id(self.variables.send_user_id)
            .include_partial_messages(flags.has("include-partial-messages"))
            .entrypoint(std::env::var("CLAUDE_CODE_ENTRYPOINT").unwrap_or_else(|_| "sdk-cli".to_owned()));
        builder = self.obey(self.delegate(builder, agent).background_tasks(in_background()));
        if let Some(names) = agent.tools() {
            builder = builder.only_tools(names);
        }
        if let Some(environment) = self.settings.environment(&setup.environment) {
            builder = builder.env(environment);
        }
        for directory in flags.values("add-dir") {
            builder = builder.add_dir(directory);
        }
        for directory in self.settings.directories() {
            builder = builder.add_dir(directory);
        }
        let fallback = flags.text("fallback-model").and_then(|models| models.split(',').next());
        if let Some(model) = fallback.or(self.settings.fallback_model()) {
            builder = builder.fallback_model(model.trim());
        }
        for beta in flags.values("betas").iter().flat_map(|betas| betas.split(',')).filter(|beta| !beta.is_empty()) {
            builder = builder.beta(beta.trim());
        }
        if let Some(turns) = agent.max_turns(flags.number("max-turns")?.filter(|turns| *turns > 0)) {
            builder = builder.max_turns(turns);
        }
        if let Some(usd) = flags.number("max-budget-usd")? {
            builder = builder.max_budget_usd(usd);
        }
        let effort = flags.text("effort").map(str::parse).transpose();
        let effort = effort.map_err(|error| Usage(format!("--effort: {error}")))?;
        if let Some(effort) = effort.or(agent.effort()) {
            builder = builder.effort(effort);
        }
        let given = flags.text("json-schema").map(crate::schema::read).transpose();
        let given = given.map_err(|problem| Usage(format!("--json-schema cannot be used: {problem}")))?;
        if let Some(schema) = given.or(setup.initialize.as_ref().and_then(|said| said.json_schema.clone())) {
            builder = builder.output_schema(schema);
        }
        Ok(if setup.fresh { builder } else { sessions::choose(builder, flags) })
    }

    /// What variables say of the model's calls.
    fn obey(&self, mut builder: SessionBuilder) -> SessionBuilder {
        if let Some(retries) = self.variables.max_retries {
            builder = builder.max_retries(retries);
        }
        if let Some(retries) = self.variables.structured_output_retries {
            builder = builder.max_structured_output_retries(retries);
        }
        if let Some(tokens) = self.variables.max_output_tokens {
            builder = builder.max_output_tokens(tokens);
        }
        builder
    }

    /// The system prompt, and what goes behind it. What `initialize` says counts for more.
    fn system_prompt(&self, setup: &HostSetup, agent: &MainAgent) -> anyhow::Result<(SystemPrompt, String)> {
        let said = setup.initialize.as_ref();
        let file = self.flags.text("system-prompt-file").map(std::fs::read_to_string).transpose()?;
        let text = said
            .and_then(|said| said.system_prompt.clone())
            .or(file)
            .or_else(|| self.flags.value("system-prompt").map(str::to_owned));
        let append = said.and_then(|said| said.append_system_prompt.clone());
        let append = append.or_else(|| self.flags.text("append-system-prompt").map(str::to_owned));
        Ok((agent.system_prompt(text), append.unwrap_or_default()))
    }

    fn thinking(&self) -> Result<Thinking, Usage> {
        Ok(match (self.flags.text("thinking"), self.flags.number::<u32>("max-thinking-tokens")?) {
            (Some("adaptive"), _) => Thinking::Adaptive,
            (Some("disabled"), _) | (_, Some(0)) => Thinking::Off,
            (_, Some(tokens)) => Thinking::Budget(tokens),
            (_, None) => self.variables.thinking.unwrap_or(Thinking::Adaptive),
        })
    }

    /// The tools of `--tools`; names that are not known here are left alone. Those that
    /// are a question are offered where the host answers.
    fn tools(&self) -> Toolkit {
        let all = self.variables.tools(coding_tools(&self.cwd)).with(AskUserQuestion::default());
        match self.flags.value("tools").map(str::trim) {
            None | Some("default") => all,
            Some(names) => all.only(&names.split([',', ' ']).filter(|name| !name.is_empty()).collect::<Vec<_>>()),
        }
    }

    fn permissions(&self, setup: &HostSetup, agent: &MainAgent) -> anyhow::Result<Permissions> {
        let list = |flag: &str| {
            let values: Vec<String> = self.flags.values(flag).into_iter().map(str::to_owned).collect();
            rules(&values)
        };
        let permissions = Permissions::new()
            .mode(setup.permission_mode.unwrap_or_else(|| self.first_mode(agent)))
            .allow(list("allowedTools"))
            .deny(list("disallowedTools"));
        let permissions = agent.forbid(permissions);
        let mut permissions = if setup.fresh {
            // Answers may have been kept since the first session.
            settings(&self.flags, &self.cwd)?.add_rules(permissions)
        } else {
            self.settings.add_rules(permissions)
        };
        if self.bypass_allowed {
            permissions = permissions.allow_bypass();
        }
        let tool = self.flags.text("permission-prompt-tool").filter(|tool| *tool != "stdio");
        Ok(match &setup.permissions {
            Some(host) => {
                let files = Arc::new(self.settings.updates.clone());
                permissions.asking(Remembering::new(host.clone(), files))
            }
            None if tool.is_some() => {
                let tool = PromptTool::new(self.mcp.servers.clone(), tool.unwrap_or_default());
                permissions.asking(Remembering::new(tool, Arc::new(self.settings.updates.clone())))
            }
            None => permissions,
        })
    }
}

/// The settings that hold now.
fn settings(flags: &Flags, cwd: &Path) -> anyhow::Result<ProjectSettings> {
    let said = SettingsFlags {
        settings: flags.text("settings"),
        sources: flags.value("setting-sources"),
        trust: flags.has("trust"),
    };
    let directories = flags.values_of(&["plugin-dir", "plugin-dir-no-mcp"]).filter(|(_, path)| !path.is_empty());
    let directory = |(flag, path): (&str, &str)| match flag {
        "plugin-dir" => PluginDir::new(path),
        _ => PluginDir::new(path).without_mcp(),
    };
    Ok(ProjectSettings::of_session(cwd, &said)?.for_host().with_plugins(directories.map(directory).collect()))
}

/// Adds the MCP servers of files and plugins. Only those of plugins, which somebody named, if no others are to count.
pub(crate) fn files(mcp: HostServers, settings: &ProjectSettings, strict: bool) -> (HostServers, Vec<String>) {
    let servers = if strict { Servers::default() } else { settings.servers() };
    let notes = HostServers::notes_on_files(&servers);
    (mcp.with_files(servers, &settings.plugins()), notes)
}

fn note_to_stderr(note: &str) {
    // Nobody may read it; that must not end the session.
    let _ = writeln!(stderr(), "windlass: {}", clean_line(note));
}

/// Waits until the process is told to end.
fn terminated() -> impl Future<Output = ()> {
    #[cfg(unix)]
    return async {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()), signal(SignalKind::hangup()))
        else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    };
    #[cfg(not(unix))]
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}
