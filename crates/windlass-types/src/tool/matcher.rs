//! Matching of tools by name.

use crate::mcp_name;
use std::fmt;

const OF_SERVERS: &str = mcp_name::PREFIX;

/// One item of a list of tools, which matches these tools:
///
/// | item | tools |
/// |---|---|
/// | `Bash` | the tool of this name |
/// | `mcp__files`, `mcp__files__*` | all tools of the MCP server `files` |
/// | `mcp__files__read_*` | those of its tools whose names begin so |
/// | `mcp__*` | the tools of all MCP servers |
/// | `*` | every tool |
///
/// Names are compared byte for byte. `Display` writes the item.
///
/// ```
/// # mod windlass { pub mod hook { pub use windlass_types::*; } }
/// use windlass::hook::ToolMatcher;
///
/// let matchers = ToolMatcher::list("Write | Edit | mcp__files")?;
/// assert!(matchers.iter().any(|matcher| matcher.matches("mcp__files__read")));
/// assert!(!matchers.iter().any(|matcher| matcher.matches("Bash")));
/// assert!(ToolMatcher::list("^Write$").is_err());
/// # Ok::<(), windlass_types::ToolMatcherError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolMatcher(Kind);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    All,
    Tool(String),
    /// The name of a server, without what is around it.
    Server(String),
    /// Prefix of the names; at least `mcp__`.
    Prefix(String),
}

impl ToolMatcher {
    /// Reads one item.
    ///
    /// # Errors
    /// The item can never match: see [`ToolMatcherError`].
    pub fn new(item: &str) -> Result<Self, ToolMatcherError> {
        let error = |problem| Err(ToolMatcherError { item: item.to_owned(), problem });
        if item == "*" {
            return Ok(Self(Kind::All));
        }
        let (stem, is_prefix) = item.strip_suffix('*').map_or((item, false), |stem| (stem, true));
        let of_servers = stem.strip_prefix(OF_SERVERS);
        if stem.contains('*') || (is_prefix && of_servers.is_none()) {
            return error(Problem::Wildcard);
        }
        if let Some(odd) = stem.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
            return error(Problem::Character(odd));
        }
        match of_servers {
            Some(of_server) if is_prefix && of_server.starts_with("__") => error(Problem::Server),
            _ if is_prefix => Ok(Self(Kind::Prefix(as_known(stem)))),
            None if stem.is_empty() => error(Problem::Empty),
            // Names of servers hold no two underscores in a row and do not end in one.
            Some(server) if !server.contains("__") => match server.is_empty() || server.ends_with('_') {
                true => error(Problem::Server),
                false => Ok(Self(Kind::Server(mcp_name::server(server)))),
            },
            _ => Ok(Self::exact(as_known(stem))),
        }
    }

    /// Reads items with `|` or `,` between them, and spaces around these; there is at least one.
    ///
    /// # Errors
    /// One of them can never match.
    pub fn list(text: &str) -> Result<Vec<Self>, ToolMatcherError> {
        text.split(['|', ',']).map(|item| Self::new(item.trim())).collect()
    }

    /// The tool of exactly this name, whatever the name looks like.
    pub fn exact(name: impl Into<String>) -> Self {
        Self(Kind::Tool(name.into()))
    }

    /// Returns `true` if the item matches the tool of this name.
    pub fn matches(&self, tool: &str) -> bool {
        match &self.0 {
            Kind::All => true,
            Kind::Tool(name) => tool == name,
            Kind::Prefix(prefix) => tool.starts_with(prefix.as_str()),
            Kind::Server(name) => {
                let of_server = tool.strip_prefix(OF_SERVERS).and_then(|rest| rest.split_once("__"));
                of_server.is_some_and(|(server, _)| server == name)
            }
        }
    }

    /// Returns `true` if the item matches every tool.
    pub fn is_all(&self) -> bool {
        self.0 == Kind::All
    }

    /// Returns the name of the tool, if the item matches a single one.
    pub fn tool(&self) -> Option<&str> {
        match &self.0 {
            Kind::Tool(name) => Some(name),
            _ => None,
        }
    }
}

/// Returns a name or prefix with the server written as in names of tools, where a long name of a server is cut.
fn as_known(stem: &str) -> String {
    match stem.strip_prefix(OF_SERVERS).and_then(|rest| rest.split_once("__")) {
        Some((server, tools)) => format!("{OF_SERVERS}{}__{tools}", mcp_name::server(server)),
        None => stem.to_owned(),
    }
}

impl fmt::Display for ToolMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::All => f.write_str("*"),
            Kind::Tool(name) => f.write_str(name),
            Kind::Server(name) => write!(f, "{OF_SERVERS}{name}"),
            Kind::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}

/// An item of a list of tools that can never match: it is empty, holds a character that no name of a tool has (such as
/// those of regular expressions), names no server behind `mcp__`, or has a `*` where none can be. The message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolMatcherError {
    item: String,
    problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    Empty,
    Character(char),
    Server,
    Wildcard,
}

impl ToolMatcherError {
    /// The item.
    pub fn item(&self) -> &str {
        &self.item
    }
}

impl fmt::Display for ToolMatcherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = &self.item;
        match self.problem {
            Problem::Empty => write!(f, "{item:?} names no tool: write a name such as `Bash`, or `*` for every tool"),
            Problem::Character(odd) => write!(
                f,
                "{item:?} never matches, because no name of a tool has {odd:?}: write names with `|` between them, \
                 `mcp__server__*` or `*`"
            ),
            Problem::Server => {
                write!(f, "{item:?} never matches, because no MCP server has such a name: write `mcp__server__*`")
            }
            Problem::Wildcard => write!(
                f,
                "{item:?} never matches: a `*` stands alone for every tool, or ends an item that begins with `mcp__`"
            ),
        }
    }
}

impl std::error::Error for ToolMatcherError {}

#[cfg(test)]
mod tests;
