//! How a server ends.

use std::io;
use windlass_conversation::OpenFailure;

/// Why a server ended before its host was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The host sent a line that is not a message.
    #[error("the input is not a message of the host protocol: {problem}: {start}")]
    Malformed {
        /// What is wrong.
        problem: String,
        /// How the line begins.
        start: String,
    },
    /// The host sent a line that is too long.
    #[error("a line of the input is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The input failed.
    #[error("the input cannot be read: {0}")]
    Input(#[source] io::Error),
    /// The output failed: the host is gone.
    #[error("the output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// The session could not be opened. The host has a frame with the reason.
    #[error("{0}")]
    Open(OpenFailure),
    /// The session could not continue. The host has a frame with the reason.
    #[error(transparent)]
    Session(#[from] windlass_runtime::SessionError),
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// Whether the last result was an error.
    pub is_error: bool,
    /// Whether an order to end came before the host was done.
    pub shut_down: bool,
}
