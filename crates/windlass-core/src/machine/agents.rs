//! Configuration of agents below a machine's own agent.

use super::Machine;
use crate::plan::is_of_plan_mode;
use crate::{AgentConfig, AgentError, AgentOpening, MachineConfig, ModelProfile, OfferedTool};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use windlass_permission::{OnlyTools, Policy};
use windlass_types::AgentIdentity;

impl Machine {
    /// Returns the machine configuration of an agent below this one: the same model settings, limits and budget, a
    /// conversation of its own, no tools yet, and at most the current rights of this one.
    ///
    /// # Errors
    /// A rule of the agent cannot be read, or its model may not be chosen.
    pub fn agent_config(&self, opening: AgentOpening) -> Result<MachineConfig, AgentError> {
        let AgentOpening { agent, model, chooses_model, effort, max_turns, system, cwd, seed } = opening;
        if let Some(model) = model.as_ref().filter(|model| chooses_model && !self.budget_holds_for(model)) {
            return Err(AgentError::UnpricedModel { model: model.id.to_string() });
        }
        let policy = self.narrowed(&agent, &cwd)?;
        let mut config = self.session.config.clone();
        config.model = model.unwrap_or_else(|| self.session.current_model().clone());
        (config.policy, config.cwd) = (policy, cwd);
        (config.ids.seed, config.ids.taken) = (seed, HashSet::new());
        (config.request.system, config.request.raw_frames) = (system, false);
        config.request.effort = effort.or(config.request.effort);
        config.tools.specs = Arc::from([]);
        config.tools.structured_output = None;
        config.limits.max_turns = max_turns;
        let waits = agent.waits && self.session.config.waits().is_some();
        config.agent = Some(AgentConfig { skills: self.skills(), waits, ..agent });
        Ok(config)
    }

    /// Returns the names of the tools that an agent below this one gets from those of this one: its definition includes
    /// them, and no rule denies them as a whole. Tools that ask the user and tools for the main agent only are left
    /// out.
    ///
    /// # Errors
    /// A rule of the agent cannot be read, or none of its required tools is left.
    pub fn agent_tools<'a>(
        &self,
        agent: &AgentConfig,
        cwd: &Path,
        offered: impl IntoIterator<Item = OfferedTool<'a>>,
    ) -> Result<Vec<&'a str>, AgentError> {
        let policy = self.narrowed(agent, cwd)?;
        let mut only = OnlyTools::default();
        if let Some(names) = &agent.rights.tools {
            only.and(names.clone());
        }
        let is_given = |tool: &OfferedTool<'_>| {
            let name = tool.name;
            let is_left =
                !tool.asks_the_user && only.keeps(name) && !policy.is_hidden(name) && !self.is_main_only(name);
            is_left && (!agent.rights.reads_by_default || self.hands_down(name))
        };
        let names: Vec<_> = offered.into_iter().filter(is_given).map(|tool| tool.name).collect();
        if names.is_empty() && agent.rights.tools.as_ref().is_some_and(|wanted| !wanted.is_empty()) {
            return Err(AgentError::NoTools { agent_type: agent.identity.agent_type.clone() });
        }
        Ok(names)
    }

    /// Returns the identity of the agent, if it is not the main one.
    pub fn agent(&self) -> Option<&AgentIdentity> {
        self.session.config.agent.as_ref().map(|agent| &agent.identity)
    }

    /// Returns the names of the commands and skills whose hooks listen now: those of the run, and those of the parent
    /// runs.
    pub fn skills(&self) -> BTreeSet<String> {
        self.session.skills()
    }

    fn narrowed(&self, agent: &AgentConfig, cwd: &Path) -> Result<Policy, AgentError> {
        let unfit = |source| AgentError::Rule { agent_type: agent.identity.agent_type.clone(), source };
        agent.narrowed(&self.session.rights.policy, cwd).map_err(unfit)
    }

    /// `true` if the budget limits requests to another model like those to this agent's model: there is no budget, or
    /// both models have a price, or neither has.
    fn budget_holds_for(&self, model: &ModelProfile) -> bool {
        let is_priced = |model: &ModelProfile| model.info.price.is_some();
        self.session.config.limits.max_budget.is_none() || is_priced(model) || !is_priced(self.session.current_model())
    }

    /// `true` if agents below this one get the tool without a mention in their definition: it neither runs programs nor
    /// writes files, or this agent was given it.
    fn hands_down(&self, tool: &str) -> bool {
        let by_definition = |agent: &AgentConfig| match &agent.rights.tools {
            Some(names) => names.iter().any(|name| name == tool),
            None => !agent.rights.reads_by_default,
        };
        self.session.config.agent.as_ref().is_some_and(by_definition) || self.session.rights.policy.hands_down(tool)
    }

    /// `true` if agents below this one do not have the tool: the one for the structured output, and those that enter
    /// and leave plan mode.
    fn is_main_only(&self, tool: &str) -> bool {
        self.session.config.tools.structured_output.as_deref() == Some(tool) || is_of_plan_mode(tool)
    }
}
