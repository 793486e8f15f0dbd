//! The session, directory and agent of an occasion.

use std::path::PathBuf;
use windlass_types::{AgentIdentity, PermissionMode, SessionId};

/// The session, directory and agent of an occasion on which a hook is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookContext {
    /// The session.
    pub session_id: SessionId,
    /// The current directory.
    pub cwd: PathBuf,
    /// The agent that it is about; `None` for the main agent.
    pub agent: Option<AgentIdentity>,
    /// The permission mode that is in force there, if it is known. That of an agent can be narrower than the session's.
    pub permission_mode: Option<PermissionMode>,
}

impl HookContext {
    /// A context of the main agent, with a mode that is not known.
    pub fn new(session_id: SessionId, cwd: PathBuf) -> Self {
        Self { session_id, cwd, agent: None, permission_mode: None }
    }

    /// Sets the permission mode that is in force.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Sets the agent below the main one that it is about.
    #[must_use]
    pub fn with_agent(mut self, agent: Option<AgentIdentity>) -> Self {
        self.agent = agent;
        self
    }
}
