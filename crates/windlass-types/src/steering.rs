//! Messages that the user sends to a run in progress.

use crate::EntryId;
use serde::{Deserialize, Serialize};

/// A message that was sent to the run, and what became of it. A message that a run has taken gets exactly one of
/// these, unless its session closes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Steered {
    /// The id that it was sent with, if it had one.
    pub id: Option<EntryId>,
    /// What became of it.
    #[serde(flatten)]
    pub fate: SteeredFate,
}

impl Steered {
    /// What became of a message.
    pub fn new(id: Option<EntryId>, fate: SteeredFate) -> Self {
        Self { id, fate }
    }
}

/// What became of a message that was sent to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "fate", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SteeredFate {
    /// It is part of the conversation, and the model's next answer in this run is one to it, too.
    Joined {
        /// Its entry in the log: the id that it was sent with, if that could be used.
        entry: EntryId,
    },
    /// It is kept out of the conversation, by hooks or because no provider takes what is in it; the run continues.
    Blocked {
        /// The reason: that of the hooks, or of the provider's limits.
        reason: String,
    },
    /// The run ended before: it is a prompt with a run of its own, before those that wait.
    Deferred,
    /// The run ended before, or it was withdrawn: its sender has it back, and the model does not read it. May
    /// come between runs.
    Returned,
}

#[cfg(test)]
mod tests;
