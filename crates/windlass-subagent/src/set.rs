//! Sets of agents.

use crate::memory::{AgentMemories, Memories};
use crate::tool::AgentTool;
use crate::{AgentDefinition, built_in};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Default depth to which agents may be nested below the main one.
const DEFAULT_DEPTH: u32 = 3;

/// Set of agents that a model can give tasks to, and settings of how they run.
///
/// By default these are the [built-in ones](crate::built_in), a call waits for the report, and agents can have agents
/// of their own down to a depth of three.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Subagents {
    pub(crate) definitions: BTreeMap<String, AgentDefinition>,
    pub(crate) background_by_default: bool,
    pub(crate) max_depth: u32,
    pub(crate) memories: Memories,
}

impl Default for Subagents {
    fn default() -> Self {
        Self::without_built_in().with_all(built_in())
    }
}

impl Subagents {
    /// Returns a set with the built-in agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a set without agents.
    pub fn without_built_in() -> Self {
        Self {
            definitions: BTreeMap::new(),
            background_by_default: false,
            max_depth: DEFAULT_DEPTH,
            memories: Memories::default(),
        }
    }

    /// Adds an agent. It replaces one with the same name, also a built-in one.
    pub fn with(mut self, definition: AgentDefinition) -> Self {
        self.definitions.insert(definition.name.clone(), definition);
        self
    }

    /// Adds agents, see [`with`](Self::with).
    pub fn with_all(self, definitions: impl IntoIterator<Item = AgentDefinition>) -> Self {
        definitions.into_iter().fold(self, Self::with)
    }

    /// Removes an agent.
    pub fn without(mut self, name: &str) -> Self {
        self.definitions.remove(name);
        self
    }

    /// Sets whether agents of the main agent run in the background when neither the call nor the definition decides it.
    /// The model is informed when one ends. Calls of deeper agents always wait. Default: `false`.
    pub fn background_by_default(mut self, on: bool) -> Self {
        self.background_by_default = on;
        self
    }

    /// Sets the maximum depth of agents: with 1 only the main agent can have agents, with 0 no agent can. Default: 3.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets the port that finds the notes of agents. Default: no agent has notes.
    pub fn with_memories(mut self, memories: Arc<dyn AgentMemories>) -> Self {
        self.memories = Memories(Some(memories));
        self
    }

    /// Returns the agents, sorted by name.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &AgentDefinition> {
        self.definitions.values()
    }

    /// Returns the tool that gives tasks to the agents. A session offers it only if there is an agent and the depth
    /// allows one.
    #[must_use]
    pub fn tool(&self) -> Arc<AgentTool> {
        Arc::new(AgentTool::new(self.clone()))
    }
}
