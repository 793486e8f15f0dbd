//! The main agent of a session, and the agents that its model can give tasks to.

use super::{LoadedProject, ProjectError, ProjectNoticeKind};
use crate::permissions::Permissions;
use crate::tool_names::KnownTools;
use windlass_context::SystemPrompt;
use windlass_project::{AgentSource, Agents, LoadedAgent};
use windlass_subagent::{AGENT_TOOL_NAME, AgentDefinition, Subagents, built_in};
use windlass_types::names::present_tool;
use windlass_types::{Behavior, PermissionMode};

/// Main agent of a session. Its values apply unless the program sets others. Without one, the session has the defaults.
#[derive(Debug, Default)]
pub(crate) struct MainAgent(Option<LoadedAgent>);

impl LoadedProject {
    /// All agents: those of the program, of files and of plugins.
    pub(crate) fn all_agents(&self, plugins: &windlass_project::Plugins) -> Agents {
        let all = self.choice.agents.clone().or(self.agents_with(plugins)).with_skills(|| self.commands());
        self.with_memory_tool(all)
    }

    /// Agents of which those are marked as unusable that name tools wrongly.
    pub(crate) fn checked(&self, tools: &KnownTools, agents: Agents) -> Agents {
        agents.refused(|agent| tools.refusal_of(&agent.definition))
    }

    /// Agents that the model of a session can give tasks to. The program's own definitions in `base` precede those of
    /// files.
    pub(crate) fn below(&self, base: &Subagents, agents: &Agents) -> Subagents {
        let built_in = built_in();
        let program_agents: Vec<&AgentDefinition> =
            base.definitions().filter(|agent| !built_in.contains(agent)).collect();
        let is_own = |name: &str| program_agents.iter().any(|agent| agent.name == name);
        let found = agents.agents.iter().map(|agent| &agent.definition).filter(|agent| !is_own(&agent.name));
        let all = base.clone().with_all(found.cloned());
        // A built-in agent of the same name might have more rights than the unusable one.
        agents.unusable().filter(|(name, _)| !is_own(name)).fold(all, |all, (name, _)| all.without(name))
    }

    /// Finds the agent that the program or the settings name. `tools` are the names of the existing tools.
    pub(crate) fn main_agent(
        &self,
        agents: &Agents,
        tools: &[String],
        bypass_allowed: bool,
    ) -> Result<MainAgent, ProjectError> {
        let chosen_name = self.choice.agent.as_deref().filter(|name| !name.is_empty());
        let Some(name) = chosen_name.or(self.resolved().agent.as_ref().map(|agent| agent.value.as_str())) else {
            self.note_agents(agents, None);
            return Ok(MainAgent(None));
        };
        let mut agent = agents.get(name)?.clone();
        rename(&mut agent.definition);
        self.note_agents(agents, Some(&agent));
        self.note_main(&agent, tools);
        // The deny rules of the agent must be usable.
        let checked = Permissions::check_rules(Behavior::Deny, &agent.definition.disallowed_tools);
        let warnings = checked.map_err(|problem| ProjectError::AgentRule { agent: name.to_owned(), problem })?;
        warnings.into_iter().for_each(|note| self.note(ProjectNoticeKind::Agent, note));
        self.limit_mode(&mut agent, bypass_allowed);
        Ok(MainAgent(Some(agent)))
    }

    /// Removes the mode `bypassPermissions` from an agent if nothing permits it.
    fn limit_mode(&self, agent: &mut LoadedAgent, bypass_allowed: bool) {
        if agent.definition.permission_mode != Some(PermissionMode::BypassPermissions) {
            return;
        }
        let name = agent.name();
        let note = match &self.resolved().permissions.bypass_disabled {
            Some(origin) => {
                format!("{origin} forbids the mode bypassPermissions, which the agent {name:?} wants")
            }
            None if !bypass_allowed => {
                format!("the agent {name:?} wants the mode bypassPermissions, which the command line does not allow")
            }
            None => return,
        };
        self.note(ProjectNoticeKind::Mode, note);
        agent.definition.permission_mode = None;
    }

    /// Notes the parts of the main agent without effect.
    fn note_main(&self, agent: &LoadedAgent, tools: &[String]) {
        let is_known = |name: &&String| tools.contains(name) || name.starts_with("mcp__") || is_agent_tool(name);
        let tool_names = agent.definition.tools.iter().flatten();
        let missing: Vec<&str> = tool_names.filter(|name| !is_known(name)).map(String::as_str).collect();
        for (problem, names) in [
            ("does not get tools that are not there", missing.join(", ")),
            ("says what has no effect in this version", agent.without_effect.join(", ")),
        ] {
            if !names.is_empty() {
                self.note(ProjectNoticeKind::Agent, format!("the agent {:?} {problem}: {names}", agent.name()));
            }
        }
    }

    /// Notes problems of agents other than the main one.
    fn note_agents(&self, agents: &Agents, main: Option<&LoadedAgent>) {
        let notes: Vec<String> = agents.notes.iter().map(ToString::to_string).collect();
        for (name, problem) in agents.unusable() {
            let unusable = format!("the agent {name:?} cannot be used");
            // Problems of agents in files are reported when they are read.
            if !notes.iter().any(|note| note.contains(&unusable)) {
                self.note(ProjectNoticeKind::Agent, format!("{unusable}: {problem}"));
            }
        }
        notes.into_iter().for_each(|note| self.note(ProjectNoticeKind::Agent, note));
        // Problems of agents in plugins are reported when they are loaded.
        let others = agents.agents.iter().filter(|agent| agent.source != AgentSource::Plugin);
        for agent in others.filter(|agent| main.is_none_or(|main| main.name() != agent.name())) {
            if !agent.without_effect.is_empty() {
                let keys = agent.without_effect.join(", ");
                let note = format!("the agent {:?} says what has no effect in this version: {keys}", agent.name());
                self.note(ProjectNoticeKind::Agent, note);
            }
        }
    }
}

/// Replaces old names of tools in an agent's list by the present ones.
fn rename(definition: &mut AgentDefinition) {
    for name in definition.tools.iter_mut().flatten() {
        *name = present_tool(name).to_owned();
    }
}

/// `true` if the name means the tool that gives tasks to agents.
fn is_agent_tool(name: &str) -> bool {
    present_tool(name) == AGENT_TOOL_NAME
}

impl MainAgent {
    #[cfg(test)]
    pub(crate) fn new(agent: LoadedAgent) -> Self {
        Self(Some(agent))
    }

    /// Definition of the agent, if the session has one.
    pub(crate) fn definition(&self) -> Option<&AgentDefinition> {
        self.0.as_ref().map(|agent| &agent.definition)
    }

    /// System prompt: `program_prompt` unless that is empty, else the agent's, else `program_prompt`.
    pub(crate) fn system_prompt(&self, program_prompt: Option<SystemPrompt>) -> Option<SystemPrompt> {
        let agent_prompt = self.definition().map(|agent| SystemPrompt::Custom(agent.prompt.clone()));
        let is_empty = |prompt: &SystemPrompt| matches!(prompt, SystemPrompt::Custom(text) if text.is_empty());
        program_prompt.clone().filter(|prompt| !is_empty(prompt)).or(agent_prompt).or(program_prompt)
    }

    /// Maximum number of turns of a run: the lower one.
    pub(crate) fn max_turns(&self, program_limit: Option<u32>) -> Option<u32> {
        let agent_limit = self.definition().and_then(|agent| agent.max_turns);
        agent_limit.into_iter().chain(program_limit).min()
    }

    /// Permission mode that replaces `otherwise` if nobody chose one by hand.
    pub(crate) fn mode(&self, otherwise: PermissionMode) -> PermissionMode {
        self.0.as_ref().map_or(otherwise, |agent| agent.mode(otherwise))
    }

    /// Names of the only permitted tools; `None` for all.
    pub(crate) fn tools(&self) -> Option<&[String]> {
        self.definition()?.tools.as_deref()
    }

    /// Rules that limit the agent's tools to certain calls.
    pub(crate) fn tool_rules(&self) -> impl Iterator<Item = &String> {
        self.definition().into_iter().flat_map(|agent| &agent.tool_rules)
    }

    /// Deny rules of the agent.
    pub(crate) fn forbidden(&self) -> impl Iterator<Item = &String> {
        self.definition().into_iter().flat_map(|agent| &agent.disallowed_tools)
    }

    /// Initial prompt of a new session.
    pub(crate) fn initial_prompt(&self) -> Option<&str> {
        self.0.as_ref()?.initial_prompt.as_deref()
    }

    /// `true` if this agent may have subagents.
    pub(crate) fn may_delegate(&self) -> bool {
        self.tools().is_none_or(|names| names.iter().any(|name| is_agent_tool(name)))
    }
}

#[cfg(test)]
mod tests;
