//! Forks in a store.

use crate::{
    Annotation, DropsMore, LogHeader, Owner, SessionKey, SessionStore, StoreError, Truncated, UnknownEntry, fork,
    repair, truncate,
};
use windlass_types::{Entry, EntryId, EntryKind, Timestamp};

/// An earlier point of a conversation, to resume from there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumePoint {
    /// The last entry that is kept.
    pub at: EntryId,
    /// The prompt whose turn is all that may be dropped, if the caller names one.
    pub drops_turn: Option<EntryId>,
}

impl ResumePoint {
    /// The point behind an entry.
    pub fn new(at: impl Into<EntryId>) -> Self {
        Self { at: at.into(), drops_turn: None }
    }

    /// Refuses the point unless all that it drops is the turn of this prompt.
    #[must_use]
    pub fn dropping_only(mut self, prompt: impl Into<EntryId>) -> Self {
        self.drops_turn = Some(prompt.into());
        self
    }

    /// Ends repaired entries at this point. See [`truncate`].
    ///
    /// # Errors
    /// There is no such entry, or more than the turn would be dropped.
    pub fn truncate(&self, entries: Vec<Entry>) -> Result<Truncated, ForkError> {
        let truncated = truncate(entries, &self.at)?;
        if let Some(prompt) = &self.drops_turn {
            truncated.check_drops_only(prompt)?;
        }
        Ok(truncated)
    }
}

/// Why a session cannot be forked or resumed at a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// There is no such point.
    #[error(transparent)]
    UnknownEntry(#[from] UnknownEntry),
    /// More would be dropped than was agreed to.
    #[error(transparent)]
    DropsMore(#[from] DropsMore),
    /// The session has no conversation.
    #[error("session {session} has no messages to fork")]
    Empty {
        /// The session.
        session: String,
    },
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a session is forked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ForkRequest {
    /// The last entry that is copied; `None` means all.
    pub point: Option<ResumePoint>,
    /// What is noted on the copy.
    pub title: Option<Annotation>,
    /// Who writes.
    pub owner: Owner,
    /// The header of the copy's lines.
    pub header: LogHeader,
    /// The time of its last line.
    pub now: Timestamp,
}

impl ForkRequest {
    /// A copy of everything, without a title of its own.
    pub fn new(owner: Owner, header: LogHeader, now: Timestamp) -> Self {
        Self { point: None, title: None, owner, header, now }
    }

    /// Copies no further than this point.
    #[must_use]
    pub fn at(mut self, point: Option<ResumePoint>) -> Self {
        self.point = point;
        self
    }

    /// Gives the copy a title.
    #[must_use]
    pub fn titled(mut self, title: Option<Annotation>) -> Self {
        self.title = title;
        self
    }
}

/// Copies a session into a new one, durable, whole or not at all. The lease
/// of the source is not needed, and the source is not changed: it may be in use, and
/// what its log holds at this moment is copied. The logs of its agents stay with it:
/// what the copy needs of them is in the results of the calls that started them.
/// Of an agent, the copy is a session.
///
/// # Errors
/// The source is not there or has no conversation, the point is unknown, or the
/// target exists or cannot be written. In that case no line is written.
pub async fn fork_session(
    store: &dyn SessionStore,
    source: &SessionKey,
    target: &SessionKey,
    request: ForkRequest,
    new_id: impl FnMut() -> EntryId,
) -> Result<(), ForkError> {
    let ForkRequest { point, title, owner, header, now } = request;
    let (mut entries, _) = repair(store.load(source).await?.entries);
    if let Some(point) = &point {
        entries = point.truncate(entries)?.entries;
    }
    if !entries.iter().any(|entry| matches!(entry.kind, EntryKind::User(_) | EntryKind::Assistant(_))) {
        return Err(ForkError::Empty { session: source.session.to_string() });
    }
    let copy = fork(entries, &source.session, &target.session, now, new_id);
    let mut entries = copy.entries;
    entries.extend(title.map(|title| title.to_entry(&target.session)));
    store.create(target, &owner, header.with_origin(copy.origin), entries).await?;
    Ok(())
}
