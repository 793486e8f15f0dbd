//! Errors of requests and of the server.

use std::fmt;
use std::io;

/// Reason why a request of a client fails. The client shows the message to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcpError {
    /// Kind, for programs.
    pub kind: AcpErrorKind,
    /// Text for people: what happened, to what, and what to do.
    pub message: String,
}

/// Kind of an [`AcpError`], each with a code of JSON-RPC or of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AcpErrorKind {
    /// The line is no JSON: -32700.
    NotJson,
    /// The message is no valid request: -32600.
    InvalidRequest,
    /// The method is unknown: -32601.
    UnknownMethod,
    /// The parameters are unusable: -32602.
    InvalidParams,
    /// The request failed: -32603.
    Internal,
    /// A login or an API key is missing: -32000.
    AuthRequired,
    /// The session is unknown: -32002.
    NotFound,
}

impl AcpErrorKind {
    /// The code on the wire.
    pub fn code(self) -> i64 {
        match self {
            Self::NotJson => -32700,
            Self::InvalidRequest => -32600,
            Self::UnknownMethod => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::AuthRequired => -32000,
            Self::NotFound => -32002,
        }
    }
}

impl AcpError {
    /// An error of this kind.
    pub fn new(kind: AcpErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The parameters of the request are unusable.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::InvalidParams, message)
    }

    /// The session, or another thing that the request names, is unknown.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::NotFound, message)
    }

    /// A login or an API key is missing.
    pub fn auth_required(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::AuthRequired, message)
    }

    /// The request failed for another reason.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::Internal, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(AcpErrorKind::InvalidRequest, message)
    }
}

impl fmt::Display for AcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AcpError {}

/// Reason why an [`AcpServer`](crate::AcpServer) ends early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcpServerError {
    /// The input cannot be read.
    #[error("the messages of the client cannot be read: {0}")]
    Input(#[source] io::Error),
    /// The output cannot be written: the client is gone.
    #[error("nothing can be written to the client: {0}")]
    Output(#[source] io::Error),
}
