//! Agents below the main one: what they are opened with, and how much less they may do than their parent.

use crate::ModelProfile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use windlass_permission::{Policy, RuleError};
use windlass_types::{AgentIdentity, AgentRights, Behavior, Effort, PermissionMode, RuleSource, SystemSection};

/// Who an agent below the main one is, and how much less it may do than its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentConfig {
    /// Who it is.
    pub identity: AgentIdentity,
    /// What it may do of what its parent may.
    pub rights: AgentRights,
    /// The commands and skills, by name, whose hooks listen to it because they listen to its parent. Default: none.
    pub skills: BTreeSet<String>,
    /// Whether its questions may wait for answers, if the runs of its parent do: the call that runs it can stay open. Default:
    /// no, and what would ask without an answer is denied.
    pub waits: bool,
}

impl AgentConfig {
    /// An agent that may do what its parent may.
    pub fn new(identity: AgentIdentity) -> Self {
        Self { identity, rights: AgentRights::default(), skills: BTreeSet::new(), waits: false }
    }

    /// The policy of the agent under this policy of its parent: it never permits more.
    ///
    /// # Errors
    /// A rule cannot be read. Without it the agent might do too much, so it must not start.
    pub fn narrowed(&self, parent: &Policy, cwd: &Path) -> Result<Policy, RuleError> {
        let wanted = self.rights.permission_mode;
        let mut policy = parent.clone();
        let mode = wanted.map_or(parent.mode(), |wanted| wanted.narrower(parent.mode()));
        // Of two modes the narrower one is always permitted.
        let _ = policy.set_mode(mode);
        // Neither of plan and dontAsk permits all that the other one does: where both are wanted, both hold.
        if [wanted, Some(parent.mode())].contains(&Some(PermissionMode::DontAsk)) {
            policy.never_ask();
        }
        policy.keep_plan_mode();
        policy.keep_run_rules();
        policy.add_rules(RuleSource::Command, Behavior::Deny, &self.rights.disallowed_tools, cwd)?;
        policy.limit_tools(&self.rights.tool_rules, cwd)?;
        Ok(policy)
    }
}

/// What an agent is opened with, see [`Machine::agent_config`](crate::Machine::agent_config).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentOpening {
    /// Who it is, and what it may do.
    pub agent: AgentConfig,
    /// Its model. `None`: that of the parent.
    pub model: Option<ModelProfile>,
    /// Whether the model of the parent chose that model for this call.
    pub chooses_model: bool,
    /// How much its model spends on an answer. `None`: as much as that of the parent.
    pub effort: Option<Effort>,
    /// Most model messages. `None`: no limit.
    pub max_turns: Option<u32>,
    /// Its system prompt.
    pub system: Vec<SystemSection>,
    /// The directory that it starts in; absolute.
    pub cwd: PathBuf,
    /// 128 random bits; ids are made from them.
    pub seed: u128,
}

impl AgentOpening {
    /// An agent with the model of its parent, no system prompt and no limit of turns.
    pub fn new(agent: AgentConfig, cwd: PathBuf, seed: u128) -> Self {
        Self { agent, model: None, chooses_model: false, effort: None, max_turns: None, system: Vec::new(), cwd, seed }
    }
}

/// A tool of the parent, which an agent may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "all that is asked of a tool here")]
pub struct OfferedTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether the user must answer each of its calls.
    pub asks_the_user: bool,
}

/// Why an agent cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A rule of the agent cannot be read. Without it the agent might do too much.
    #[error("The agent {agent_type:?} cannot be used: {source}")]
    Rule {
        /// The name of the agent's definition.
        agent_type: String,
        /// What is wrong with the rule.
        source: RuleError,
    },
    /// The model chose a model without a price, while the session has a budget.
    #[error(
        "The model {model:?} cannot be chosen: its price is not known, and the session has a budget. Leave it out."
    )]
    UnpricedModel {
        /// The id of the chosen model.
        model: String,
    },
    /// None of the tools that the agent is to have is available.
    #[error("The agent {agent_type:?} cannot be used: none of its tools is available here.")]
    NoTools {
        /// The name of the agent's definition.
        agent_type: String,
    },
}
