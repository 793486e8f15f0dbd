//! `windlass mcp serve`: the tools of a session here, and an agent, as an MCP server.

use super::command::{HttpArgs, ServeArgs};
use crate::args::RunArgs;
use crate::failure::{Usage, of_start};
use crate::launch::{self, Driver};
use crate::notes::note_to_stderr;
use crate::provider::Provider;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use anyhow::Context;
use std::io::{Write, stderr, stdout};
use std::sync::Arc;
use tokio::net::TcpListener;
use windlass::project::Agents;
use windlass::project::LoadedProject;
use windlass::tool::{Ids, SystemIds};
use windlass::{Home, PermissionMode, SessionBuilder};
use windlass_mcp_server::{AgentTool, BearerToken, GatedTools, HttpOptions, McpServer, ServeError};

/// Tools that are offered beside those for the web. Other tools steer a conversation, which does not exist here.
const OFFERED: [&str; 7] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "TaskStop"];
/// Tools for the web, offered if they are set up.
const OF_WEB: [&str; 2] = ["WebFetch", "WebSearch"];

/// Serves until the client disconnects or a signal arrives, and returns the exit code.
pub(super) async fn serve(args: ServeArgs) -> anyhow::Result<i32> {
    let run = run_args(&args)?;
    let project = loaded(&run)?;
    let (permissions, notes) = launch::permissions_of(&run, Driver::Person)?;
    for note in notes.into_iter().chain(project.take_notices().into_iter().map(|notice| notice.text)) {
        note_to_stderr(&note);
    }
    if run.permissions.permission_mode == Some(PermissionMode::BypassPermissions) {
        note_to_stderr("WARNING: permissions are off. Every client of this server can run any program here, as you.");
    }
    let builder = launch::options(&run, &project, (Driver::Person, Agents::default()))?;
    let tools = Arc::new(GatedTools::open(builder, permissions).await.map_err(of_serving)?);
    let version = env!("CARGO_PKG_VERSION");
    let mut server = McpServer::new("windlass", version).shared_service(Arc::clone(&tools) as Arc<_>);
    if let Some(name) = &args.agent {
        server = server.service(agent(&args, name)?);
    }
    let code = tokio::select! {
        served = served(server, &args.http) => served.map(|()| 0),
        code = ended_by_signal() => Ok(code),
    };
    // Background work of the tools ends with the server.
    let _ = tools.close().await;
    code
}

async fn served(server: McpServer, args: &HttpArgs) -> anyhow::Result<()> {
    let Some(address) = &args.http else { return server.serve_stdio().await.map_err(of_serving) };
    let listener = TcpListener::bind(address).await.with_context(|| format!("{address} cannot be listened at"))?;
    let mut options = HttpOptions::new(token(&args.token_env)?);
    options.hosts.clone_from(&args.host);
    options.origins.clone_from(&args.origin);
    writeln!(stdout(), "http://{}{}", listener.local_addr()?, options.path)?;
    stdout().flush()?;
    server.serve_http(listener, options).await.map_err(of_serving)
}

/// Returns the bearer token of a variable, or a new one.
fn token(variable: &str) -> anyhow::Result<BearerToken> {
    if let Some(given) = std::env::var(variable).ok().filter(|given| !given.is_empty()) {
        return BearerToken::new(given).map_err(|error| Usage(format!("{variable}: {error}")).into());
    }
    let token = format!("{:032x}", SystemIds::default().bits());
    writeln!(stderr(), "windlass: {variable} is not set, so the bearer token is {token}")?;
    BearerToken::new(token).map_err(of_serving)
}

/// Returns the command line of a session that has no model.
fn run_args(args: &ServeArgs) -> anyhow::Result<RunArgs> {
    let mut run = RunArgs::none()?;
    run.permissions = args.permissions.clone();
    run.settings = args.settings.clone();
    // The session's MCP servers would be offered a second time.
    run.mcp.strict_mcp_config = true;
    run.session.no_session_persistence = true;
    run.offered.tools = Some(args.tools.clone().unwrap_or_else(offered));
    Ok(run)
}

/// Returns the tools that are offered if the command line names none.
fn offered() -> String {
    let of_web = crate::web::with_web(windlass::tool::Toolkit::new());
    let there = |name: &&str| of_web.tools().iter().any(|tool| tool.name() == **name);
    let names: Vec<&str> = OFFERED.into_iter().chain(OF_WEB.into_iter().filter(there)).collect();
    names.join(",")
}

fn loaded(run: &RunArgs) -> anyhow::Result<LoadedProject> {
    let project = launch::load(run, &current_directory()?, Driver::Person)?;
    project.on_notice(|notice| note_to_stderr(&notice.text));
    Ok(project)
}

/// Returns an agent of this name, or the usual one, with its servers and tools.
fn agent(args: &ServeArgs, name: &str) -> anyhow::Result<AgentTool> {
    let mut run = run_args(args)?;
    (run.offered.tools, run.mcp.strict_mcp_config) = (None, false);
    run.session.no_session_persistence = false;
    run.model.agent = Some(name.to_owned()).filter(|name| !name.is_empty());
    (run.model.model, run.model.max_turns) = (args.model.clone(), args.max_turns);
    run.model.max_budget_usd = args.max_budget_usd;
    let project = loaded(&run)?;
    let (permissions, _) = launch::permissions_of(&run, Driver::Person)?;
    let provider = Provider::choose(&run, &project)?;
    let builder = launch::options(&run, &project, (Driver::Person, Agents::default()))?
        .provider(Arc::clone(&provider.model))
        .persist(Home::from_env().map_err(of_start)?);
    let description = format!(
        "Gives a task to a coding agent that works in {} on its own: it reads, edits and runs things, and returns what it has \
         to say in the end.",
        project.places().start().display()
    );
    let session = move || -> SessionBuilder { builder.clone() };
    Ok(AgentTool::new("agent", description, permissions, session))
}

/// Returns the error that keeps a server from serving, in the terms of the command line.
fn of_serving(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Session(error) => of_start(error),
        ServeError::Options(why) => Usage(why.to_owned()).into(),
        error => anyhow::anyhow!(clean_line(&error.to_string())),
    }
}

/// Waits for a signal to end, and returns the exit code.
#[cfg(unix)]
async fn ended_by_signal() -> i32 {
    match crate::signals::EndSignals::listen() {
        Ok(mut signals) => signals.next().await,
        Err(_) => std::future::pending().await,
    }
}

/// Waits for a signal to end, and returns the exit code.
#[cfg(not(unix))]
async fn ended_by_signal() -> i32 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 130,
        Err(_) => std::future::pending().await,
    }
}
