//! Errors of session stores.

use crate::SessionKey;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_types::QuestionId;

/// Kind of a store error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// Another writer holds the lease of the session.
    InUse,
    /// The session is not at the expected position.
    Conflict,
    /// No such session exists.
    NotFound,
    /// The session, or the answer, exists already.
    Exists,
    /// The lease is not of this store, was released, or has expired.
    LeaseLost,
    /// Another program replaced, cut, moved or removed the stored data of the session while it was open.
    Changed,
    /// The key is not valid for a session.
    InvalidKey,
    /// The store cannot be reached now. The operation can be repeated.
    Unavailable,
    /// No space is left on the device.
    Full,
    /// Reading or writing failed.
    Io,
}

/// Error of a store operation. The message names the place and a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct StoreError {
    /// Kind of the error.
    pub kind: StoreErrorKind,
    /// Description and remedy, in a sentence.
    pub message: Arc<str>,
}

impl StoreError {
    /// Returns an error.
    pub fn new(kind: StoreErrorKind, message: impl Into<Arc<str>>) -> Self {
        Self { kind, message: message.into() }
    }

    /// For implementers of stores: the request has an answer already.
    pub fn answered(question: &QuestionId) -> Self {
        Self::new(
            StoreErrorKind::Exists,
            format!("question {question} is answered already: the first answer counts, and this one was not kept"),
        )
    }

    /// For implementers of stores: another writer holds the lease.
    pub fn in_use(key: &SessionKey, owner: impl fmt::Display) -> Self {
        Self::new(
            StoreErrorKind::InUse,
            format!("{} is in use by {owner}: end that program, or start a session of your own", Subject(key)),
        )
    }

    /// For implementers of stores: this program itself holds the lease.
    pub fn in_use_here(key: &SessionKey, pid: u32) -> Self {
        Self::new(
            StoreErrorKind::InUse,
            format!(
                "{} is in use by this program ({pid}), which has it open already: close it first, share its handle, or \
                 start a session of your own",
                Subject(key)
            ),
        )
    }

    /// For implementers of stores: the session is at another position.
    pub fn conflict(key: &SessionKey, expected: u64, found: u64) -> Self {
        let subject = Subject(key);
        Self::new(
            StoreErrorKind::Conflict,
            format!("{subject} is at position {found}, not {expected}: something else was appended; load it again"),
        )
    }

    /// For implementers of stores: no such session exists.
    pub fn not_found(key: &SessionKey) -> Self {
        let what = if key.agent.is_some() { "agents" } else { "sessions" };
        Self::new(
            StoreErrorKind::NotFound,
            format!("there is no {} in project {}: list the {what} to see which exist", Subject(key), key.project),
        )
    }

    /// For implementers of stores: the session exists already.
    pub fn exists(key: &SessionKey) -> Self {
        Self::new(StoreErrorKind::Exists, format!("there is already {}: choose another id, or resume it", Subject(key)))
    }

    /// For implementers of stores: another program has changed the file of an open session. `how`: "was replaced".
    pub fn changed(key: &SessionKey, place: impl fmt::Display, how: &str) -> Self {
        Self::new(
            StoreErrorKind::Changed,
            format!(
                "{place}, the log of {}, {how} by another program while it was open, so nothing more is done in it: what \
                 was stored since may be missing there. Restore the file if you have it, keep other programs from it, and \
                 resume the session",
                Subject(key)
            ),
        )
    }

    /// For implementers of stores: the lease does not give access.
    pub fn lease_lost(key: &SessionKey) -> Self {
        Self::new(
            StoreErrorKind::LeaseLost,
            format!("the lease of {} has expired or was given back: open it again", Subject(key)),
        )
    }

    /// The lease could not be renewed within its term.
    pub fn lease_expired(key: &SessionKey, term: Duration) -> Self {
        Self::new(
            StoreErrorKind::LeaseLost,
            format!(
                "the lease of {} was not renewed within {} seconds, so another owner may continue it: look at the connection \
                 to the store, then resume the session",
                Subject(key),
                term.as_secs_f32()
            ),
        )
    }

    /// For implementers of stores: the store cannot be reached. `why`: the cause.
    pub fn unavailable(store: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::new(
            StoreErrorKind::Unavailable,
            format!("{store} cannot be reached: {why}; look at it and at the network, then try again"),
        )
    }

    /// For implementers of stores: an agent has no annotations.
    pub fn not_listed(key: &SessionKey) -> Self {
        Self::new(StoreErrorKind::InvalidKey, format!("{} has no title or tag: note them on its session", Subject(key)))
    }
}

/// Description of a key in words.
struct Subject<'a>(&'a SessionKey);

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(agent) = &self.0.agent {
            write!(f, "agent {agent} of ")?;
        }
        write!(f, "session {}", self.0.session)
    }
}
