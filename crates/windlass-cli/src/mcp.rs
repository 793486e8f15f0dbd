//! `windlass mcp`, and `--mcp-config`.

mod change;
pub(crate) mod command;
mod entry;
mod examine;
mod import;
mod login;
mod serve;
mod shown;

use crate::block_on;
use crate::failure::Usage;
use crate::files::text_or_file;
use command::McpCommand;
use std::collections::BTreeMap;
use windlass::crates::mcp::parse_config;
use windlass::mcp::McpServerConfig;

/// The servers of the command line, by name; of two with one name the later counts.
pub(crate) struct Configured {
    pub(crate) servers: BTreeMap<String, McpServerConfig>,
    /// What cannot be used, by name.
    pub(crate) problems: Vec<(String, String)>,
}

impl Configured {
    /// Reads configurations: JSON as it is, or paths to files.
    ///
    /// # Errors
    /// A file or a configuration as a whole cannot be read.
    pub(crate) fn read<'a>(given: impl IntoIterator<Item = &'a str>) -> Result<Self, Usage> {
        let mut read = Self { servers: BTreeMap::new(), problems: Vec::new() };
        for given in given {
            let text = text_or_file(given).map_err(|error| Usage(format!("--mcp-config {given}: {error}")))?;
            let servers = parse_config(&text, |name| std::env::var(name).ok())
                .map_err(|error| Usage(format!("--mcp-config: {error}")))?;
            for (name, config) in servers {
                match config {
                    Ok(config) => drop(read.servers.insert(name, config)),
                    Err(error) => read.problems.push((name, error.to_string())),
                }
            }
        }
        Ok(read)
    }
}

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

/// The error for a name that no server has.
fn unknown_server(name: &str, known: &[String]) -> anyhow::Error {
    let known = match known {
        [] => "none is defined here".to_owned(),
        some => format!("there are {}", some.join(", ")),
    };
    Usage(format!("there is no MCP server {name:?}: {known}")).into()
}
