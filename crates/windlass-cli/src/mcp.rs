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

use crate::block_on;
use command::McpCommand;

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
