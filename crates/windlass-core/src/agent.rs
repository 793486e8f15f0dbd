//! Agents below the main one.

use std::path::Path;
use windlass_permission::{Policy, RuleError};
use windlass_types::{AgentIdentity, Behavior, PermissionMode, RuleSource};

/// Who an agent below the main one is, and how much less it may do than its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Who it is.
    pub identity: AgentIdentity,
    /// The permission mode that it wants. It counts only while it permits less than that of the parent.
    pub permission_mode: Option<PermissionMode>,
    /// Rules of calls that are refused, beside those of the parent.
    pub deny: Vec<String>,
}

impl AgentConfig {
    /// An agent that may do what its parent may.
    pub fn new(identity: AgentIdentity) -> Self {
        Self { identity, permission_mode: None, deny: Vec::new() }
    }

    /// What the agent may do where its parent may do this: never more.
    ///
    /// # Errors
    /// A rule cannot be read. Without it the agent might do too much, so it must not start.
    pub fn narrowed(&self, parent: &Policy, cwd: &Path) -> Result<Policy, RuleError> {
        let mut policy = parent.clone();
        let mode = self.permission_mode.map_or(parent.mode(), |wanted| wanted.narrower(parent.mode()));
        // Of two modes the narrower one is always permitted.
        let _ = policy.set_mode(mode);
        // Neither of plan and dontAsk permits all that the other one does: where both are wanted, both hold.
        if [self.permission_mode, Some(parent.mode())].contains(&Some(PermissionMode::DontAsk)) {
            policy.never_ask();
        }
        policy.keep_plan_mode();
        policy.add_rules(RuleSource::Command, Behavior::Deny, &self.deny, cwd)?;
        Ok(policy)
    }
}
