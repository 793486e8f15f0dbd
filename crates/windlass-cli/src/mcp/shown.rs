//! `windlass mcp list` and `get`: configured servers, and their states.

use super::command::{GetArgs, ListArgs};
use super::entry::{kind, shown, target};
use crate::args::SettingsArgs;
use crate::failure::of_project;
use crate::jsonl;
use crate::launch;
use crate::settings::current_directory;
use crate::terminal::clean_line;
use serde_json::{Value, json};
use std::io::{Write, stderr, stdout};
use std::time::Duration;
use windlass::mcp::{McpServerState, McpServerStatus};
use windlass::mcp::{ProjectServers, server_config};
use windlass::project::LoadedProject;
use windlass::project::ServerDefinition;
use windlass::text::visible_json;

/// Time limit for servers to answer `--check`.
const PATIENCE: Duration = Duration::from_secs(31);

/// A configured server, and its state.
pub(crate) struct Known {
    pub(super) name: String,
    pub(super) definition: Option<ServerDefinition>,
    source: String,
    /// Reason why a session does not start it, if it does not.
    pub(super) left_out: Option<String>,
}

/// Returns every server that files and plugins define, sorted by name.
pub(crate) fn known(project: &LoadedProject) -> Vec<Known> {
    let servers = project.servers();
    let counting = servers.definitions().into_iter().map(|definition| Known {
        name: definition.name.clone(),
        source: definition.scope.to_string(),
        left_out: refusal(project, &servers, &definition),
        definition: Some(definition),
    });
    let absent = servers.absent().into_iter().map(|absent| Known {
        name: absent.name,
        source: absent.source.unwrap_or("dynamic").to_owned(),
        left_out: Some(absent.reason),
        definition: None,
    });
    let mut all: Vec<Known> = counting.chain(absent).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Returns the reason why an active server would not be started.
fn refusal(project: &LoadedProject, servers: &ProjectServers, definition: &ServerDefinition) -> Option<String> {
    match server_config(definition, |name| project.variable(name)) {
        Ok(config) => servers.refusal(&definition.name, &config),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns the project of a command about its servers. Unusable files of servers are named on standard error.
pub(super) fn inspected(args: &SettingsArgs) -> anyhow::Result<LoadedProject> {
    let project = launch::project(args, &current_directory()?)?.inspect().map_err(of_project)?;
    for problem in project.servers().file_problems() {
        writeln!(stderr(), "windlass: {}", clean_line(&problem))?;
    }
    Ok(project)
}

/// Prints the servers, and returns the exit code: 1 if a file of servers cannot be used, or if `--check` found one that
/// does not answer.
pub(super) async fn list(args: &ListArgs) -> anyhow::Result<i32> {
    let project = inspected(&args.settings)?;
    let known = known(&project);
    let statuses = if args.check { checked(&project).await } else { Vec::new() };
    let mut out = stdout().lock();
    for server in known.iter().filter(|_| args.json) {
        let status = statuses.iter().find(|status| status.name == server.name);
        let (state, reason) = state(server, status);
        let config = server.definition.as_ref().map(|definition| shown(&definition.config));
        let path = server.definition.as_ref().map(|definition| definition.path.clone());
        let row = json!({"name": server.name, "scope": server.source, "status": state, "reason": reason,
            "file": path, "config": config, "tools": status.map(|status| status.tools.len())});
        jsonl::write(&mut out, &row)?;
    }
    if !args.json {
        for row in rows(&known, &statuses) {
            writeln!(out, "{row}")?;
        }
    }
    let all_answer = statuses.iter().all(|status| status.state == McpServerState::Connected);
    Ok(i32::from(!all_answer || !project.servers().file_problems().is_empty()))
}

/// Returns a row for each server: name, source, state with its reason, and target, with tabs between them. Servers without a
/// file come last.
pub(crate) fn rows(known: &[Known], statuses: &[McpServerStatus]) -> Vec<String> {
    let row = |name: &str, source: &str, (state, reason): (&str, Option<String>), target: &str| {
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let [name, target, reason] = [name, target, reason.as_str()].map(clean_line);
        format!("{name}\t{source}\t{state}{reason}\t{target}")
    };
    let of_files = known.iter().map(|server| {
        let status = statuses.iter().find(|status| status.name == server.name);
        let target = server.definition.as_ref().map(|definition| target(&definition.config)).unwrap_or_default();
        row(&server.name, &server.source, state(server, status), &target)
    });
    let is_of_file = |status: &&McpServerStatus| known.iter().any(|server| server.name == status.name);
    let others = statuses.iter().filter(|status| !is_of_file(status));
    let others =
        others.map(|status| row(&status.name, &status.source, (status.state.as_str(), status.error.clone()), ""));
    of_files.chain(others).collect()
}

/// Starts the servers that a session would start, and returns the status of each.
async fn checked(project: &LoadedProject) -> Vec<McpServerStatus> {
    let servers = project.servers();
    servers.begin();
    servers.set().settled(PATIENCE).await;
    // The status shows the result.
    for idle in servers.set().status().iter().filter(|status| status.state == McpServerState::Idle) {
        let _ = servers.set().reconnect(&idle.name).await;
    }
    let statuses = servers.set().status();
    servers.set().close().await;
    statuses
}

/// Returns the state in a word, and the reason.
fn state(server: &Known, status: Option<&McpServerStatus>) -> (&'static str, Option<String>) {
    match (status, &server.left_out) {
        (Some(status), _) => (status.state.as_str(), status.error.clone()),
        (None, Some(why)) => ("disabled", Some(why.clone())),
        (None, None) => ("configured", None),
    }
}

/// Prints the configuration of a server, and returns the exit code.
pub(super) fn get(args: &GetArgs) -> anyhow::Result<i32> {
    let project = inspected(&args.settings)?;
    let found = find(&project, &args.name)?;
    let (state, reason) = state(&found, None);
    let config = found.definition.as_ref().map(|definition| (definition.path.clone(), shown(&definition.config)));
    let (file, config) = config.unzip();
    if args.json {
        let row = json!({"name": found.name, "scope": found.source, "status": state, "reason": reason,
            "file": file, "config": config});
        writeln!(stdout(), "{}", visible_json(&serde_json::to_string_pretty(&row)?))?;
        return Ok(0);
    }
    let mut lines = vec![("scope", found.source.clone())];
    lines.extend(file.map(|file| ("file", file.display().to_string())));
    lines.push(("status", state.to_owned()));
    lines.extend(reason.map(|reason| ("reason", reason)));
    lines.extend(found.definition.iter().map(|definition| ("type", kind(&definition.config))));
    lines.extend(found.definition.iter().map(|definition| ("target", target(&definition.config))));
    for (key, label) in [("env", "env"), ("headers", "header")] {
        let inner = config.as_ref().and_then(|config| config.get(key)).and_then(Value::as_object);
        let setting = |(name, value): (&String, &Value)| format!("{name}={}", value.as_str().unwrap_or_default());
        lines.extend(inner.into_iter().flatten().map(|pair| (label, setting(pair))));
    }
    let mut out = stdout().lock();
    writeln!(out, "{}", clean_line(&found.name))?;
    for (label, text) in lines {
        writeln!(out, "  {label}: {}", clean_line(&text))?;
    }
    Ok(0)
}

/// Returns the server of a name.
///
/// # Errors
/// There is no such server.
pub(super) fn find(project: &LoadedProject, name: &str) -> anyhow::Result<Known> {
    let all = known(project);
    let names: Vec<String> = all.iter().map(|server| server.name.clone()).collect();
    all.into_iter().find(|server| server.name == name).ok_or_else(|| super::configured::unknown_server(name, &names))
}
