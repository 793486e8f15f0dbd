//! Sets of agents.

use crate::memory::{AgentMemories, Memories};
use crate::tool::AgentTool;
use crate::{AgentDefinition, built_in};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How deep agents may be below the main one, by default.
const DEFAULT_DEPTH: u32 = 3;

/// The agents that a model can give tasks to, and how they are run.
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
    /// The built-in agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// No agents.
    pub fn without_built_in() -> Self {
        Self {
            definitions: BTreeMap::new(),
            background_by_default: false,
            max_depth: DEFAULT_DEPTH,
            memories: Memories::default(),
        }
    }

    /// Adds an agent. It takes the place of one with its name, also of a built-in one.
    pub fn with(mut self, definition: AgentDefinition) -> Self {
        self.definitions.insert(definition.name.clone(), definition);
        self
    }

    /// Adds agents, see [`with`](Self::with).
    pub fn with_all(self, definitions: impl IntoIterator<Item = AgentDefinition>) -> Self {
        definitions.into_iter().fold(self, Self::with)
    }

    /// Leaves out an agent.
    pub fn without(mut self, name: &str) -> Self {
        self.definitions.remove(name);
        self
    }

    /// Whether agents of the main agent run in the background when neither the call nor the definition decides it. The
    /// model is informed when one ends. Deeper agents are always waited for. Default: no.
    pub fn background_by_default(mut self, on: bool) -> Self {
        self.background_by_default = on;
        self
    }

    /// How deep agents may be: with 1 only the main agent can have agents, with 0 no agent can. Default: 3.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets what finds the notes of agents. Default: none have any.
    pub fn with_memories(mut self, memories: Arc<dyn AgentMemories>) -> Self {
        self.memories = Memories(Some(memories));
        self
    }

    /// The agents, sorted by name.
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &AgentDefinition> {
        self.definitions.values()
    }

    /// The tool that gives them tasks. A session offers it only if there is an agent and the depth allows one.
    #[must_use]
    pub fn tool(&self) -> Arc<AgentTool> {
        Arc::new(AgentTool::new(self.clone()))
    }
}
