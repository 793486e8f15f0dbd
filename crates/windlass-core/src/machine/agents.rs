//! What agents below the one of a machine are made from.

use super::Machine;
use crate::plan::is_of_plan_mode;
use crate::{AgentConfig, MachineConfig, ModelProfile};
use std::path::PathBuf;
use windlass_permission::RuleError;
use windlass_types::{AgentIdentity, SystemSection};

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
        let policy = agent.narrowed(&self.session.rights.policy, &cwd)?;
        let mut config = self.session.config.clone();
        if let Some(model) = model {
            config.model = model;
        } else {
            config.model = self.session.current_model().clone();
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
        self.session.config.limits.max_budget.is_none() || is_priced(model) || !is_priced(self.session.current_model())
    }

    /// Who the agent is, if it is not the main one.
    pub fn agent(&self) -> Option<&AgentIdentity> {
        self.session.config.agent.as_ref().map(|agent| &agent.identity)
    }

    /// Whether a tool is one that agents below this one do not have: the one that takes the structured output, and
    /// those that lead into plan mode and out of it.
    pub fn is_main_only(&self, tool: &str) -> bool {
        self.session.config.structured_output.as_deref() == Some(tool) || is_of_plan_mode(tool)
    }
}
