//! Whose occasions a hook listens to.

use windlass_hook::HookContext;
use windlass_types::HookCall;

/// Whose occasions a hook listens to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HookScope {
    /// All of the session.
    #[default]
    Session,
    /// Those of agents of this type below the main one.
    Agent(String),
    /// Those of runs that use this command or skill, from its use on, and of the agents that work for such a run.
    Skill(String),
}

impl HookScope {
    pub(crate) fn covers(&self, cx: &HookContext, call: &HookCall) -> bool {
        match self {
            Self::Session => true,
            Self::Agent(kind) => call.agent().or(cx.agent.as_ref()).is_some_and(|agent| agent.agent_type == *kind),
            Self::Skill(name) => cx.skills.contains(name),
        }
    }
}
