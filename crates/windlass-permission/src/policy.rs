//! The policy: everything a verdict depends on, the call aside.

use crate::{CallFacts, ModeError, RuleError, RuleWarning, UpdateError};
use std::path::{Path, PathBuf};
use windlass_types::{
    Behavior, CallDigest, Decision, DecisionReason, HookVerdict, PermissionMode, PermissionUpdate, RuleSource,
};

/// What a policy starts from. All paths are absolute.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PolicyConfig {
    /// The directory the session started in: the workspace.
    pub start_directory: PathBuf,
    /// More directories of the workspace.
    pub additional_directories: Vec<PathBuf>,
    /// The user's home, where `~/` in rules starts.
    pub home: Option<PathBuf>,
    /// The mode at the start.
    pub mode: PermissionMode,
    /// Whether the mode bypassPermissions can be entered.
    pub bypass_allowed: bool,
    /// Paths that are protected besides the names that are protected everywhere: resolved git directories,
    /// settings files elsewhere, the harness's own home.
    pub protected_paths: Vec<PathBuf>,
    /// Directories that are links, and what they resolve to (`/tmp` and `/private/tmp`), so that rules and
    /// directories given in one form hold for the other.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl PolicyConfig {
    /// Mode default, no home, nothing but the start directory.
    pub fn new(start_directory: impl Into<PathBuf>) -> Self {
        Self {
            start_directory: start_directory.into(),
            additional_directories: Vec::new(),
            home: None,
            mode: PermissionMode::Default,
            bypass_allowed: false,
            protected_paths: Vec::new(),
            links: Vec::new(),
        }
    }
}

/// Rules by source, a mode, and the directories of the workspace. Pure data.
#[derive(Debug, Clone)]
pub struct Policy {
    config: PolicyConfig,
}

impl Policy {
    /// A policy without rules.
    pub fn new(config: PolicyConfig) -> Self {
        Self { config }
    }

    /// Adds rules of one source and behaviour. `anchor` is where patterns that begin with a single `/`
    /// start. What can be said about rules that have no effect is returned.
    ///
    /// # Errors
    /// A deny or ask rule cannot be used; then none of these rules is added. An unusable allow rule is
    /// left out with a warning.
    pub fn add_rules(
        &mut self,
        source: RuleSource,
        behavior: Behavior,
        rules: &[impl AsRef<str>],
        anchor: &Path,
    ) -> Result<Vec<RuleWarning>, RuleError> {
        let _ = (source, behavior, rules, anchor);
        Ok(Vec::new())
    }

    /// The mode.
    pub fn mode(&self) -> PermissionMode {
        self.config.mode
    }

    /// Changes the mode.
    ///
    /// # Errors
    /// bypassPermissions was not allowed at the start.
    pub fn set_mode(&mut self, mode: PermissionMode) -> Result<(), ModeError> {
        if mode == PermissionMode::BypassPermissions && !self.config.bypass_allowed {
            return Err(ModeError::BypassNotAllowed);
        }
        self.config.mode = mode;
        Ok(())
    }

    /// The directories of the workspace, the start directory first.
    pub fn directories(&self) -> &[PathBuf] {
        &self.config.additional_directories
    }

    /// Whether a deny rule covers every call of the tool, so that it is not offered to the model.
    pub fn is_hidden(&self, tool: &str) -> bool {
        let _ = tool;
        false
    }

    /// The verdict on a call.
    ///
    /// `hook` is what PreToolUse hooks said together. `approved` is the digest of a call that somebody who
    /// was asked has allowed: if it is this call's, *ask* becomes *allow*, also on the safety floor. A deny stays.
    pub fn decide(&self, facts: &CallFacts, hook: Option<&HookVerdict>, approved: Option<&CallDigest>) -> Decision {
        let _ = (facts, hook, approved);
        Decision::new(Behavior::Ask, DecisionReason::Default, "")
    }

    /// Whether the call only reads, whatever the rules say: the scheduler may start it early and run it
    /// beside others.
    pub fn is_proven_read_only(&self, facts: &CallFacts) -> bool {
        let _ = facts;
        false
    }

    /// Applies a change in memory, also one whose destination is a settings file (writing that file is up
    /// to whoever owns it). The managed policy's rules are out of reach.
    ///
    /// # Errors
    /// A rule, mode or directory of the update is unusable; then nothing changed.
    pub fn apply(&mut self, update: &PermissionUpdate) -> Result<(), UpdateError> {
        let _ = update;
        Ok(())
    }

    /// Whether a search may show what it finds at this path: no Read deny rule matches it, neither as
    /// requested nor with its links followed.
    pub fn may_read(&self, requested: &Path, resolved: &Path) -> bool {
        let _ = (requested, resolved);
        true
    }
}
