//! Errors of questions about code.

use windlass_types::text::clean_line;

/// Maximum length of a server's message about a failure, in characters.
const LONGEST: usize = 500;

/// Reason why a question about code has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// No server can answer the question for such files.
    #[error("there is no language server for {what}")]
    NoServer {
        /// File or operation of the question.
        what: String,
    },
    /// The server does not offer this operation.
    #[error("{server} does not offer {operation}")]
    NotOffered {
        /// Name of the server.
        server: String,
        /// Operation of the question.
        operation: String,
    },
    /// The server could not be started, or ended too often.
    #[error("the language server {server} cannot be used: {why}")]
    Unusable {
        /// Name of the server.
        server: String,
        /// Reason, in words for the host and the model.
        why: String,
    },
    /// The server answered with an error.
    #[error("the language server {server} answered: {message}")]
    Refused {
        /// Name of the server.
        server: String,
        /// Message of the server, on one line and bounded.
        message: String,
    },
    /// The server did not answer in time. It may still be reading the project.
    #[error("the language server {server} did not answer within {seconds} s; it may still be reading the project")]
    TimedOut {
        /// Name of the server.
        server: String,
        /// Waiting time, in seconds.
        seconds: u64,
    },
    /// A file cannot be shown to the server.
    #[error("{path} cannot be read: {why}")]
    File {
        /// Path of the file.
        path: String,
        /// Reason of the failure.
        why: String,
    },
}

impl CodeError {
    pub(crate) fn refused(server: &str, message: &str) -> Self {
        Self::Refused { server: server.to_owned(), message: clipped(message) }
    }

    pub(crate) fn unusable(server: &str, why: impl Into<String>) -> Self {
        Self::Unusable { server: server.to_owned(), why: clipped(&why.into()) }
    }
}

/// Returns a server's text on one line, at most 500 characters.
pub(crate) fn clipped(text: &str) -> String {
    clean_line(text).chars().take(LONGEST).collect()
}
