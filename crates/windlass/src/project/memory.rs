//! The memory of a project in its sessions.

use super::LoadedProject;
use crate::memory::{Memory, MemoryDirectory, OfAgents, with_tool};
use crate::session::Options;
use std::sync::Arc;
use windlass_project::{Agents, MEMORY_TOOL};
use windlass_session::ProjectKey;
use windlass_subagent::AgentDefinition;

/// The folder of memories in that of a project's sessions.
const FOLDER: &str = "memory";
/// Switches the memory off.
const OFF: &str = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";

impl LoadedProject {
    /// Where the notes of this project's sessions are: the directory that settings name, else one of the home for the
    /// repository, or without one for the directory that sessions start in. `None` without a home, or where settings or a
    /// variable switch the memory off.
    pub fn memory(&self) -> Option<MemoryDirectory> {
        let said = &self.resolved().memory;
        let is_set = self.variable(OFF).is_some_and(|value| !matches!(value.trim(), "" | "0" | "false"));
        if is_set || said.enabled.as_ref().is_some_and(|enabled| !enabled.value) {
            return None;
        }
        if let Some(directory) = &said.directory {
            return Some(MemoryDirectory::at(&directory.value));
        }
        let root = self.places().project.first()?;
        let home = self.read.request.home_of()?;
        let project = home.root().join("projects").join(ProjectKey::of(root).as_str());
        Some(MemoryDirectory::at(project.join(FOLDER)))
    }

    /// The same agents, where those that have notes of their own also have the tool for them.
    pub(super) fn with_memory_tool(&self, mut agents: Agents) -> Agents {
        if self.choice.with_memory {
            for agent in &mut agents.agents {
                agent.definition = with_tool(agent.definition.clone());
            }
        }
        agents
    }

    /// The name of the tool, if a session may get it.
    pub(super) fn memory_tool(&self) -> Option<String> {
        self.choice.with_memory.then(|| MEMORY_TOOL.to_owned())
    }

    /// Gives a session the memory of the project, or of the agent that it is, if the program wants it and has given none of
    /// its own. Returns what finds the notes of agents below.
    pub(super) fn apply_memory(&self, options: &mut Options, main: Option<&AgentDefinition>) -> Option<Arc<OfAgents>> {
        let has_tool = options.tools.toolkit.tools().iter().any(|tool| tool.name() == MEMORY_TOOL);
        if !self.choice.with_memory || has_tool {
            return None;
        }
        let of_project = self.memory()?;
        let agents = Arc::new(OfAgents::new(self.places().clone()));
        let directory = main.and_then(|main| agents.directory(main)).unwrap_or(of_project);
        let extracts = self.resolved().memory.extraction.as_ref().is_some_and(|extraction| extraction.value);
        let mut memory = Memory::of(directory).with_agents(Arc::clone(&agents)).extracting(extracts);
        if let Some(model) = &self.resolved().memory.ranking_model {
            memory = memory.ranked_by_model(&model.value);
        }
        options.remember(memory);
        Some(agents)
    }
}
