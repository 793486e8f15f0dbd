//! Errors around a run.

use windlass_session::{CheckpointError, ForkError, StoreError};
use windlass_types::EntryId;

/// Reason why files or a conversation were not rewound. Nothing was changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The session keeps no checkpoints.
    #[error("File checkpointing is not enabled, so no files can be rewound.")]
    Off,
    /// A run is in progress, whose tools may be changing files, or an agent in the background.
    #[error(
        "nothing can be rewound while a run is in progress, also that of an agent: wait for its result, or stop it"
    )]
    Running,
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// The checkpoints refused.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The session is not kept, so there is no log in which a conversation could be rewound.
    #[error("this session is not kept: give it a home to rewind its conversation")]
    NotKept,
    /// The conversation has no such prompt.
    #[error("the conversation has no prompt {0}: it never was, or another branch or a compaction hides it")]
    NoSuchPrompt(EntryId),
    /// The log cannot be read or written.
    #[error("the conversation was not rewound: {0}")]
    Log(String),
}

impl From<ForkError> for RewindError {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::UnknownEntry(unknown) => Self::NoSuchPrompt(unknown.id),
            other => Self::Log(other.to_string()),
        }
    }
}

/// A session that could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The session store refused.
    #[error(transparent)]
    Store {
        /// Reason of the store.
        source: StoreError,
    },
    /// There is no session of that id.
    #[error("No conversation found with session ID: {session_id}")]
    NotFound {
        /// The id.
        session_id: String,
    },
    /// The session cannot continue at the given point, or cannot be copied.
    #[error(transparent)]
    Fork {
        /// Reason for the failure.
        source: ForkError,
    },
}

impl From<ForkError> for OpenError {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::Store(source) => Self::Store { source },
            source => Self::Fork { source },
        }
    }
}

/// A session that ended without being closed. It is the last item of an event stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The session store refused an entry. Acknowledged entries are safe.
    #[error("the session log could not be written: {message}")]
    Store {
        /// Reason and remedy.
        message: String,
    },
    /// The session log did not answer, so closing the session stopped waiting for it. Acknowledged entries are safe;
    /// later ones may be lost.
    #[error("{message}")]
    LogSilent {
        /// Time waited, and remedy.
        message: String,
    },
    /// The session was closed before it could carry out the request.
    #[error("the session is closed")]
    Closed,
    /// The name of a model was empty.
    #[error("the name of the model is empty: give an id or an alias such as `sonnet`")]
    EmptyModelName,
    /// A model was to be called whose price is not known, and the budget of the session does not allow such models. The model
    /// of the session stays.
    #[error(
        "the model {model:?} was not set: its price is not known, so the budget could not hold; name a model with a price, give \
         its price to the provider, or open the session with `.limits(LimitOptions::new().unpriced_models(UnpricedModels::Allow))`"
    )]
    UnpricedModel {
        /// The id of the model.
        model: String,
    },
    /// The tokio runtime in which the session was opened ended before the session. Acknowledged entries are safe.
    #[error(
        "the session has ended because the tokio runtime in which it was opened has: keep that runtime running until the \
         session is closed, and resume the session to continue it"
    )]
    RuntimeEnded,
    /// The driver ended unexpectedly. This is a bug in windlass.
    #[error("the session ended unexpectedly; this is a bug, please report it")]
    Internal,
}
