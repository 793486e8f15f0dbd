//! Why a server ends.

use std::io;

/// Why a server could not begin, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client broke the protocol before it had greeted.
    #[error("the MCP client did not greet: {0}")]
    Greeting(String),
    /// A stream or a socket.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A session for the tools could not be opened.
    #[error(transparent)]
    Session(#[from] windlass::Error),
    /// The session for the tools was opened and let no prompt in.
    #[error("the session behind the server takes no prompt: a hook blocks it")]
    Blocked,
    /// The options of a server cannot be used.
    #[error("{0}")]
    Options(&'static str),
}
