//! Why a question about code has no answer.

use windlass_types::text::clean_line;

/// Most characters of what a server says of a failure.
const LONGEST: usize = 500;

/// Why a question about code has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// No one can answer this for such files.
    #[error("there is no language server for {what}")]
    NoServer {
        /// The file, or what was asked.
        what: String,
    },
    /// Who could answer does not offer this operation.
    #[error("{server} does not offer {operation}")]
    NotOffered {
        /// Who was asked.
        server: String,
        /// What was asked.
        operation: String,
    },
    /// The server could not be started, or ended too often.
    #[error("the language server {server} cannot be used: {why}")]
    Unusable {
        /// The server.
        server: String,
        /// Why, in words for the host and the model.
        why: String,
    },
    /// The server answered with an error.
    #[error("the language server {server} answered: {message}")]
    Refused {
        /// The server.
        server: String,
        /// What it said, on one line and bounded.
        message: String,
    },
    /// The server did not answer in time. It may still be reading the project.
    #[error("the language server {server} did not answer within {seconds} s; it may still be reading the project")]
    TimedOut {
        /// The server.
        server: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A file cannot be shown to the server.
    #[error("{path} cannot be read: {why}")]
    File {
        /// The file.
        path: String,
        /// Why.
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

/// Words of a server on one line, at most 500 characters.
pub(crate) fn clipped(text: &str) -> String {
    clean_line(text).chars().take(LONGEST).collect()
}
