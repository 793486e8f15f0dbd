//! The agents that the model of a session can give tasks to.

use super::MainAgent;
use windlass::crates::project::{AgentSource, Agents, LoadedAgent};
use windlass::crates::subagent::AGENT_TOOL_NAME;
use windlass::{AgentDefinition, Subagents};
use windlass_protocol::HostAgent;

/// The name of the tool in lists of old.
const OLD_NAME: &str = "Task";
/// Set to 1, nothing runs in the background.
const NO_BACKGROUND: &str = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS";

/// The built-in agents and those that are defined. A name whose definition cannot be used is no agent's: a built-in
/// one might do more than the other was to do.
pub(crate) fn below(agents: &Agents) -> Subagents {
    let all = Subagents::new().with_all(agents.agents.iter().map(|agent| agent.definition.clone()));
    agents.unusable().fold(all, |all, (name, _)| all.without(name))
}

/// What is wrong with agents other than the main one, in words.
pub(super) fn notes(agents: &Agents, main: Option<&LoadedAgent>) -> Vec<String> {
    let mut notes: Vec<String> = agents.notes.iter().map(ToString::to_string).collect();
    for (name, problem) in agents.unusable() {
        let unusable = format!("the agent {name:?} cannot be used");
        // Of files it is said where they are read.
        if !notes.iter().any(|note| note.contains(&unusable)) {
            notes.push(format!("{unusable}: {problem}"));
        }
    }
    // Of plugins it is said where they are loaded.
    let others = agents.agents.iter().filter(|agent| agent.source != AgentSource::Plugin);
    for agent in others.filter(|agent| main.is_none_or(|main| main.name() != agent.name())) {
        if !agent.without_effect.is_empty() {
            let keys = agent.without_effect.join(", ");
            notes.push(format!("the agent {:?} says what has no effect in this version: {keys}", agent.name()));
        }
    }
    notes
}

/// Says the present name of the tool in an agent's list of tools.
pub(super) fn rename(definition: &mut AgentDefinition) {
    for name in definition.tools.iter_mut().flatten().filter(|name| *name == OLD_NAME) {
        AGENT_TOOL_NAME.clone_into(name);
    }
}

/// Whether a name means the tool that gives tasks to agents.
pub(crate) fn is_agent_tool(name: &str) -> bool {
    [AGENT_TOOL_NAME, OLD_NAME].contains(&name)
}

/// Whether `--tools` leaves the model that tool.
pub(crate) fn is_offered(tools: Option<&str>) -> bool {
    match tools.map(str::trim) {
        None | Some("default") => true,
        Some(names) => names.split([',', ' ']).any(is_agent_tool),
    }
}

/// Whether anything may go on in the background. Agents then do so, where a host drives the session, unless somebody
/// says otherwise.
pub(crate) fn in_background() -> bool {
    std::env::var(NO_BACKGROUND).map_or(true, |value| value != "1")
}

/// The agents as hosts list them.
pub(crate) fn listed(agents: &Subagents) -> Vec<HostAgent> {
    let listed =
        |agent: &AgentDefinition| HostAgent::new(agent.name.clone(), agent.description.clone(), agent.model.clone());
    agents.definitions().map(listed).collect()
}

impl MainAgent {
    /// The agents below this one.
    pub(crate) fn below(&self) -> &Subagents {
        &self.below
    }

    /// Whether this agent may have agents below it.
    pub(crate) fn may_delegate(&self) -> bool {
        self.tools().is_none_or(|names| names.iter().any(|name| is_agent_tool(name)))
    }
}
