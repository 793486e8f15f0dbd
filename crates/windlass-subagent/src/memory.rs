//! Port to the notes of agents from earlier sessions.

use crate::AgentDefinition;
use std::fmt::Debug;
use std::sync::Arc;
use windlass_tool::BoxFuture;

/// Finds the notes of agents from earlier sessions. Given to
/// [`Subagents::with_memories`](crate::Subagents::with_memories).
///
/// ```
/// # mod windlass { pub mod tool { pub use windlass_tool::BoxFuture; } pub use windlass_subagent::*; }
/// use windlass::AgentDefinition;
/// use windlass_subagent::AgentMemories;
/// use windlass::tool::BoxFuture;
///
/// /// The same note for all agents that have a memory.
/// #[derive(Debug)]
/// struct OneNote;
///
/// impl AgentMemories for OneNote {
///     fn index(&self, agent: &AgentDefinition) -> BoxFuture<'static, Option<String>> {
///         let note = agent.memory.map(|_| "You noted before: the tests need a database.".to_owned());
///         Box::pin(async move { note })
///     }
/// }
/// ```
pub trait AgentMemories: Debug + Send + Sync + 'static {
    /// Returns the notes that are appended to the prompt of an agent when it begins. `None`: there are none.
    fn index(&self, agent: &AgentDefinition) -> BoxFuture<'static, Option<String>>;
}

/// An optional port. Two are equal if they are the same object.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memories(pub(crate) Option<Arc<dyn AgentMemories>>);

impl PartialEq for Memories {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        }
    }
}

impl Eq for Memories {}

impl Memories {
    /// Returns the notes of an agent.
    pub(crate) async fn index(&self, agent: &AgentDefinition) -> Option<String> {
        match &self.0 {
            Some(memories) => memories.index(agent).await,
            None => None,
        }
    }
}
