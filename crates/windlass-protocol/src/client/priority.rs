//! Priorities of prompts.

use serde::Serialize;

/// Time at which a prompt that is sent during a turn is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Priority {
    /// At once: the turn is stopped, and the prompt has one of its own.
    Now,
    /// In the current turn: the model reads it with the next tool results, or before the turn would end. The prompt has
    /// no result of its own; that of the turn names it, see [`ResultMessage::answers`](super::ResultMessage::answers).
    /// Hooks for prompts may block it, and then no result names it. If the turn ends before it is read, or no turn is
    /// running, it gets a turn and a result of its own.
    Next,
    /// In a turn of its own, after those before it.
    #[default]
    Later,
}
