//! Policy for connections to MCP servers of every scope.

use super::lists::ServerLists;
use super::matching::Ready;
use super::pattern::{ServerAddress, ServerPattern};

impl ServerLists {
    /// Makes the lists ready for use. `expand` replaces variables (`${NAME}`), or returns the problem. It should use
    /// the environment before settings changed it.
    #[must_use]
    pub fn policy(&self, expand: impl Fn(&str) -> Result<String, String>) -> ServerPolicy {
        self.ready(&expand).unwrap_or_else(|unreadable| ServerPolicy { closed: Some(unreadable), ..Default::default() })
    }

    fn ready(&self, expand: &dyn Fn(&str) -> Result<String, String>) -> Result<ServerPolicy, String> {
        if let Some(note) = &self.unreadable {
            return Err(note.to_string());
        }
        let ready = |pattern: &ServerPattern, key: &str, source: &str| {
            let unusable = |problem| format!("{source}: `{key}`: {problem}, so no MCP server is started");
            Ready::new(pattern, expand).map_err(unusable)
        };
        let denied = self.denied.iter().map(|(pattern, origin)| {
            Ok((ready(pattern, "deniedMcpServers", &origin.to_string())?, origin.to_string()))
        });
        let allowed = self.allowed.iter().map(|list| {
            let source = list.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            let patterns = list.patterns.iter().map(|pattern| ready(pattern, "allowedMcpServers", &source));
            Ok((patterns.collect::<Result<_, String>>()?, source.clone()))
        });
        Ok(ServerPolicy {
            denied: denied.collect::<Result<_, String>>()?,
            allowed: allowed.collect::<Result<_, String>>()?,
            closed: None,
        })
    }
}

/// Policy for connections to MCP servers: the [`ServerLists`], ready for use. Allows all servers by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPolicy {
    denied: Vec<(Ready, String)>,
    allowed: Vec<(Vec<Ready>, String)>,
    /// Reason why no server may be connected.
    closed: Option<String>,
}

impl ServerPolicy {
    /// Returns the reason why a server is kept out, if there is one. The address is the effective one, with its
    /// variables replaced.
    ///
    /// A denied server is out. If there are allow lists, each must name the server: by its address or command, or by
    /// its name if no entry of the list is about addresses (or commands, for a program).
    #[must_use]
    pub fn refusal(&self, name: &str, address: ServerAddress<'_>) -> Option<String> {
        if let Some(why) = &self.closed {
            return Some(why.clone());
        }
        if let Some((_, source)) = self.denied.iter().find(|(pattern, _)| pattern.denies(name, address)) {
            return Some(format!("`deniedMcpServers` of {source} keeps it out"));
        }
        let missing = self.allowed.iter().find(|(patterns, _)| !Ready::allow(patterns, name, address));
        missing.map(|(patterns, source)| {
            let empty = if patterns.is_empty() { " (it names none)" } else { "" };
            format!("`allowedMcpServers` of {source} does not name it{empty}")
        })
    }
}

#[cfg(test)]
mod tests;
