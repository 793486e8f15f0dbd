//! What can go wrong with servers.

use serde::Deserialize;
use std::time::Duration;

/// Why an operation on a server failed. The texts are for people; those
/// that come from a server are bounded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// A tool is another one than when its call was judged: the server was started for the call.
    #[error(
        "the tool {tool:?} of the MCP server {name:?} has changed since the server was last connected, so the call was not made: look at its definition and call it again"
    )]
    Changed {
        /// The server.
        name: String,
        /// The tool, by its own name.
        tool: String,
    },
    /// There is no server of this name.
    #[error("Server not found: {name}")]
    UnknownServer {
        /// The name.
        name: String,
    },
    /// There is no tool of this name.
    #[error("the MCP server {server:?} has no tool {tool:?}")]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A server of this name is there already.
    #[error("there is already an MCP server named {name:?}")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Another server has a name that is the same to the model and in rules.
    #[error(
        "an MCP server cannot be named {name:?}: its tools would be named `mcp__{known}__…` like those of {other:?}"
    )]
    NameTaken {
        /// The name.
        name: String,
        /// What it is to the model.
        known: String,
        /// The server that has it.
        other: String,
    },
    /// A server name that cannot be part of a tool name, or that could be taken for that of another server.
    #[error(
        "an MCP server cannot be named {name:?}: it needs 1 to 256 characters, one of them a letter or digit, no two \
         underscores in a row and none at its end"
    )]
    InvalidName {
        /// The name.
        name: String,
    },
    /// More servers than a set holds.
    #[error("there are already {limit} MCP servers")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The server is switched off.
    #[error("the MCP server {name:?} is switched off")]
    Disabled {
        /// The name.
        name: String,
    },
    /// The server wants the client to log in.
    #[error("the MCP server {name:?} needs authentication{advice}")]
    NeedsAuth {
        /// The name.
        name: String,
        /// What is wrong and what a user can do: empty, or with a leading colon.
        advice: String,
    },
    /// A login to the server did not succeed.
    #[error("the login to the MCP server {name:?} did not succeed: {reason}")]
    LoginFailed {
        /// The name.
        name: String,
        /// Why. It holds no secrets.
        reason: String,
    },
    /// The server could not be started or reached, or was lost.
    #[error("the MCP server {name:?} is not connected: {reason}{output}")]
    NotConnected {
        /// The name.
        name: String,
        /// Why.
        reason: String,
        /// What a program wrote before it ended: empty, or with a leading semicolon. The model does not read it.
        output: String,
    },
    /// The server speaks a version of the protocol that is not known here.
    #[error(
        "the MCP server {name:?} speaks the protocol version {version:?}, which is not known here; known are {known}"
    )]
    UnknownVersion {
        /// The name.
        name: String,
        /// The version that it answered with.
        version: String,
        /// The versions that are known.
        known: String,
    },
    /// The connection ended while a call was open.
    #[error(
        "the MCP server {name:?} was lost before it answered: the outcome of the call is unknown, so it was not sent again{detail}{output}"
    )]
    Lost {
        /// The name.
        name: String,
        /// How it was lost, if that is known, with a leading colon.
        detail: String,
        /// What a program wrote before it ended: empty, or with a leading semicolon. The model does not read it.
        output: String,
    },
    /// The server received a call and did not answer it as the protocol says.
    #[error(
        "the outcome of the call is unknown, so it was not sent again: the MCP server {name:?} received it and {detail}"
    )]
    OutcomeUnknown {
        /// The name.
        name: String,
        /// The deed of the server: the rest of a sentence.
        detail: String,
    },
    /// The server did not answer in time.
    #[error("the MCP server {name:?} did not answer within {} s", limit.as_secs_f64())]
    TimedOut {
        /// The name.
        name: String,
        /// How long was waited.
        limit: Duration,
    },
    /// The server asked for something again and again in place of a result.
    #[error("the MCP server {name:?} asked for something more than {limit} times in place of one result")]
    TooManyRounds {
        /// The name.
        name: String,
        /// How often it may: [`RoundLimits::rounds`](crate::RoundLimits::rounds).
        limit: u32,
    },
    /// The server wants too much back with the answers to what it asked for.
    #[error("the MCP server {name:?} wants a request state of more than {limit} bytes back")]
    StateTooLarge {
        /// The name.
        name: String,
        /// How many it may have: [`RoundLimits::state_bytes`](crate::RoundLimits::state_bytes).
        limit: usize,
    },
    /// The server answered with an error.
    #[error("MCP error {code}: {message}")]
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// The server's message.
        message: String,
    },
    /// The server needs a person to visit pages before it carries out the call.
    #[error(
        "the MCP server {name:?} needs the user to visit {} first, then the tool can be called again: {message}",
        addresses(visits)
    )]
    VisitNeeded {
        /// The name.
        name: String,
        /// The server's message.
        message: String,
        /// The pages: at least one.
        visits: Vec<McpVisit>,
    },
    /// The server's answer does not fit the request.
    #[error("the MCP server {name:?} gave an answer that is not understood{detail}")]
    BadAnswer {
        /// The name.
        name: String,
        /// The problem: empty, or with a leading colon.
        detail: String,
    },
    /// The call was stopped.
    #[error("the call was stopped")]
    Stopped,
}

/// A page that a server wants visited. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct McpVisit {
    /// Its address, of limited length.
    pub url: String,
    /// What the visit is for, in the server's words.
    #[serde(default)]
    pub message: String,
    /// The server's id of the visit; empty if it has none.
    #[serde(default, rename = "elicitationId")]
    pub id: String,
}

fn addresses(visits: &[McpVisit]) -> String {
    visits.iter().map(|visit| visit.url.as_str()).collect::<Vec<_>>().join(" and ")
}

impl McpError {
    /// An answer that does not fit its request.
    pub(crate) fn bad_answer(name: &str) -> Self {
        Self::BadAnswer { name: name.to_owned(), detail: String::new() }
    }

    /// The error as a model reads it: without what a program wrote, which may hold secrets.
    pub(crate) fn without_output(mut self) -> Self {
        if let Self::NotConnected { output, .. } | Self::Lost { output, .. } = &mut self {
            output.clear();
        }
        self
    }
}
