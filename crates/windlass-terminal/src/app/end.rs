//! Ends of a conversation at the terminal.

use std::io;
use windlass_conversation::OpenFailure;

/// Reason why a terminal conversation ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TerminalError {
    /// The terminal cannot be used, or is gone.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
    /// No session could be opened.
    #[error("{0}")]
    Open(OpenFailure),
    /// The session could not continue.
    #[error("{0}")]
    Session(String),
}

/// Reason why the person's conversation is over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TerminalEnd {
    /// The person left.
    Left,
    /// The person continues the session with this id: begin anew with it.
    Resume(String),
    /// The person continues in a copy of the session with this id: begin anew with one.
    Fork(String),
    /// The person adds this directory to the workspace of the session with this id; empty if none is open yet. Begin anew
    /// with both.
    AddDirectory {
        /// Id of the session.
        session: String,
        /// Path of the directory.
        directory: String,
    },
    /// The program was told to end: exit code 143 for SIGTERM, 129 for SIGHUP, 130 for SIGINT, 131 for SIGQUIT.
    Signal(i32),
}
