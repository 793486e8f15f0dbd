//! Messages that the user sends to a run in progress.

use crate::EntryId;
use serde::{Deserialize, Serialize};

/// A message that was sent to the run, and its fate. A message that a run has taken gets exactly one of these, unless
/// its session closes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Steered {
    /// Id that the sender gave the message.
    pub id: Option<EntryId>,
    /// Fate of the message.
    #[serde(flatten)]
    pub fate: SteeredFate,
}

impl Steered {
    /// A message with its fate.
    pub fn new(id: Option<EntryId>, fate: SteeredFate) -> Self {
        Self { id, fate }
    }
}

/// Fate of a message that was sent to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "fate", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SteeredFate {
    /// The message is part of the conversation, and the model's next answer in this run answers it, too.
    Joined {
        /// Id of the message's entry in the log: the sender's id, if that could be used.
        entry: EntryId,
    },
    /// The message is kept out of the conversation, by hooks or because no provider accepts its content; the run
    /// continues.
    Blocked {
        /// The reason: that of the hooks, or of the provider's limits.
        reason: String,
    },
    /// The run ended before: the message becomes a prompt with a run of its own, before those that wait.
    Deferred,
    /// The run ended before, or the message was withdrawn: its sender has it back, and the model does not read it. May
    /// come between runs.
    Returned,
}

#[cfg(test)]
mod tests;
