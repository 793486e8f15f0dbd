//! Port for what happens before the program of a server starts: a review of the program, or a sandbox around it.

use crate::error::Error;
use async_trait::async_trait;
use std::any::Any;
use std::fmt;
use windlass_tool::ProcessCommand;

/// Kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    Mcp,
    Language,
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mcp => "MCP server",
            Self::Language => "language server",
        })
    }
}

/// A program as it may start.
pub(crate) struct GuardedProgram {
    pub(crate) command: ProcessCommand,
    /// Values that live as long as the program.
    pub(crate) kept: Box<dyn Any + Send + Sync>,
    /// Advice for people whose server does not start.
    pub(crate) advice: Option<&'static str>,
}

impl GuardedProgram {
    /// The program without changes.
    pub(crate) fn unchanged(command: ProcessCommand) -> Self {
        Self { command, kept: Box::new(()), advice: None }
    }
}

/// Guard of the programs of servers.
#[async_trait]
pub(crate) trait ServerGuard: fmt::Debug + Send + Sync + 'static {
    /// Returns the program as it may start.
    ///
    /// # Errors
    /// The program must not start. The text says why.
    async fn guard(&self, kind: ServerKind, name: &str, program: ProcessCommand) -> Result<GuardedProgram, String>;

    /// Accepts the MCP servers of a session whose programs start without this guard, since they were added before it.
    ///
    /// # Errors
    /// The session must not open with them.
    fn accept_unguarded(&self, _servers: Vec<String>, _notices: &mut Vec<String>) -> Result<(), Error> {
        Ok(())
    }
}
