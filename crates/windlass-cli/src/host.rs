//! `--input-format stream-json`: another program drives the session over
//! standard input and output.

mod agent;
mod args;
mod checkpoints;
mod configuration;
mod flags;
mod live;
pub(crate) mod mcp;
pub(crate) mod plugins;
mod sessions;

use crate::agents;
use crate::args::RunArgs;
use crate::failure::Usage;
use crate::launch::{self, Driver};
use crate::notes::note_to_stderr;
use crate::provider::Provider;
use crate::writer::{WaitingOutput, Writer};
use agent::Wanted;
use configuration::Host;
pub(crate) use flags::Flags;
use live::{Environment, Renewable};
use mcp::{DiagnosticsTool, PromptTool};
use plugins::HostPlugins;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use windlass::options::HostOptions;
use windlass::project::Agents;
use windlass::tool::Ids as _;
use windlass::tool::SystemIds;
use windlass::{ModelProvider, Permissions, SessionBuilder, project::LoadedProject, session::Options};
use windlass_protocol::{
    FrameMapper, FrameOptions, HostModel, HostSetup, OpenFailure, Opened, Served, Server, ServerError, ServerOptions,
};

/// Returns the parsed flags if they request `--input-format stream-json`, otherwise `None`.
pub(crate) fn wanted(args: impl IntoIterator<Item = String>) -> Option<Flags> {
    let flags = Flags::parse(args);
    (flags.value("input-format") == Some("stream-json")).then_some(flags)
}

/// Serves a host until it closes the input or a signal arrives. Returns the exit code.
pub(crate) async fn host(flags: Flags) -> anyhow::Result<i32> {
    if flags.value("output-format") != Some("stream-json") {
        return Err(Usage("--input-format stream-json needs --output-format stream-json".to_owned()).into());
    }
    if flags.has("workspace") || flags.value("workspace").is_some() {
        // Refused, because ignoring it would make the agent work on the wrong machine.
        let problem = "--workspace does not go with --input-format stream-json: hosts work on this machine";
        return Err(Usage(problem.to_owned()).into());
    }
    let host = Host::new(flags)?;
    for note in host.notes() {
        note_to_stderr(&note);
    }
    if let Some(error) = host.missing_session().await {
        host.mcp.set().close().await;
        host.refuse(&error).await?;
        anyhow::bail!(error);
    }
    let options = host.options();
    let server = Server::new(|setup| host.open(setup), options);
    let output = WaitingOutput::new(Writer::of_process());
    let is_ending = AtomicBool::new(false);
    let ending = async {
        terminated().await;
        is_ending.store(true, Ordering::SeqCst);
    };
    let served = server.serve(tokio::io::stdin(), output, ending).await;
    host.mcp.set().close().await;
    match served {
        Ok(Served { shut_down: true, .. }) => Ok(143),
        Ok(served) => Ok(i32::from(served.is_error)),
        // A failed write means that the host has closed the output, so nobody would read a report.
        Err(ServerError::Output(_)) => Ok(1),
        // After a signal the exit code is 143. A failure to save is only reported.
        Err(error) if is_ending.load(Ordering::SeqCst) => {
            crate::report(&error.into());
            Ok(143)
        }
        Err(error) => Err(error.into()),
    }
}

impl Host {
    /// Returns notes about flags that are accepted but have no effect, and about commands that are left out.
    fn notes(&self) -> Vec<String> {
        let flags = &self.flags;
        let mut notes: Vec<String> =
            flags.unknown.iter().map(|flag| format!("{flag} is not known and has no effect")).collect();
        if flags.has("task-budget") {
            notes.push("--task-budget has no effect in this version".to_owned());
        }
        if !flags.has("disable-slash-commands") {
            notes.extend(self.project.commands().notes.iter().map(ToString::to_string));
        }
        notes.extend(sessions::notes(&self.flags));
        notes
    }

    /// Returns an error text if `--resume` names a session that does not exist.
    async fn missing_session(&self) -> Option<String> {
        self.flags.text("resume")?;
        let home = sessions::home(&self.flags).ok()?;
        let builder = launch::options(&self.args, &self.project, (Driver::Host, Agents::default())).ok()?;
        let builder = sessions::keep(builder, home.as_ref(), self.mirror.as_ref());
        let checked = sessions::choose(builder, &self.flags).options().find_resumed().await;
        checked.err().map(|error| format!("{:#}", sessions::failure(error, &self.flags)))
    }

    /// Writes a result with the reason why no session opens. Requests stay unanswered and the process ends, so that no
    /// host believes that the session continues.
    async fn refuse(&self, error: &str) -> std::io::Result<()> {
        // The first line is read, because a host that still writes it would get a broken pipe instead of the result.
        let mut line = String::new();
        let _ = BufReader::new(tokio::io::stdin()).read_line(&mut line).await;
        let mut mapper = FrameMapper::new(FrameOptions::default(), || SystemIds::default().bits());
        let mut out = Vec::new();
        mapper.refused(self.flags.text("resume").unwrap_or_default(), error, &mut out);
        let mut stdout = tokio::io::stdout();
        stdout.write_all(&out).await?;
        stdout.flush().await
    }

    fn options(&self) -> ServerOptions {
        // An error is ignored here, because the opening of a session reports it.
        let provider = Provider::choose(&self.args, &self.project).ok();
        let first_options = self.first_session();
        let mut options = ServerOptions::default();
        options.frames = FrameOptions::default()
            .with_partial_messages(self.flags.has("include-partial-messages"))
            .with_hook_events(self.flags.has("include-hook-events"))
            .with_edit_events(self.flags.has("include-edit-events"))
            .with_subagent_text(self.flags.has("forward-subagent-text"))
            .with_api_key_source(provider.as_ref().map_or("none", |provider| provider.key_source))
            .with_output_style(first_options.as_ref().map_or("default", Options::output_style));
        options.output_styles = self.project.output_styles();
        options.permissions.prompts =
            self.flags.value("permission-prompt-tool") == Some("stdio") && self.flags.asks_host();
        options.permissions.mode = self.mode;
        options.permissions.bypass_allowed = launch::bypass_allowed(&self.args, &self.project);
        options.permissions.auto_forbidden = self.project.resolved().permissions.auto_disabled.is_some();
        options.background_wait = crate::background::wait();
        options.reports.session_state =
            std::env::var("CLAUDE_CODE_SDK_READS_SESSION_STATE").is_ok_and(|value| value == "1");
        let default = self.flags.text("model").or(first_options.as_ref().and_then(Options::model));
        options.models = models(provider.as_ref(), default, !options.permissions.auto_forbidden);
        options.commands.enabled = !self.flags.has("disable-slash-commands");
        options.commands.known = self.slash_commands();
        options.reports.replay_user_messages = self.flags.has("replay-user-messages");
        options.mcp.named = self.mcp.named();
        options.mcp.control = Some(Arc::clone(&self.mcp) as _);
        options.plugins = Some(Arc::new(HostPlugins(self.clone())));
        options.agents = self.first_agents(first_options.as_ref());
        options.reports.mirror.clone_from(&self.mirror);
        options.session_id = self.flags.text("resume").or(self.flags.text("session-id")).map(str::to_owned);
        options
    }

    /// Opens the session that the host describes.
    async fn open(&self, setup: HostSetup) -> Result<Opened, OpenFailure> {
        self.session(setup).await.map_err(|error| format!("{error:#}").into())
    }

    async fn session(&self, setup: HostSetup) -> anyhow::Result<Opened> {
        let wanted = Wanted::of(&setup)?;
        let project = self.session_project(&setup, wanted.skills.as_deref())?;
        let provider = Arc::new(Renewable::new(self.provider(&project)?));
        let home = sessions::home(&self.flags)?;
        let builder =
            self.builder(&setup, &project, wanted.agents)?.provider(Arc::clone(&provider) as Arc<dyn ModelProvider>);
        let style = builder.options().output_style().to_owned();
        let title = wanted.title.filter(|_| setup.settings.is_fresh || sessions::begins(&self.flags));
        let builder = sessions::keep(builder, home.as_ref(), self.mirror.as_ref());
        let builder = checkpoints::keep(builder, home.as_ref());
        let opened = builder.open_conversation(&setup.settings).await;
        let (opened, live) = opened.map_err(|error| sessions::failure(error, &self.flags))?;
        let agents = live.subagents().as_ref().map(agents::listed).unwrap_or_default();
        *self.open_tools() = Some(live);
        let session = opened.session();
        for notice in &session.notices {
            note_to_stderr(notice);
        }
        let environment = Environment {
            project: project.clone(),
            provider: Arc::clone(&provider),
            handle: session.handle.clone(),
            added: Mutex::default(),
        };
        let opened = opened.with_title(title.filter(|_| home.is_some())).with_environment(move |variables| {
            if let Err(problem) = environment.take(variables) {
                note_to_stderr(&problem);
            }
        });
        Ok(Opened::from(opened)
            .with_settings(windlass::JsonText::of(&crate::settings::shown(&self.project))?)
            .with_output_style(style)
            .with_agents(agents))
    }

    /// Returns the project of a session. `Some` limits the model to these skills.
    fn session_project(&self, setup: &HostSetup, skills: Option<&[String]>) -> anyhow::Result<LoadedProject> {
        // Files may have changed since the first session.
        let project = if setup.settings.is_fresh { self.project.reread()? } else { self.project.clone() };
        let project = match skills {
            Some(skills) => project.only_skills(skills),
            None => project,
        };
        Ok(project.variables(setup.settings.environment.clone()))
    }

    fn provider(&self, project: &LoadedProject) -> anyhow::Result<Arc<dyn ModelProvider>> {
        Ok(Provider::choose(&self.args, project)?.model)
    }

    /// Returns a builder for the session that the flags and `initialize` describe, resolved with its project.
    fn builder(&self, setup: &HostSetup, project: &LoadedProject, agents: Agents) -> anyhow::Result<SessionBuilder> {
        let mut args = self.flags.run_args()?;
        if let Some(initialize) = &setup.initialize {
            // Fields of `initialize` override the flags, except the schema.
            args.model.system_prompt = initialize.system_prompt.clone().or(args.model.system_prompt);
            args.model.append_system_prompt =
                initialize.append_system_prompt.clone().or(args.model.append_system_prompt);
            args.output.json_schema = args.output.json_schema.or(initialize.json_schema.clone());
        }
        let builder = launch::options(&args, project, (Driver::Host, agents))?
            .permissions(self.permissions(setup, &args)?)
            .hook(setup.hooks.clone())
            .mcp_servers(self.mcp.set().clone());
        let builder = self.flags.more(builder)?;
        let builder = match self.flags.text("diagnostics-tool") {
            Some(tool) => {
                builder.host(HostOptions::new().diagnostics(DiagnosticsTool::new(self.mcp.set().clone(), tool)))
            }
            None => builder,
        };
        let builder = if setup.settings.is_fresh { builder } else { sessions::choose(builder, &self.flags) };
        Ok(builder.resolve()?)
    }

    fn permissions(&self, setup: &HostSetup, args: &RunArgs) -> anyhow::Result<Permissions> {
        let (permissions, _) = launch::permissions_of(args, Driver::Host)?;
        let tool = self.flags.text("permission-prompt-tool");
        let tool = tool.filter(|tool| *tool != "stdio" && self.flags.asks_host());
        Ok(match (&setup.permissions, tool) {
            (Some(host), _) => permissions.host(host.clone()),
            (None, Some(tool)) => permissions.host(PromptTool::new(self.mcp.set().clone(), tool)),
            (None, None) => permissions,
        })
    }
}

/// Returns the models that hosts offer, with the provider's limits and abilities.
fn models(provider: Option<&Provider>, default: Option<&str>, has_auto_mode: bool) -> Vec<HostModel> {
    let model = |(name, description): (&str, &str)| {
        let model = HostModel::new(name, description).with_auto_mode(has_auto_mode);
        let Some(provider) = provider.map(|provider| &provider.model) else { return model };
        let requested = if name == "default" { default.unwrap_or(name) } else { name };
        let id = provider.resolve_model(requested);
        let info = provider.model_info(&id);
        model.with_info(id, &info)
    };
    let known = [
        ("default", "The default model"),
        ("opus", "For hard work"),
        ("sonnet", "For daily work"),
        ("haiku", "For quick work"),
    ];
    known.into_iter().map(model).collect()
}

/// Waits for a signal that ends the process.
pub(crate) fn terminated() -> impl Future<Output = ()> {
    #[cfg(unix)]
    return async {
        match crate::signals::EndSignals::listen() {
            Ok(mut signals) => drop(signals.next().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}
