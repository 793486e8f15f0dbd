//! Permission policy of a session.

use crate::MachineConfig;
use std::sync::Arc;
use windlass_permission::{ModeError, Policy, RuleError, RuleWarning, SettingsRules, UpdateError};
use windlass_types::{PermissionMode, PermissionUpdate, ToolSpec};

/// Permission policy of a session.
#[derive(Debug)]
pub(crate) struct Rights {
    pub(crate) policy: Policy,
    /// Epoch of the policy: it increases with each change, and earlier decisions are checked again.
    pub(crate) epoch: u64,
    /// Permission mode to restore when the plan is approved.
    pub(crate) mode_before_plan: PermissionMode,
}

impl Rights {
    /// Returns the rights after a log that ends in this mode.
    pub(crate) fn new(config: &MachineConfig, recorded: Option<PermissionMode>) -> Self {
        let mut policy = config.policy.clone();
        // A file on disk never widens permissions: of the modes that a log can end with, only plan is restored, which
        // is narrower than the default. A mode that was chosen for this opening stays.
        if recorded == Some(PermissionMode::Plan) && policy.mode() == PermissionMode::Default {
            let _ = policy.set_mode(PermissionMode::Plan);
        }
        policy.offer(&config.tools.specs);
        Self { policy, epoch: 0, mode_before_plan: PermissionMode::Default }
    }

    pub(crate) fn set_mode(&mut self, mode: PermissionMode) -> Result<(), ModeError> {
        self.change(|policy| policy.set_mode(mode))
    }

    pub(crate) fn update(&mut self, update: &PermissionUpdate) -> Result<(), UpdateError> {
        self.change(|policy| policy.apply(update))
    }

    pub(crate) fn renew_settings(&mut self, before: &SettingsRules, now: &SettingsRules) -> Result<(), RuleError> {
        self.change(|policy| policy.renew_settings(before, now))
    }

    fn change<E>(&mut self, change: impl FnOnce(&mut Policy) -> Result<(), E>) -> Result<(), E> {
        let previous_mode = self.policy.mode();
        change(&mut self.policy)?;
        self.epoch += 1;
        if self.policy.mode() == PermissionMode::Plan && previous_mode != PermissionMode::Plan {
            self.mode_before_plan = previous_mode;
        }
        Ok(())
    }

    /// Updates the definitions of the offered tools.
    pub(crate) fn offer(&mut self, tools: &[Arc<ToolSpec>]) {
        if self.policy.offer(tools) {
            self.epoch += 1;
        }
    }

    /// Adds rules for the run. Returns warnings about them.
    pub(crate) fn begin_scope(&mut self, allow: &[String], deny: &[String]) -> Result<Vec<RuleWarning>, RuleError> {
        let warnings = self.policy.add_run_rules(allow, deny)?;
        self.epoch += 1;
        Ok(warnings)
    }

    /// Removes the rules of the run.
    pub(crate) fn end_scope(&mut self) {
        if self.policy.end_run() {
            self.epoch += 1;
        }
    }

    /// Replaces the policy.
    pub(crate) fn replace(&mut self, mut policy: Policy, tools: &[Arc<ToolSpec>]) {
        policy.continue_run(&self.policy);
        self.policy = policy;
        self.policy.offer(tools);
        self.epoch += 1;
    }
}
