//! `windlass mcp`, and `--mcp-config`.

mod change;
pub(crate) mod command;
pub(crate) mod configured;
mod entry;
mod examine;
mod import;
pub(crate) mod login;
mod serve;
pub(crate) mod shown;

pub(crate) use import::client::Client;
pub(crate) use import::{FoundServer, add_server, servers_of_client};

use crate::block_on;
use command::McpCommand;
use windlass::project::LoadedProject;

/// Carries out a command on MCP servers, and returns the exit code.
pub(crate) fn mcp(command: McpCommand) -> anyhow::Result<i32> {
    match command {
        McpCommand::Add(args) => change::add(&args),
        McpCommand::AddJson(args) => change::add_json(&args),
        McpCommand::Remove(args) => change::remove(&args),
        McpCommand::List(args) => block_on(async move { shown::list(&args).await }),
        McpCommand::Get(args) => shown::get(&args),
        McpCommand::Test(args) => block_on(async move { examine::test(&args).await }),
        McpCommand::Serve(args) => block_on(async move { serve::serve(*args).await }),
        McpCommand::Import(args) => import::import(&args),
        McpCommand::Login(args) => block_on(async move { login::login(&args).await }),
        McpCommand::Logout(args) => block_on(async move { login::logout(&args).await }),
    }
}

/// Returns the servers of files and plugins by name, each with the reason why a session does not start it, if it does not.
pub(crate) fn states(project: &LoadedProject) -> Vec<(String, Option<String>)> {
    shown::known(project).into_iter().map(|server| (server.name, server.left_out)).collect()
}
