//! `windlass -p`.

use crate::agents::{MainAgent, in_background, is_agent_tool, is_offered};
use crate::args::{OutputFormat, RunArgs};
use crate::ask::AskAtTerminal;
use crate::failure::{Usage, of_result, of_start};
use crate::host::files;
use crate::host::mcp::HostServers;
use crate::host::plugins::Listed;
use crate::mcp::Configured;
use crate::output::{Output, OutputOptions};
use crate::permissions::permissions;
use crate::prompt;
use crate::provider::Provider;
use crate::settings::{ProjectSettings, current_directory};
use crate::signals::Signals;
use crate::terminal::{Terminal, clean};
use crate::variables::Variables;
use crate::writer::Writer;
use std::future::poll_fn;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use windlass::crates::mcp::McpServerState;
use windlass::crates::subagent::AGENT_TOOL_NAME;
use windlass::{
    Error, Event, EventKind, Home, McpServers, Outcome, PermissionMode, Query, Run, RunResult, Toolkit, coding_tools,
    query,
};

/// How long background work may go on before it is said that it is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs a prompt and returns the exit code.
pub(crate) async fn run(args: RunArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let writer = Writer::of_process();
    let signals = Signals::listen(writer.clone());
    let ran = run_to_end(args, terminal, &signals, &writer).await;
    let written = writer.finish().await;
    let result = ran?;
    written?;
    Ok(exit_code(result.as_ref(), &signals))
}

/// Runs a prompt and shows everything; what it came to.
async fn run_to_end(
    args: RunArgs,
    terminal: Terminal,
    signals: &Signals,
    writer: &Writer,
) -> anyhow::Result<Option<RunResult>> {
    let cwd = current_directory()?;
    let settings = ProjectSettings::of_session(&cwd, &args.settings.flags())?.with_plugins(args.plugins.directories());
    let provider = Provider::choose(&args, &|name| settings.provider_variable(name))?;
    let variables = settings.variables();
    let tools = variables.tools(tools(args.tools.as_deref(), cwd.clone())?);
    let agent = MainAgent::choose(&args.agent_flags(), &settings, &tools)?;
    let prompt = first_prompt(&args, &settings, &agent, terminal.stdin)?;
    let options = OutputOptions {
        format: args.output_format,
        verbose: args.verbose,
        partial: args.include_partial_messages,
        structured: args.json_schema.is_some(),
        key_source: provider.key_source,
        terminal,
    };
    let mut output = Output::new(options, writer.clone());
    output.lists_plugins(Arc::new(Listed(settings.plugins())));
    output.lists_agents(agent.below().definitions().map(|agent| agent.name.clone()).collect());
    let asker = terminal.can_ask().then(AskAtTerminal::new);
    let servers = servers(&args, &settings, &cwd, &mut output)?;
    let mut query = query(prompt).provider(Arc::clone(&provider.model)).tools(tools);
    if let Some(servers) = &servers {
        query = query.mcp_servers(servers.clone());
    }
    if is_offered(args.tools.as_deref()) {
        query = query.subagents(agent.below().clone());
    }
    if let Some(names) = agent.tools() {
        query = query.only_tools(names);
    }
    for note in agent.notes.iter().chain(&variables.notes) {
        output.note(note)?;
    }
    let query = obey(query, &variables, &settings);
    let query = configure(query, &args, (&settings, &agent), &mut output, asker.as_ref())?;
    let mut run = query.stream();
    match run.handle().await {
        Ok(handle) => signals.watch(handle),
        Err(error) => {
            let id = args.resume.as_deref().or(args.session_id.as_deref()).unwrap_or_default();
            output.refused(id, &error.to_string())?;
            return Err(of_start(error));
        }
    }
    for notice in run.notices().to_vec() {
        output.note(&notice)?;
    }
    if let Some(servers) = &servers {
        note_missing(servers, &mut output)?;
    }
    let watched = watch(&mut run, &mut output, writer, asker.as_ref()).await;
    if let Some(servers) = &servers {
        servers.close().await;
    }
    let result = match watched {
        Ok(result) => result,
        Err(error) => {
            // The reader is gone or the store refused: what was acknowledged is kept, the rest stops.
            if let Ok(handle) = run.handle().await {
                // The first error says more than a second one.
                let _ = handle.close().await;
            }
            return Err(error);
        }
    };
    output.end(result.as_ref())?;
    provider.finish()?;
    Ok(result)
}

/// The prompt, behind what the agent begins a new session with.
fn first_prompt(
    args: &RunArgs,
    settings: &ProjectSettings,
    agent: &MainAgent,
    stdin_is_terminal: bool,
) -> anyhow::Result<String> {
    let initial = agent.initial_prompt().filter(|_| args.resume.is_none() && !args.r#continue);
    let prompt = settings.prompt(prompt::read(args, stdin_is_terminal, initial.is_some())?)?;
    let Some(initial) = initial else { return Ok(prompt) };
    let initial = settings.prompt(initial.to_owned())?;
    Ok(if prompt.trim().is_empty() { initial } else { format!("{initial}\n\n{prompt}") })
}

/// The MCP servers of the command line, of plugins and of files, which begin to connect.
fn servers(
    args: &RunArgs,
    settings: &ProjectSettings,
    cwd: &Path,
    output: &mut Output,
) -> anyhow::Result<Option<McpServers>> {
    let configured = Configured::read(args.mcp.mcp_config.iter().map(String::as_str))?;
    for (_, problem) in &configured.problems {
        output.note(problem)?;
    }
    let none = configured.servers.is_empty() && configured.problems.is_empty();
    let servers = HostServers::start(configured, settings.server_policy(), cwd);
    let (servers, notes) = files(servers, settings, args.mcp.strict_mcp_config);
    for note in &notes {
        output.note(note)?;
    }
    if none && servers.has_no_files() {
        return Ok(None);
    }
    servers.begin_files();
    let set = servers.servers.clone();
    output.lists_mcp_servers(Arc::new(servers));
    Ok(Some(set))
}

/// Says which servers do not answer, and why: the run goes on without their tools.
fn note_missing(servers: &McpServers, output: &mut Output) -> std::io::Result<()> {
    for server in servers.status() {
        let of = |why: &str| format!("the MCP server {:?} {why}", server.name);
        let note = match server.state {
            McpServerState::Pending => of("has not answered yet; its tools come when it does"),
            McpServerState::NeedsAuth => of("wants a login: give it a header with a token in its configuration"),
            // The error names it.
            McpServerState::Failed => server.error.clone().unwrap_or_else(|| of("failed")),
            _ => continue,
        };
        output.note(&note)?;
    }
    Ok(())
}

/// Shows a run until its end. A reader that takes its time holds up the events, and nothing else.
async fn watch(
    run: &mut Run,
    output: &mut Output,
    writer: &Writer,
    asker: Option<&AskAtTerminal>,
) -> anyhow::Result<Option<RunResult>> {
    let (mut result, mut told) = (None, false);
    loop {
        writer.room().await?;
        let event = match ready_event(run).await {
            Some(ready) => ready,
            None => {
                // Nothing more is there: whoever reads our output should not wait for it.
                output.flush()?;
                // Behind an answer it would look as if nothing went on.
                let patience = if result.is_some() && !told { PATIENCE } else { Duration::MAX };
                tokio::select! {
                    next = tokio::time::timeout(patience, run.next()) => match next {
                        Ok(event) => event,
                        Err(_) => {
                            told = true;
                            output.note("waiting for work in the background; Ctrl-C ends it")?;
                            continue;
                        }
                    },
                    // Who has stopped reading would not see what comes.
                    error = writer.failed() => return Err(error.into()),
                }
            }
        };
        match event {
            Ok(Some(event)) => {
                match asker {
                    Some(asker) => {
                        let _screen = asker.screen().await;
                        output.event(&event)?;
                        output.flush()?;
                        // A question is the last thing on the screen.
                        writer.written().await?;
                        if matches!(event.kind, EventKind::PermissionRequested(_)) {
                            asker.shown();
                        }
                    }
                    None => output.event(&event)?,
                }
                if event.agent.is_main()
                    && let EventKind::RunFinished(finished) = event.kind
                {
                    result = Some(finished);
                }
            }
            Ok(None) => return Ok(result),
            Err(error) => {
                output.end(None)?;
                return Err(match &result {
                    // The result has said it already.
                    Some(result) => anyhow::anyhow!(of_result(result).unwrap_or_else(|| error.to_string())),
                    None => of_start(error),
                });
            }
        }
    }
}

/// The next event if it is there already.
async fn ready_event(run: &mut Run) -> Option<Result<Option<Event>, Error>> {
    poll_fn(|cx| {
        let polled = futures_core::Stream::poll_next(Pin::new(&mut *run), cx);
        Poll::Ready(match polled {
            Poll::Ready(event) => Some(event.transpose()),
            Poll::Pending => None,
        })
    })
    .await
}

/// What variables and settings say of the model's calls. What the command line says comes later, and counts for more.
fn obey(mut query: Query, variables: &Variables, settings: &ProjectSettings) -> Query {
    if let Some(model) = variables.model.as_deref().or(settings.model()) {
        query = query.model(model);
    }
    query = query.send_user_id(variables.send_user_id);
    if let Some(retries) = variables.max_retries {
        query = query.max_retries(retries);
    }
    if let Some(retries) = variables.structured_output_retries {
        query = query.max_structured_output_retries(retries);
    }
    if let Some(tokens) = variables.max_output_tokens {
        query = query.max_output_tokens(tokens);
    }
    if let Some(thinking) = variables.thinking {
        query = query.thinking(thinking);
    }
    query
}

/// Everything that the command line says about a run.
fn configure(
    mut query: Query,
    args: &RunArgs,
    (settings, agent): (&ProjectSettings, &MainAgent),
    output: &mut Output,
    asker: Option<&AskAtTerminal>,
) -> anyhow::Result<Query> {
    let bypass_allowed = args.bypass_allowed() && settings.resolved.bypass_disabled.is_none();
    let (mut permissions, notes) = permissions(&args.permissions, bypass_allowed)?;
    let (mode, forbidden) = settings.within(match args.permissions.permission_mode {
        _ if args.dangerously_skip_permissions => PermissionMode::BypassPermissions,
        Some(mode) => mode,
        None => agent.mode(settings.mode(bypass_allowed).unwrap_or_default()),
    });
    for note in notes.into_iter().chain(settings.notes()).chain(forbidden) {
        output.note(&note)?;
    }
    permissions = agent.forbid(settings.add_rules(permissions)).mode(mode);
    if mode == PermissionMode::BypassPermissions {
        warn_of_bypass(output)?;
    }
    if let Some(asker) = asker {
        permissions = permissions.asking(asker.clone());
    }
    query = query
        .background_wait(crate::background::wait())
        .background_tasks(in_background())
        .git_status(settings.may_ask_git())
        .permissions(permissions)
        .include_partial_messages(args.include_partial_messages && args.output_format == OutputFormat::StreamJson)
        .entrypoint(std::env::var("CLAUDE_CODE_ENTRYPOINT").unwrap_or_else(|_| "cli".to_owned()));
    for directory in args.permissions.add_dir.iter().map(PathBuf::as_path).chain(settings.directories()) {
        query = query.add_dir(directory);
    }
    if let Some(environment) = settings.environment([]) {
        query = query.env(environment);
    }
    if let Some(model) = args.model.as_deref().or(agent.model()) {
        query = query.model(model);
    }
    if let Some(model) = args.fallback_model.as_deref().or(settings.fallback_model()) {
        query = query.fallback_model(model);
    }
    if let Some(turns) = agent.max_turns(args.max_turns) {
        query = query.max_turns(turns);
    }
    if let Some(usd) = args.max_budget_usd {
        query = query.max_budget_usd(usd);
    }
    if let Some(effort) = args.effort.or(agent.effort()) {
        query = query.effort(effort);
    }
    if let Some(schema) = &args.json_schema {
        query = query.output_schema(schema.clone());
    }
    query = query.system_prompt(agent.system_prompt(args.system_prompt.clone()));
    if let Some(text) = &args.append_system_prompt {
        query = query.append_system_prompt(text);
    }
    if !args.no_session_persistence {
        query = query.persist(Home::from_env().map_err(of_start)?).file_checkpoints(true);
    }
    if let Some(id) = &args.session_id {
        query = query.session_id(id);
    }
    if let Some(id) = &args.resume {
        query = query.resume(id);
    }
    if args.r#continue {
        query = query.continue_latest();
    }
    query = query.fork_session(args.fork_session);
    Ok(query)
}

/// The tools of `--tools`.
fn tools(names: Option<&str>, cwd: PathBuf) -> Result<Toolkit, Usage> {
    let all = coding_tools(cwd);
    let names: Vec<&str> = match names.map(str::trim) {
        None | Some("default") => return Ok(all),
        Some(names) => names.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).collect(),
    };
    let mut known: Vec<String> = all.tools().iter().map(|tool| tool.spec().name).collect();
    known.insert(0, AGENT_TOOL_NAME.to_owned());
    match names.iter().find(|name| !known.iter().any(|known| known == *name) && !is_agent_tool(name)) {
        Some(unknown) => Err(Usage(format!("there is no tool {unknown:?}: --tools takes {}", known.join(", ")))),
        None => Ok(all.only(&names)),
    }
}

fn warn_of_bypass(output: &mut Output) -> std::io::Result<()> {
    let text = "WARNING: permissions are off. Whatever text the model reads can make it run any program here, \
                as you. Use this only where nothing can be lost.";
    output.warn(text)
}

fn exit_code(result: Option<&RunResult>, signals: &Signals) -> i32 {
    let Some(result) = result else { return signals.exit_code().unwrap_or(1) };
    if let Some(text) = of_result(result) {
        // Standard error may be closed; the exit code says enough then.
        let _ = writeln!(stderr(), "windlass: {}", clean(&text));
    }
    match &result.outcome {
        Outcome::Interrupted { .. } => signals.exit_code().unwrap_or(1),
        outcome => i32::from(windlass_protocol::is_error(outcome)),
    }
}
