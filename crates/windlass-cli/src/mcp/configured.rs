//! Servers of `--mcp-config`, and servers by their names.

use crate::failure::Usage;
use crate::files::text_or_file;
use std::collections::BTreeMap;
use windlass::mcp::McpServerConfig;
use windlass::mcp::parse_config;

/// The servers of the command line, by name; the later of two with one name is used.
pub(crate) struct Configured {
    pub(crate) servers: BTreeMap<String, McpServerConfig>,
    /// Unusable servers, by name, with the reason.
    pub(crate) problems: Vec<(String, String)>,
}

impl Configured {
    /// Reads configurations, each given as JSON or as the path of a file.
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

/// Returns the error for a name that no server has.
pub(super) fn unknown_server(name: &str, known: &[String]) -> anyhow::Error {
    let known = match known {
        [] => "none is defined here".to_owned(),
        some => format!("there are {}", some.join(", ")),
    };
    Usage(format!("there is no MCP server {name:?}: {known}")).into()
}
