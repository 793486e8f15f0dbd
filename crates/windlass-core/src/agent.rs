//! Agents below the main one: identity, inherited rights and opening values.

use crate::ModelProfile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use windlass_permission::{Policy, RuleError};
use windlass_types::{AgentIdentity, AgentRights, Behavior, Effort, PermissionMode, RuleSource, SystemSection};

/// Identity of an agent below the main one, and the limits of its rights relative to its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Identity of the agent.
    pub identity: AgentIdentity,
    /// Rights of the agent, as limits on those of its parent.
    pub rights: AgentRights,
    /// Names of the commands and skills whose hooks also listen to this agent, because they listen to its parent.
    /// Default: none.
    pub skills: BTreeSet<String>,
    /// `true` if the agent's permission requests may wait for answers when the runs of its parent do: the call that
    /// runs it can stay open. Default: `false`, and a call that would ask is denied.
    pub waits: bool,
}

impl AgentConfig {
    /// Returns the configuration of an agent with the full rights of its parent.
    pub fn new(identity: AgentIdentity) -> Self {
        Self { identity, rights: AgentRights::default(), skills: BTreeSet::new(), waits: false }
    }

    /// Returns the agent's policy, derived from its parent's: it never permits more.
    ///
    /// # Errors
    /// A rule cannot be read. Without it the agent might do too much, so it must not start.
    pub fn narrowed(&self, parent: &Policy, cwd: &Path) -> Result<Policy, RuleError> {
        let requested = self.rights.permission_mode;
        let mut policy = parent.clone();
        let mode = requested.map_or(parent.mode(), |requested| requested.narrower(parent.mode()));
        // The narrower of two modes is always permitted.
        let _ = policy.set_mode(mode);
        // Neither plan nor dontAsk includes all limits of the other: if both are requested, both apply.
        if [requested, Some(parent.mode())].contains(&Some(PermissionMode::DontAsk)) {
            policy.never_ask();
        }
        policy.keep_plan_mode();
        policy.keep_run_rules();
        policy.add_rules(RuleSource::Command, Behavior::Deny, &self.rights.disallowed_tools, cwd)?;
        policy.limit_tools(&self.rights.tool_rules, cwd)?;
        Ok(policy)
    }
}

/// Opening values of an agent, see [`Machine::agent_config`](crate::Machine::agent_config).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentOpening {
    /// Identity and rights of the agent.
    pub agent: AgentConfig,
    /// Model of the agent. `None`: the model of the parent.
    pub model: Option<ModelProfile>,
    /// `true` if the parent's model chose that model for this call.
    pub chooses_model: bool,
    /// Effort of the agent's model. `None`: the effort of the parent.
    pub effort: Option<Effort>,
    /// Maximum number of model messages. `None`: no limit.
    pub max_turns: Option<u32>,
    /// System prompt of the agent.
    pub system: Vec<SystemSection>,
    /// Absolute start directory of the agent.
    pub cwd: PathBuf,
    /// 128 random bits, from which ids are generated.
    pub seed: u128,
}

impl AgentOpening {
    /// Returns an agent with the model of its parent, no system prompt and no turn limit.
    pub fn new(agent: AgentConfig, cwd: PathBuf, seed: u128) -> Self {
        Self { agent, model: None, chooses_model: false, effort: None, max_turns: None, system: Vec::new(), cwd, seed }
    }
}

/// A tool of the parent, offered to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "all that is asked of a tool here")]
pub struct OfferedTool<'a> {
    /// Name of the tool.
    pub name: &'a str,
    /// `true` if the user must answer each call of the tool.
    pub asks_the_user: bool,
}

/// Reason why an agent cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A rule of the agent cannot be read. Without it the agent might do too much.
    #[error("The agent {agent_type:?} cannot be used: {source}")]
    Rule {
        /// Name of the agent's definition.
        agent_type: String,
        /// Error in the rule.
        source: RuleError,
    },
    /// The model chose a model without a price, while the session has a budget.
    #[error(
        "The model {model:?} cannot be chosen: its price is not known, and the session has a budget. Leave it out."
    )]
    UnpricedModel {
        /// Id of the chosen model.
        model: String,
    },
    /// None of the tools required by the agent is available.
    #[error("The agent {agent_type:?} cannot be used: none of its tools is available here.")]
    NoTools {
        /// Name of the agent's definition.
        agent_type: String,
    },
}
