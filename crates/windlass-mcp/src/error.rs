//! Errors of servers.

use serde::Deserialize;
use std::time::Duration;

/// Reason why an operation on a server failed. The texts are for people; those that come from a server are bounded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// A tool has changed since its call was judged: the server was started for the call.
    #[error(
        "the tool {tool:?} of the MCP server {name:?} has changed since the server was last connected, so the call was not made: look at its definition and call it again"
    )]
    Changed {
        /// Name of the server.
        name: String,
        /// Own name of the tool.
        tool: String,
    },
    /// No server of this name exists.
    #[error("Server not found: {name}")]
    UnknownServer {
        /// Name that was looked up.
        name: String,
    },
    /// No tool of this name exists.
    #[error("the MCP server {server:?} has no tool {tool:?}")]
    UnknownTool {
        /// Name of the server.
        server: String,
        /// Own name of the tool.
        tool: String,
    },
    /// A server of this name already exists.
    #[error("there is already an MCP server named {name:?}")]
    Duplicate {
        /// Name of the server.
        name: String,
    },
    /// Another server has a name that is the same to the model and in rules.
    #[error(
        "an MCP server cannot be named {name:?}: its tools would be named `mcp__{known}__…` like those of {other:?}"
    )]
    NameTaken {
        /// Rejected name.
        name: String,
        /// Form of the name that the model knows.
        known: String,
        /// Name of the other server.
        other: String,
    },
    /// The server name cannot be part of a tool name, or could be mistaken for that of another server.
    #[error(
        "an MCP server cannot be named {name:?}: it needs 1 to 256 characters, one of them a letter or digit, no two \
         underscores in a row and none at its end"
    )]
    InvalidName {
        /// Rejected name.
        name: String,
    },
    /// The set is full.
    #[error("there are already {limit} MCP servers")]
    TooMany {
        /// Maximum number of servers of a set.
        limit: usize,
    },
    /// The server is switched off.
    #[error("the MCP server {name:?} is switched off")]
    Disabled {
        /// Name of the server.
        name: String,
    },
    /// The server requires a login.
    #[error("the MCP server {name:?} needs authentication{advice}")]
    NeedsAuth {
        /// Name of the server.
        name: String,
        /// Problem and advice for the user: empty, or with a leading colon.
        advice: String,
    },
    /// A login to the server failed.
    #[error("the login to the MCP server {name:?} did not succeed: {reason}")]
    LoginFailed {
        /// Name of the server.
        name: String,
        /// Reason of the failure. It holds no secrets.
        reason: String,
    },
    /// The server could not be started or reached, or was lost.
    #[error("the MCP server {name:?} is not connected: {reason}{output}")]
    NotConnected {
        /// Name of the server.
        name: String,
        /// Reason of the failure.
        reason: String,
        /// Output of a program before it ended: empty, or with a leading semicolon. The model does not read it.
        output: String,
    },
    /// The server speaks an unknown protocol version.
    #[error(
        "the MCP server {name:?} speaks the protocol version {version:?}, which is not known here; known are {known}"
    )]
    UnknownVersion {
        /// Name of the server.
        name: String,
        /// Version that the server answered with.
        version: String,
        /// Versions that the client knows.
        known: String,
    },
    /// The connection ended while a call was open.
    #[error(
        "the MCP server {name:?} was lost before it answered: the outcome of the call is unknown, so it was not sent again{detail}{output}"
    )]
    Lost {
        /// Name of the server.
        name: String,
        /// Description of the loss, if known, with a leading colon.
        detail: String,
        /// Output of a program before it ended: empty, or with a leading semicolon. The model does not read it.
        output: String,
    },
    /// The server received a call and did not answer it as the protocol requires.
    #[error(
        "the outcome of the call is unknown, so it was not sent again: the MCP server {name:?} received it and {detail}"
    )]
    OutcomeUnknown {
        /// Name of the server.
        name: String,
        /// Description of the server's fault: the rest of a sentence.
        detail: String,
    },
    /// The server did not answer in time.
    #[error("the MCP server {name:?} did not answer within {} s", limit.as_secs_f64())]
    TimedOut {
        /// Name of the server.
        name: String,
        /// Time that was waited.
        limit: Duration,
    },
    /// The server requested input in place of a result too many times.
    #[error("the MCP server {name:?} asked for something more than {limit} times in place of one result")]
    TooManyRounds {
        /// Name of the server.
        name: String,
        /// Maximum number of rounds: [`RoundLimits::rounds`](crate::RoundLimits::rounds).
        limit: u32,
    },
    /// The request state of the server is too large.
    #[error("the MCP server {name:?} wants a request state of more than {limit} bytes back")]
    StateTooLarge {
        /// Name of the server.
        name: String,
        /// Maximum size in bytes: [`RoundLimits::state_bytes`](crate::RoundLimits::state_bytes).
        limit: usize,
    },
    /// The server answered with an error.
    #[error("MCP error {code}: {message}")]
    Refused {
        /// JSON-RPC error code.
        code: i64,
        /// Message of the server.
        message: String,
    },
    /// The server needs a person to visit pages before it carries out the call.
    #[error(
        "the MCP server {name:?} needs the user to visit {} first, then the tool can be called again: {message}",
        addresses(visits)
    )]
    VisitNeeded {
        /// Name of the server.
        name: String,
        /// Message of the server.
        message: String,
        /// Pages to visit: at least one.
        visits: Vec<McpVisit>,
    },
    /// The server's answer does not fit the request.
    #[error("the MCP server {name:?} gave an answer that is not understood{detail}")]
    BadAnswer {
        /// Name of the server.
        name: String,
        /// Description of the problem: empty, or with a leading colon.
        detail: String,
    },
    /// The call was stopped.
    #[error("the call was stopped")]
    Stopped,
}

/// Page that a server wants visited. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpVisit {
    /// Address of the page, of limited length.
    pub url: String,
    /// Purpose of the visit, in the server's words.
    #[serde(default)]
    pub message: String,
    /// Id of the visit at the server; empty if it has none.
    #[serde(default, rename = "elicitationId")]
    pub id: String,
}

fn addresses(visits: &[McpVisit]) -> String {
    visits.iter().map(|visit| visit.url.as_str()).collect::<Vec<_>>().join(" and ")
}

impl McpError {
    /// Creates the error of an answer that does not fit its request.
    pub(crate) fn bad_answer(name: &str) -> Self {
        Self::BadAnswer { name: name.to_owned(), detail: String::new() }
    }

    /// Removes the output of a program, which may hold secrets, so that a model can read the error.
    pub(crate) fn without_output(mut self) -> Self {
        if let Self::NotConnected { output, .. } | Self::Lost { output, .. } = &mut self {
            output.clear();
        }
        self
    }
}
