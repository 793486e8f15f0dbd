//! When a prompt is read.

use serde::Serialize;

/// When a prompt that is given during a turn is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Priority {
    /// At once: the turn is stopped, and the prompt has one of its own.
    Now,
    /// In the current turn: the model reads it with the next results of tools, or before the turn would end. It
    /// has no result of its own; that of the turn names it, see
    /// [`ResultMessage::answers`](super::ResultMessage::answers). Hooks for prompts may keep it out, and then no result
    /// names it. If the turn ends before it is read, it has a turn and a result of its own, as it has if no turn is running.
    Next,
    /// In a turn of its own, after those before it.
    #[default]
    Later,
}
