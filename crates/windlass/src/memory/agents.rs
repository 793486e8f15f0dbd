//! Notes of agents with a memory of their own.

use crate::lock::Lock;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_project::{MEMORY_TOOL, MemoryBudget, MemoryDirectory, Places, ShownMemory};
use windlass_subagent::{AgentDefinition, AgentMemories, MemoryScope};
use windlass_tool::{BoxFuture, Clock, SystemClock};
use windlass_types::Timestamp;

/// Warning above the index of notes in a project.
const SHARED: &str = "These notes lie in the project, so others may have written them.";

/// Memory directories of agents that have begun in a session, by agent type.
#[derive(Debug)]
pub(crate) struct OfAgents {
    places: Places,
    budget: MemoryBudget,
    /// The time at which ages are judged, if a recording says it.
    judged_at: Lock<Option<Timestamp>>,
    begun: Lock<BTreeMap<String, MemoryDirectory>>,
}

impl OfAgents {
    pub(crate) fn new(places: Places) -> Self {
        Self { places, budget: MemoryBudget::default(), judged_at: Lock::default(), begun: Lock::default() }
    }

    /// Judges ages as of this time, that of a recording.
    pub(crate) fn judge_at(&self, time: Timestamp) {
        *self.judged_at.lock() = Some(time);
    }

    /// Directory of an agent's notes.
    pub(crate) fn directory(&self, agent: &AgentDefinition) -> Option<MemoryDirectory> {
        MemoryDirectory::of_agent(&self.places, agent.memory?, &agent.name)
    }

    /// Directory of the notes of an agent that has begun, if it has its own.
    pub(crate) fn of_type(&self, agent_type: &str) -> Option<MemoryDirectory> {
        self.begun.lock().get(agent_type).cloned()
    }
}

impl AgentMemories for OfAgents {
    fn index(&self, agent: &AgentDefinition) -> BoxFuture<'static, Option<String>> {
        let Some(directory) = self.directory(agent) else {
            self.begun.lock().remove(&agent.name);
            return Box::pin(async { None });
        };
        self.begun.lock().insert(agent.name.clone(), directory.clone());
        let (budget, now) = (self.budget, (*self.judged_at.lock()).unwrap_or_else(|| SystemClock::default().now()));
        let is_shared = agent.memory == Some(MemoryScope::Project);
        Box::pin(async move {
            let read = move || {
                let (entries, words) =
                    directory.entries().inspect_err(|error| tracing::warn!(%error, "no notes")).ok()?;
                let shown_memory = ShownMemory::new(&entries, &words, &budget, now);
                Some(of_index(&shown_memory, &directory, is_shared))
            };
            tokio::task::spawn_blocking(read).await.ok().flatten()
        })
    }
}

/// Text about an agent's notes for its model.
fn of_index(shown: &ShownMemory, directory: &MemoryDirectory, is_shared: bool) -> String {
    let index = shown.for_model(MEMORY_TOOL, &directory.path().display().to_string());
    let index = index.map_or_else(|| "There are no notes yet.".to_owned(), |index| index.text);
    let shared = if is_shared { SHARED } else { "" };
    format!("You have notes of your own: the tool {MEMORY_TOOL} keeps them for your later tasks. {shared}\n{index}")
}

/// Adds the memory tool to an agent with notes.
pub(crate) fn with_tool(mut agent: AgentDefinition) -> AgentDefinition {
    let lacks = |tools: &&mut Vec<String>| !tools.iter().any(|name| name == MEMORY_TOOL);
    if agent.memory.is_some()
        && let Some(tools) = agent.tools.as_mut().filter(lacks)
    {
        tools.push(MEMORY_TOOL.to_owned());
    }
    agent
}

/// Returns the port for a set of agents.
pub(crate) fn as_port(agents: &Arc<OfAgents>) -> Arc<dyn AgentMemories> {
    Arc::clone(agents) as _
}
