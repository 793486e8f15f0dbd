//! A machine whose agent is not the main one.

use crate::{Machine, MachineConfig, ModelProfile};
use std::path::{Path, PathBuf};
use windlass_permission::{Policy, RuleError};
use windlass_types::{
    AgentIdentity, Behavior, EntryId, HookCall, HookEventName, PermissionMode, RuleSource, SystemSection,
};

/// Who an agent below the main one is, and how much less it may do than the agent above it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Who it is.
    pub identity: AgentIdentity,
    /// The permission mode that it wants. It counts only while it permits less than that of the agent above it.
    pub permission_mode: Option<PermissionMode>,
    /// Rules of calls that are refused, beside those of the agent above it.
    pub deny: Vec<String>,
}

impl AgentConfig {
    /// An agent that may do what the agent above it may.
    pub fn new(identity: AgentIdentity) -> Self {
        Self { identity, permission_mode: None, deny: Vec::new() }
    }

    /// What the agent may do where the agent above it may do this: never more.
    ///
    /// # Errors
    /// A rule cannot be read. Without it the agent might do too much, so it must not start.
    pub fn narrowed(&self, above: &Policy, cwd: &Path) -> Result<Policy, RuleError> {
        let mut policy = above.clone();
        let mode = self.permission_mode.map_or(above.mode(), |wanted| wanted.narrower(above.mode()));
        // Of two modes the narrower one is always permitted.
        let _ = policy.set_mode(mode);
        // Neither of plan and dontAsk permits all that the other one does: where both are wanted, both hold.
        if [self.permission_mode, Some(above.mode())].contains(&Some(PermissionMode::DontAsk)) {
            policy.never_ask();
        }
        policy.keep_plan_mode();
        policy.add_rules(RuleSource::Command, Behavior::Deny, &self.deny, cwd)?;
        Ok(policy)
    }
}

impl Machine {
    /// What the machine of an agent below this one is made from: the same model settings, limits and money, a
    /// conversation of its own, no tools yet, and no more rights than this one has now.
    ///
    /// # Errors
    /// A rule of the agent cannot be read.
    pub fn agent_config(
        &self,
        agent: AgentConfig,
        model: Option<ModelProfile>,
        system: Vec<SystemSection>,
        cwd: PathBuf,
        seed: u128,
    ) -> Result<MachineConfig, RuleError> {
        let policy = agent.narrowed(&self.policy, &cwd)?;
        let mut config = self.config.clone();
        if let Some(model) = model {
            config.model = model;
        } else {
            config.model = self.current_model().clone();
        }
        (config.policy, config.system, config.cwd, config.seed) = (policy, system, cwd, seed);
        config.tools = std::sync::Arc::from([]);
        config.structured_output = None;
        config.raw_frames = false;
        config.limits.max_turns = None;
        config.taken_ids.clear();
        config.agent = Some(agent);
        Ok(config)
    }

    /// Whether the budget limits calls of another model as it limits those of this agent's: there is none, or both
    /// have a price, or neither has.
    pub fn budget_holds_for(&self, model: &ModelProfile) -> bool {
        let is_priced = |model: &ModelProfile| model.info.price.is_some();
        self.config.limits.max_budget.is_none() || is_priced(model) || !is_priced(self.current_model())
    }

    /// Who the agent is, if it is not the main one.
    pub fn agent(&self) -> Option<&AgentIdentity> {
        self.config.agent.as_ref().map(|agent| &agent.identity)
    }

    /// The entry of the prompt that what happens now is done for, if there was one.
    pub fn prompt(&self) -> Option<&EntryId> {
        self.tasks.prompt.as_ref()
    }

    /// Whether a tool is one that agents below this one do not have: the one that takes the structured output, and
    /// those that lead into plan mode and out of it.
    pub fn is_main_only(&self, tool: &str) -> bool {
        self.config.structured_output.as_deref() == Some(tool) || crate::plan::is_of_plan_mode(tool)
    }

    /// The agent above may do something else now: so may this one.
    pub(crate) fn inherit(&mut self, above: &Policy) {
        let Some(agent) = &self.config.agent else { return };
        // Its rules could be read when it began.
        if let Ok(policy) = agent.narrowed(above, &self.config.cwd) {
            self.policy = policy;
            self.policy.offer(&self.config.tools);
            self.policy_epoch += 1;
        }
    }

    /// The occasion before the first prompt.
    pub(crate) fn opening(&self) -> HookCall {
        match &self.config.agent {
            Some(agent) => HookCall::SubagentStart(agent.identity.clone()),
            None => {
                let source = if self.state.is_empty() { "startup" } else { "resume" };
                HookCall::SessionStart { source: source.to_owned() }
            }
        }
    }

    /// The occasion on which the model is done.
    pub(crate) fn stopping(&self) -> HookCall {
        let (stop_hook_active, last_assistant_message) =
            self.run.as_ref().map(|run| (run.stop_continuations > 0, run.text.clone())).unwrap_or_default();
        match &self.config.agent {
            Some(agent) => {
                let agent = agent.identity.clone();
                HookCall::SubagentStop { agent, stop_hook_active, last_assistant_message }
            }
            None => HookCall::Stop { stop_hook_active, last_assistant_message },
        }
    }

    /// Whether this is the main agent, and a hook listens to an event that agents below it do not have.
    pub(crate) fn main_listens(&self, event: HookEventName) -> bool {
        self.config.agent.is_none() && self.config.listens(event, None)
    }
}
