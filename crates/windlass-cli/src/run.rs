//! `windlass -p`: runs one prompt.

use crate::args::{OutputFormat, RunArgs};
use crate::ask::AskAtTerminal;
use crate::elsewhere::{self, Elsewhere};
use crate::failure::{of_result, of_start};
use crate::host::mcp::HostServers;
use crate::host::plugins::Listed;
use crate::launch::{self, Driver};
use crate::mcp::configured::Configured;
use crate::memory::asked;
use crate::notes::note_to_stderr;
use crate::output::{Output, OutputOptions};
use crate::prompt;
use crate::provider::Provider;
use crate::sessions;
use crate::sessions::pending::{self, Continuation};
use crate::sessions::retention::apply_when_due;
use crate::settings::current_directory;
use crate::signals::Signals;
use crate::terminal::{Terminal, clean};
use crate::writer::Writer;
use anyhow::Context;
use std::future::poll_fn;
use std::io::{Write, stderr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use windlass::mcp::McpServerState;
use windlass::options::StorageOptions;
use windlass::project::Agents;
use windlass::session::Resume;
use windlass::tool::Ids as _;
use windlass::tool::SystemIds;
use windlass::{
    Error, Event, EventKind, Home, Outcome, PermissionMode, Prompt, Run, RunResult, SessionBuilder,
    mcp::McpServers,
    project::LoadedProject,
    session::{Options, PromptInput, SessionId},
};

/// Time that background work may run before a note says that the command waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs a prompt and returns the exit code.
pub(crate) async fn run(args: RunArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let format = args.output.output_format;
    let writer = Writer::of_process();
    let signals = Signals::listen(writer.clone()).context("signals cannot be listened to")?;
    let ran = run_to_end(args, terminal, &signals, &writer).await;
    let written = writer.finish().await;
    let result = match (ran, signals.exit_code()) {
        (Err(error), Some(code)) => {
            // The exit code of the signal is used, and a failure to save is reported.
            crate::report(&error);
            return Ok(code);
        }
        (ran, _) => ran?,
    };
    written?;
    Ok(exit_code(result.as_ref(), &signals, format))
}

/// Runs a prompt and shows all of it. Returns the result.
async fn run_to_end(
    mut args: RunArgs,
    terminal: Terminal,
    signals: &Signals,
    writer: &Writer,
) -> anyhow::Result<Option<RunResult>> {
    let connecting = Elsewhere::of(args.elsewhere.workspace.as_ref());
    let Some(elsewhere) = signals.stopping(connecting).await else { return Ok(None) };
    let elsewhere = elsewhere?;
    let project = launch::load_there(&args, &current_directory()?, elsewhere.as_ref()).await?;
    if let Some(asked) = args.given_prompt().and_then(|prompt| asked::called(prompt, &project)) {
        return tell_of_memory(&args, &project, asked, output_options(&args, "none", terminal), writer).map(Some);
    }
    let provider = Provider::choose(&args, &project)?;
    let asker = terminal.can_ask().then(AskAtTerminal::new);
    let continues = match args.resumes() && !args.has_prompt() && !args.has_empty_prompt() {
        true => pending::continuation(&args, elsewhere.as_ref()).await?,
        false => None,
    };
    args.asks.wait_for_answers |= continues == Some(Continuation::Answers);
    let (builder, mut notes) = settled(&args, &project, (asker.as_ref(), elsewhere.as_ref()))?;
    notes.splice(..0, elsewhere.as_ref().map(Elsewhere::note));
    let builder = builder.provider(Arc::clone(&provider.model));
    let prompt = prompt_of(&args, terminal, &builder, continues.is_some())?;
    let mut output = Output::new(output_options(&args, provider.key_source, terminal), writer.clone());
    output.lists_plugins(Arc::new(Listed(project.clone())));
    output.lists_agents(agents(builder.options()));
    output.uses_style(builder.options().output_style());
    let servers = servers(&args, &project, &mut output)?;
    for note in notes.into_iter().chain(project.take_notices().into_iter().map(|notice| notice.text)) {
        output.note(&note)?;
    }
    project.on_notice(|notice| note_to_stderr(&notice.text));
    if builder.options().permission_mode() == PermissionMode::BypassPermissions {
        warn_of_bypass(&mut output)?;
    }
    let builder = match &servers {
        Some(servers) => builder.mcp_servers(servers.clone()),
        None => builder,
    };
    let query = kept(builder, &args)?.query(prompt).background_wait(crate::background::wait());
    let mut run = query.stream();
    open(&mut run, &args, signals, &mut output).await?;
    if let Some(servers) = &servers {
        note_absent(servers, &mut output)?;
    }
    let watched = watch(&mut run, &mut output, (writer, signals), asker.as_ref()).await;
    if let Some(servers) = &servers {
        servers.close().await;
    }
    if watched.is_err()
        && let Ok(handle) = run.handle().await
    {
        // The reader is gone or the store has failed: acknowledged entries are kept, the rest stops. The first error
        // explains more than a second one.
        let _ = handle.close().await;
    }
    let result = watched?;
    output.end(result.as_ref())?;
    provider.finish()?;
    apply_when_due(&project).await;
    Ok(result)
}

/// Answers `/memory`. No session is opened, and no provider needed.
fn tell_of_memory(
    args: &RunArgs,
    project: &LoadedProject,
    asked: &str,
    options: OutputOptions,
    writer: &Writer,
) -> anyhow::Result<RunResult> {
    let memory = asked::of_session(args, project).map_err(anyhow::Error::msg)?;
    let text = memory.asked(asked)?;
    let given = args.session.session_id.as_deref().map(str::to_owned);
    let id = given.unwrap_or_else(|| SessionId::from_bits(SystemIds::default().bits()).to_string());
    Output::new(options, writer.clone()).local(&id, asked::NAME, &text)?;
    Ok(RunResult::new(Outcome::Success, id.as_str().into()))
}

/// Returns the prompt. Without one, a resumed session continues its last run.
fn prompt_of(
    args: &RunArgs,
    terminal: Terminal,
    builder: &SessionBuilder,
    continues: bool,
) -> anyhow::Result<PromptInput> {
    let has_initial = builder.options().initial_prompt().is_some();
    let prompt = prompt::read(args, terminal.stdin, has_initial || continues)?;
    Ok(match prompt {
        Some(prompt) => prompt.into(),
        None if continues => Prompt::continue_run().into(),
        None => String::new().into(),
    })
}

fn output_options(args: &RunArgs, key_source: &'static str, terminal: Terminal) -> OutputOptions {
    OutputOptions {
        format: args.output.output_format,
        verbose: args.output.verbose,
        partial: args.output.include_partial_messages,
        hooks: args.output.include_hook_events,
        structured: args.output.json_schema.is_some(),
        key_source,
        terminal,
    }
}

/// Opens the session of a run. From then on signals are passed to it.
async fn open(run: &mut Run, args: &RunArgs, signals: &Signals, output: &mut Output) -> anyhow::Result<()> {
    match run.handle().await {
        Ok(handle) => signals.watch(handle),
        Err(error) => {
            let id = args.session.resume.as_deref().or(args.session.session_id.as_deref()).unwrap_or_default();
            output.refused(id, &error.to_string())?;
            return Err(of_start(error));
        }
    }
    for notice in run.notices() {
        output.note(notice)?;
    }
    Ok(())
}

/// Returns the options of the run from the command line and the project, with warnings.
fn settled(
    args: &RunArgs,
    project: &LoadedProject,
    (asker, elsewhere): (Option<&AskAtTerminal>, Option<&Elsewhere>),
) -> anyhow::Result<(SessionBuilder, Vec<String>)> {
    let (mut permissions, notes) = launch::permissions_of(args, Driver::Person)?;
    if let Some(asker) = asker {
        permissions = permissions.host(asker.clone());
    }
    let builder = launch::options(args, project, (Driver::Person, Agents::default()))?.permissions(permissions);
    let builder = match elsewhere {
        Some(there) => builder.cwd(&there.directory).workspace(&there.remote),
        None => builder,
    };
    let builder = resumed(builder, args);
    Ok((builder.resolve().map_err(of_start)?, notes))
}

/// Selects the session to resume.
pub(crate) fn resumed(mut builder: SessionBuilder, args: &RunArgs) -> SessionBuilder {
    if let Some(id) = &args.session.session_id {
        builder = builder.session_id(id);
    }
    let given = args.session.resume.as_deref().filter(|given| !given.is_empty());
    let mut resume = given.map_or_else(Resume::new, sessions::resumed);
    if args.session.r#continue {
        resume = Resume::latest();
    }
    if args.session.fork_session {
        resume = resume.fork();
    }
    builder.resume(resume)
}

/// Selects the place of the session's log.
pub(crate) fn kept(builder: SessionBuilder, args: &RunArgs) -> anyhow::Result<SessionBuilder> {
    if args.session.no_session_persistence {
        return Ok(builder);
    }
    Ok(builder.persist(Home::from_env().map_err(of_start)?).storage(StorageOptions::new().file_checkpoints(true)))
}

/// Returns the names of the agents to which the model can give tasks.
fn agents(options: &Options) -> Vec<String> {
    options.subagents().iter().flat_map(|agents| agents.definitions()).map(|agent| agent.name.clone()).collect()
}

/// Returns the MCP servers of the command line, of plugins and of files, which begin to connect.
fn servers(args: &RunArgs, project: &LoadedProject, output: &mut Output) -> anyhow::Result<Option<McpServers>> {
    let configured = Configured::read(args.mcp.mcp_config.iter().map(String::as_str))?;
    if args.elsewhere.workspace.is_some() {
        elsewhere::check_servers(&configured)?;
    }
    for (_, problem) in &configured.problems {
        output.note(problem)?;
    }
    let none = configured.servers.is_empty() && configured.problems.is_empty();
    let servers = HostServers::start(configured, project);
    if none && project.servers().is_empty() {
        return Ok(None);
    }
    project.servers().begin();
    let set = servers.set().clone();
    output.lists_mcp_servers(Arc::new(servers));
    Ok(Some(set))
}

/// Writes a note for each server that does not answer, with the reason. The run continues without their tools.
fn note_absent(servers: &McpServers, output: &mut Output) -> std::io::Result<()> {
    for server in servers.status().iter().filter(|server| server.state == McpServerState::Pending) {
        output.note(&format!("the MCP server {:?} has not answered yet; its tools come when it does", server.name))?;
    }
    for missing in servers.missing() {
        output.note(&missing.reason)?;
    }
    Ok(())
}

/// Shows a run until its end. A slow reader delays only the events.
async fn watch(
    run: &mut Run,
    output: &mut Output,
    (writer, signals): (&Writer, &Signals),
    asker: Option<&AskAtTerminal>,
) -> anyhow::Result<Option<RunResult>> {
    let (mut result, mut noted) = (None, false);
    loop {
        writer.room().await?;
        // An answer without a note would look as if no work were running.
        let patience = if result.is_some() && !noted { PATIENCE } else { Duration::MAX };
        let Some(event) = next(run, output, writer, patience).await? else {
            noted = true;
            output.note("waiting for work in the background; Ctrl-C ends it")?;
            continue;
        };
        match event {
            Ok(Some(event)) => {
                if let (EventKind::RunFinished(_), Some(reason)) = (&event.kind, signals.stop_reason()) {
                    output.stops_because(reason);
                }
                show(&event, output, writer, asker).await?;
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
                    // The result has the error already.
                    Some(result) => anyhow::anyhow!(of_result(result).unwrap_or_else(|| error.to_string())),
                    None => of_start(error),
                });
            }
        }
    }
}

/// Next item of a run's stream.
type Next = Result<Option<Box<Event>>, Error>;

/// Waits for the next event; `None` if it takes longer than `patience`. Fails if the output is no longer read.
async fn next(run: &mut Run, output: &mut Output, writer: &Writer, patience: Duration) -> anyhow::Result<Option<Next>> {
    if let Some(ready) = ready_event(run).await {
        return Ok(Some(ready));
    }
    // Available output is written before waiting.
    output.flush()?;
    tokio::select! {
        next = tokio::time::timeout(patience, run.try_next()) => Ok(next.ok()),
        error = writer.failed() => Err(error.into()),
    }
}

/// Shows an event. A question is the last text on the screen.
async fn show(
    event: &Event,
    output: &mut Output,
    writer: &Writer,
    asker: Option<&AskAtTerminal>,
) -> anyhow::Result<()> {
    let Some(asker) = asker else { return Ok(output.event(event)?) };
    let _screen = asker.screen().await;
    output.event(event)?;
    output.flush()?;
    writer.written().await?;
    if matches!(event.kind, EventKind::PermissionRequested(_)) {
        asker.shown();
    }
    Ok(())
}

/// Returns the next event if it is there already.
async fn ready_event(run: &mut Run) -> Option<Next> {
    poll_fn(|cx| {
        let polled = futures_core::Stream::poll_next(Pin::new(&mut *run), cx);
        Poll::Ready(match polled {
            Poll::Ready(event) => Some(event.transpose()),
            Poll::Pending => None,
        })
    })
    .await
}

fn warn_of_bypass(output: &mut Output) -> std::io::Result<()> {
    let text = "WARNING: permissions are off. Whatever text the model reads can make it run any program here, \
                as you. Use this only where nothing can be lost.";
    output.warn(text)
}

/// Returns the exit code: by the outcome, and for a host that reads frames by whether the result is an error.
fn exit_code(result: Option<&RunResult>, signals: &Signals, format: OutputFormat) -> i32 {
    let Some(result) = result else { return signals.exit_code().unwrap_or(1) };
    let stopped = signals.stop_reason().filter(|_| matches!(result.outcome, Outcome::Interrupted { .. }));
    if let Some(text) = stopped.map(str::to_owned).or_else(|| of_result(result)) {
        // Standard error may be closed; the exit code is enough then.
        let _ = writeln!(stderr(), "windlass: {}", clean(&text));
    }
    let outcome = &result.outcome;
    let may_be_stopped =
        matches!(outcome, Outcome::Interrupted { .. } | Outcome::BackgroundStopped { .. } | Outcome::Pending { .. });
    let by_signal = signals.exit_code().filter(|_| may_be_stopped);
    by_signal.unwrap_or_else(|| match format {
        OutputFormat::StreamJson => i32::from(windlass_protocol::is_error(outcome)),
        OutputFormat::Text | OutputFormat::Json => i32::from(outcome.exit_code()),
    })
}
