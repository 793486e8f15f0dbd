//! Policy that decides which MCP servers may be connected, whatever settings scope defines them.

use super::lists::ServerLists;
use super::matching::Ready;
use super::pattern::{ServerAddress, ServerPattern};

impl ServerLists {
    /// Builds the policy from the lists. `expand` replaces variables (`${NAME}`), or returns the problem. It should
    /// read the environment as it was before settings changed it.
    #[must_use]
    pub fn policy(&self, expand: impl Fn(&str) -> Result<String, String>) -> ServerPolicy {
        self.build(&expand).unwrap_or_else(|reason| ServerPolicy { refusal_of_all: Some(reason), ..Default::default() })
    }

    fn build(&self, expand: &dyn Fn(&str) -> Result<String, String>) -> Result<ServerPolicy, String> {
        if let Some(note) = &self.unreadable {
            return Err(note.to_string());
        }
        let expanded = |pattern: &ServerPattern, key: &str, source: &str| {
            let unusable = |problem| format!("{source}: `{key}`: {problem}, so no MCP server is started");
            Ready::new(pattern, expand).map_err(unusable)
        };
        let denied = self.denied.iter().map(|(pattern, origin)| {
            Ok((expanded(pattern, "deniedMcpServers", &origin.to_string())?, origin.to_string()))
        });
        let allowed = self.allowed.iter().map(|list| {
            let source = list.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            let patterns = list.patterns.iter().map(|pattern| expanded(pattern, "allowedMcpServers", &source));
            Ok((patterns.collect::<Result<_, String>>()?, source.clone()))
        });
        Ok(ServerPolicy {
            denied: denied.collect::<Result<_, String>>()?,
            allowed: allowed.collect::<Result<_, String>>()?,
            refusal_of_all: None,
        })
    }
}

/// Policy for connections to MCP servers: the [`ServerLists`] with variables replaced. Allows all servers by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPolicy {
    denied: Vec<(Ready, String)>,
    allowed: Vec<(Vec<Ready>, String)>,
    /// Reason why no server may be connected.
    refusal_of_all: Option<String>,
}

impl ServerPolicy {
    /// Returns the reason why a server is refused; `None` if it may be connected. The address is the effective one,
    /// with its variables replaced.
    ///
    /// A denied server is refused. If there are allow lists, each must match the server. A list matches by address or
    /// command, and by name only if it has no entry for addresses (or for commands, if the server is a program).
    #[must_use]
    pub fn refusal(&self, name: &str, address: ServerAddress<'_>) -> Option<String> {
        if let Some(reason) = &self.refusal_of_all {
            return Some(reason.clone());
        }
        if let Some((_, source)) = self.denied.iter().find(|(pattern, _)| pattern.denies(name, address)) {
            return Some(format!("`deniedMcpServers` of {source} keeps it out"));
        }
        let unmatched_list = self.allowed.iter().find(|(patterns, _)| !Ready::allow(patterns, name, address));
        unmatched_list.map(|(patterns, source)| {
            let empty = if patterns.is_empty() { " (it names none)" } else { "" };
            format!("`allowedMcpServers` of {source} does not name it{empty}")
        })
    }
}

#[cfg(test)]
mod tests;
