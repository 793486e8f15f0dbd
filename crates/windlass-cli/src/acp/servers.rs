//! MCP servers of a session: those of files, of the command line, and of the editor.

use super::elicitation::EditorElicitation;
use crate::args::RunArgs;
use crate::mcp::configured::Configured;
use crate::notes::note_to_stderr;
use std::sync::Arc;
use windlass::mcp::{McpServerConfig, McpServers, ProjectServers};
use windlass::project::LoadedProject;
use windlass_acp::{AcpClient, AcpMcpServer, AcpMcpTransport};

/// Begins to connect the servers. Returns them with the reasons why servers of the editor are not started.
pub(super) fn start(
    args: &RunArgs,
    project: &LoadedProject,
    given: Vec<AcpMcpServer>,
    client: &AcpClient,
) -> anyhow::Result<(ProjectServers, Vec<String>)> {
    let servers = project.servers_in(|| {
        let options = project.server_options().with_client("windlass", env!("CARGO_PKG_VERSION"));
        let options = match EditorElicitation::of(client) {
            Some(asked) => options.with_elicitation(Arc::new(asked)),
            None => options,
        };
        McpServers::new(options.with_login_command("windlass mcp login"))
    });
    let configured = Configured::read(args.mcp.mcp_config.iter().map(String::as_str))?;
    for (name, problem) in configured.problems {
        note_to_stderr(&format!("the MCP server {name:?} cannot be used: {problem}"));
    }
    for (name, error) in servers.connect_all(configured.servers, "--mcp-config") {
        note_to_stderr(&format!("the MCP server {name:?} cannot be used: {error}"));
    }
    let mut kept_out = Vec::new();
    for AcpMcpServer { name, transport, .. } in given {
        let is_program = matches!(transport, AcpMcpTransport::Stdio { .. });
        if is_program && let Err(reason) = program_is_wanted(args, project, &name) {
            kept_out.push(format!("The MCP server {name:?} of the editor is not started: {reason}"));
        } else if let Err(error) = servers.connect(&name, config(transport)) {
            kept_out.push(format!("The MCP server {name:?} of the editor is not connected: {error}"));
        }
    }
    Ok((servers, kept_out))
}

/// A server over stdio is a program that the editor names, and needs the same yes as one in a project's `.mcp.json`.
fn program_is_wanted(args: &RunArgs, project: &LoadedProject, name: &str) -> Result<(), String> {
    let resolved = project.resolved();
    let choice = &resolved.servers.mcpjson;
    if let Some(origin) = choice.disabled.get(name) {
        return Err(format!("`disabledMcpjsonServers` of {origin} switches it off"));
    }
    let all = choice.all.as_ref().is_some_and(|all| all.value);
    if args.settings.trust || all || choice.enabled.contains_key(name) {
        return Ok(());
    }
    Err("it is a program. It starts when `enabledMcpjsonServers` of your own settings names it, or with \
         `windlass acp --trust`"
        .to_owned())
}

fn config(transport: AcpMcpTransport) -> McpServerConfig {
    let config = match transport {
        AcpMcpTransport::Stdio { command, args, env } => {
            let config = args.into_iter().fold(McpServerConfig::stdio(command), McpServerConfig::arg);
            env.into_iter().fold(config, |config, (name, value)| config.env(name, value))
        }
        AcpMcpTransport::Http { url, headers } => {
            headers.into_iter().fold(McpServerConfig::http(url), |config, (name, value)| config.header(name, value))
        }
        AcpMcpTransport::Sse { url, headers } => {
            headers.into_iter().fold(McpServerConfig::sse(url), |config, (name, value)| config.header(name, value))
        }
        // A transport of a newer version of the crate, of which there is none.
        _ => McpServerConfig::stdio(""),
    };
    config.source("editor")
}
