//! Patterns for MCP servers in a list: a name, a command, or an address with wildcards.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of entries of a list.
const MAX_ENTRIES: usize = 1000;
/// Maximum length of an entry, in bytes.
const MAX_ENTRY_BYTES: usize = 4096;

/// Pattern for servers in `allowedMcpServers` and `deniedMcpServers`, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ServerPattern {
    /// `serverName`: the server of exactly this name. Names are chosen freely, so a denial by name is easily avoided:
    /// under another name the server may be connected.
    #[serde(rename = "serverName")]
    Name(String),
    /// `serverCommand`: servers that are started with exactly this command and these arguments.
    #[serde(rename = "serverCommand")]
    Command(Vec<String>),
    /// `serverUrl`: servers that are reached at such an address: `scheme://host:port/path` with `*` for any text of a
    /// part. Without a path any path is meant, without a port that of the scheme.
    #[serde(rename = "serverUrl")]
    Url(String),
}

/// Program or URL of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerAddress<'a> {
    /// A program.
    Program {
        /// The program.
        command: &'a str,
        /// Arguments of the program.
        args: &'a [String],
    },
    /// An address.
    Url(&'a str),
}

/// Returns the entries of a list, or the problem with one.
pub(crate) fn read(list: &Value) -> Result<Vec<ServerPattern>, String> {
    let entries = list.as_array().ok_or("it is no list")?;
    if entries.len() > MAX_ENTRIES {
        return Err(format!("it has more than {MAX_ENTRIES} entries"));
    }
    let read = |(index, entry): (usize, &Value)| {
        let unreadable = |problem: &str| format!("entry {} cannot be read: {problem}", index + 1);
        let pattern = ServerPattern::deserialize(entry).map_err(|_| {
            unreadable("it is an object with one of `serverName`, `serverCommand` (a list) and `serverUrl`")
        })?;
        match pattern.texts().iter().map(|text| text.len()).sum::<usize>() {
            0 => Err(unreadable("it is empty")),
            length if length > MAX_ENTRY_BYTES => Err(unreadable(&format!("it has more than {MAX_ENTRY_BYTES} bytes"))),
            _ => Ok(pattern),
        }
    };
    entries.iter().enumerate().map(read).collect()
}

impl ServerPattern {
    fn texts(&self) -> &[String] {
        match self {
            Self::Name(text) | Self::Url(text) => std::slice::from_ref(text),
            Self::Command(texts) => texts,
        }
    }
}
