//! MCP servers that a client brings.

use std::fmt;

/// MCP server that a client brings for a session. The owner of the sessions judges it like a server of a project: one
/// over stdio is a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcpMcpServer {
    /// Name of the server.
    pub name: String,
    /// Transport to the server.
    pub transport: AcpMcpTransport,
}

/// Transport to an [`AcpMcpServer`]. `Debug` shows no values of variables and headers.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcpMcpTransport {
    /// A program that speaks over its standard streams.
    Stdio {
        /// Path of the program.
        command: String,
        /// Arguments of the program.
        args: Vec<String>,
        /// Environment variables of the program, by name.
        env: Vec<(String, String)>,
    },
    /// Streamable HTTP.
    Http {
        /// Address.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
    },
    /// The older transport over HTTP with server-sent events.
    Sse {
        /// Address.
        url: String,
        /// Headers of each request.
        headers: Vec<(String, String)>,
    },
}

impl AcpMcpServer {
    /// A server with this name and transport.
    pub fn new(name: impl Into<String>, transport: AcpMcpTransport) -> Self {
        Self { name: name.into(), transport }
    }
}

impl fmt::Debug for AcpMcpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, .. } => f.debug_struct("Stdio").field("command", command).finish_non_exhaustive(),
            Self::Http { url, .. } => f.debug_struct("Http").field("url", url).finish_non_exhaustive(),
            Self::Sse { url, .. } => f.debug_struct("Sse").field("url", url).finish_non_exhaustive(),
        }
    }
}
