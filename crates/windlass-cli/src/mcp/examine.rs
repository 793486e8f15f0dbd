//! `windlass mcp test`: the tools of a server, and its problems.

use super::command::TestArgs;
use super::entry::target;
use super::shown::{find, inspected};
use crate::terminal::{clean, clean_line};
use anyhow::Context;
use serde::Serialize;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};
use windlass::mcp::McpServers;
use windlass::mcp::{McpServerState, McpServerStatus, McpToolHints};
use windlass::project::LoadedProject;
use windlass::project::ServerDefinition;
use windlass::text::visible_json;

/// Time limit for the server to answer.
const PATIENCE: Duration = Duration::from_secs(31);
/// Time that a session waits for its servers before it opens.
const SLOW: Duration = Duration::from_secs(5);
/// Instructions beyond this many characters do not reach the model.
const MAX_INSTRUCTION_CHARS: usize = 2000;
/// Size of tool definitions, in bytes, above which they take up a noticeable share of a context window.
const MANY_BYTES: usize = 64 * 1024;

/// Findings of the test.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    status: McpServerStatus,
    connect_ms: u64,
    prompts: Vec<String>,
    instructions: Option<String>,
    definition_bytes: usize,
    problems: Vec<String>,
}

/// Starts a server and prints its tools. Returns the exit code: 1 if it has a problem.
pub(super) async fn test(args: &TestArgs) -> anyhow::Result<i32> {
    let project = inspected(&args.settings)?;
    let found = find(&project, &args.name)?;
    if let Some(reason) = found.left_out {
        anyhow::bail!("the MCP server {:?} is not started: {reason}", found.name);
    }
    let definition = found.definition.context("the server is not there any more")?;
    let report = examined(&project, &definition).await?;
    if args.json {
        writeln!(stdout(), "{}", visible_json(&serde_json::to_string_pretty(&report)?))?;
    } else {
        show(&definition, &report)?;
    }
    Ok(i32::from(!report.problems.is_empty()))
}

async fn examined(project: &LoadedProject, definition: &ServerDefinition) -> anyhow::Result<Report> {
    let name = definition.name.as_str();
    let servers = project.servers();
    let mut config = servers.config(definition)?;
    // The server is started now, even if its tools are known.
    config.lazy = false;
    let started = Instant::now();
    servers.connect(name, config)?;
    let set = servers.set();
    set.settled(PATIENCE).await;
    let took = started.elapsed();
    let prompts: Vec<String> = set.prompts().await.into_iter().map(|prompt| prompt.name).collect();
    let output = set.output(name);
    let status = set.status().into_iter().find(|status| status.name == name).context("the server is gone")?;
    let instructions = set.instructions().into_iter().next().map(|said| said.text);
    let definition_bytes = definition_bytes(set);
    set.close().await;
    let mut report = Report {
        status,
        connect_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        prompts,
        instructions,
        definition_bytes,
        problems: Vec::new(),
    };
    report.problems = problems(&report, took, output);
    Ok(report)
}

/// Returns the size of all tool definitions in a request, in bytes.
fn definition_bytes(set: &McpServers) -> usize {
    let size = |spec: windlass::provider::ToolSpec| {
        spec.name.len() + spec.description.len() + spec.input_schema.as_str().len()
    };
    set.tools().iter().map(|tool| size(tool.spec())).sum()
}

/// Returns the problems of a server, for its author and its user.
fn problems(report: &Report, took: Duration, output: Option<String>) -> Vec<String> {
    let status = &report.status;
    let mut all = Vec::new();
    match status.state {
        McpServerState::Connected => {}
        McpServerState::NeedsAuth => all.push(format!("it wants a login: `windlass mcp login {}`", status.name)),
        McpServerState::Pending => all.push(format!("it has not answered in {} s", PATIENCE.as_secs())),
        _ => all.push(status.error.clone().unwrap_or_else(|| "it is not connected".to_owned())),
    }
    if status.state == McpServerState::Connected && took > SLOW {
        let limit = SLOW.as_secs();
        all.push(format!("it is slow to start: a session opens after {limit} s, and its tools join later"));
    }
    for tool in &status.tools_left_out {
        all.push(format!("the tool {:?} is left out: {}", tool.name, tool.reason));
    }
    for tool in status.tools.iter().filter(|tool| tool.description.trim().is_empty()) {
        all.push(format!("the tool {:?} has no description: the model has to guess what it does", tool.name));
    }
    if report.instructions.as_ref().is_some_and(|text| text.chars().count() > MAX_INSTRUCTION_CHARS) {
        all.push(format!(
            "its instructions are longer than {MAX_INSTRUCTION_CHARS} characters: the rest does not reach the model"
        ));
    }
    if report.definition_bytes > MANY_BYTES {
        let size = report.definition_bytes / 1024;
        all.push(format!(
            "the definitions of its tools have {size} KiB: a session may withhold them until they are searched for"
        ));
    }
    all.extend(output.map(|output| format!("beside the protocol {output}")));
    all
}

fn show(definition: &ServerDefinition, report: &Report) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    let status = &report.status;
    let place = format!("{} ({}, {})", status.name, definition.scope, definition.path.display());
    writeln!(out, "{}", clean_line(&place))?;
    writeln!(out, "  target: {}", clean_line(&target(&definition.config)))?;
    writeln!(out, "  status: {} after {} ms", status.state, report.connect_ms)?;
    if let Some(info) = &status.server_info {
        writeln!(out, "  server: {}", clean_line(&format!("{} {}", info.name, info.version)))?;
    }
    if let Some(text) = &report.instructions {
        writeln!(out, "  instructions: {} characters", text.chars().count())?;
    }
    writeln!(out, "  tools: {}, {} bytes of definitions", status.tools.len(), report.definition_bytes)?;
    for tool in &status.tools {
        let line = tool.description.lines().next().unwrap_or_default();
        let line: String = line.chars().take(100).collect();
        writeln!(out, "    {}", clean_line(&format!("{}{}  {line}", tool.name, claims(tool.annotations))))?;
    }
    if !report.prompts.is_empty() {
        writeln!(out, "  prompts: {}", clean_line(&report.prompts.join(", ")))?;
    }
    if report.problems.is_empty() {
        writeln!(out, "  no problem found")?;
    }
    for problem in &report.problems {
        // The output of a program may have many lines.
        writeln!(out, "  problem: {}", clean(problem).trim_end().replace('\n', "\n    "))?;
    }
    Ok(())
}

/// Returns a server's hints about a tool.
fn claims(hints: McpToolHints) -> String {
    let all = [(hints.read_only, "reads only"), (hints.destructive, "may destroy"), (hints.open_world, "reaches out")];
    let claims_made: Vec<&str> = all.iter().filter(|(is_set, _)| *is_set).map(|(_, text)| *text).collect();
    if claims_made.is_empty() { String::new() } else { format!(" [claims: {}]", claims_made.join(", ")) }
}
