//! `--mcp-config`.

use crate::failure::Usage;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use windlass::crates::mcp::parse_config;
use windlass::crates::runtime::SystemIds;
use windlass::crates::tool::Ids;
use windlass::crates::tools::{LocalProcess, host_environment};
use windlass::{McpOptions, McpServerConfig};

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
            let text = if given.trim_start().starts_with('{') {
                given.to_owned()
            } else {
                std::fs::read_to_string(given).map_err(|error| Usage(format!("--mcp-config {given}: {error}")))?
            };
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

/// What servers are started with: the directory, the environment that programs
/// get, without keys, and what ends them when this process is killed.
pub(crate) fn options(cwd: &Path) -> McpOptions {
    McpOptions::new()
        .with_client("windlass", env!("CARGO_PKG_VERSION"))
        .with_cwd(cwd)
        .with_env(host_environment(std::env::vars_os()))
        .with_watch(Arc::new(LocalProcess::new(format!("mcp.{:032x}", SystemIds::default().bits()))))
}
