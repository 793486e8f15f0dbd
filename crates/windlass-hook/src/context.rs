//! The session, directory and agent of an occasion.

use std::collections::BTreeSet;
use std::path::PathBuf;
use windlass_types::{AgentIdentity, AgentPath, PermissionMode, SessionId};

/// The session, directory and agent of an occasion on which a hook is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookContext {
    /// The session.
    pub session_id: SessionId,
    /// The current directory.
    pub cwd: PathBuf,
    /// Agent that the occasion is about; `None` for the main agent.
    pub agent: Option<AgentIdentity>,
    /// Tool uses that lead to that agent, outermost first; empty for the main agent.
    pub path: AgentPath,
    /// Permission mode that is in force there, if known. The mode of an agent can be narrower than the session's.
    pub permission_mode: Option<PermissionMode>,
    /// Names of the commands and skills that the run uses, for hooks in their heads. Default: none.
    pub skills: BTreeSet<String>,
}

impl HookContext {
    /// Returns a context of the main agent, with an unknown mode.
    pub fn new(session_id: SessionId, cwd: PathBuf) -> Self {
        Self {
            session_id,
            cwd,
            agent: None,
            path: AgentPath::default(),
            permission_mode: None,
            skills: BTreeSet::new(),
        }
    }

    /// Sets the permission mode that is in force.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Sets the agent below the main one that the occasion is about.
    #[must_use]
    pub fn with_agent(mut self, agent: Option<AgentIdentity>) -> Self {
        self.agent = agent;
        self
    }

    /// Sets the tool uses that lead to the agent.
    #[must_use]
    pub fn with_path(mut self, path: AgentPath) -> Self {
        self.path = path;
        self
    }

    /// Sets the commands and skills that the run uses.
    #[must_use]
    pub fn with_skills(mut self, skills: BTreeSet<String>) -> Self {
        self.skills = skills;
        self
    }
}
