//! End of a server.

use std::io;
use windlass_conversation::OpenFailure;

/// Reason why a server ended before its host was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The host sent an invalid line.
    #[error("the input is not a message of the host protocol: {problem}: {start}")]
    Malformed {
        /// Problem with the line.
        problem: String,
        /// Beginning of the line.
        start: String,
    },
    /// The host sent a line that is too long.
    #[error("a line of the input is longer than {limit} bytes")]
    TooLong {
        /// Maximum number of bytes of a line.
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

/// End of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// `true` if the last result was an error.
    pub is_error: bool,
    /// `true` if a request to shut down came before the host was done.
    pub shut_down: bool,
}
