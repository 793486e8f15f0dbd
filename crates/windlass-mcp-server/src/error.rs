//! Errors of a server.

use std::io;

/// Reason why a server could not start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client broke the protocol before its greeting.
    #[error("the MCP client did not greet: {0}")]
    Greeting(String),
    /// A stream or a socket failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A session for the tools could not be opened.
    #[error(transparent)]
    Session(#[from] windlass::Error),
    /// The session for the tools was opened and admitted no prompt.
    #[error("the session behind the server takes no prompt: a hook blocks it")]
    Blocked,
    /// The options of a server are unusable.
    #[error("{0}")]
    Options(&'static str),
}
