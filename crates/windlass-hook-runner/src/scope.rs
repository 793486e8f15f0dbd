//! Scopes, which limit the agents or skills whose events a hook receives.

use windlass_hook::HookContext;
use windlass_types::HookCall;

/// Agents or skills whose events a hook receives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HookScope {
    /// All events of the session.
    #[default]
    Session,
    /// Events of subagents of this type.
    Agent(String),
    /// Events of runs that use this command or skill, from its use on, and of the agents that work for such a run.
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
