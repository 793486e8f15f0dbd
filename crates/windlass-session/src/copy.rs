//! Forks of sessions in a store.

use crate::{
    Annotation, DropsMore, LogHeader, Owner, SessionKey, SessionStore, StoreError, Truncated, UnknownEntry, fork,
    repair, truncate,
};
use windlass_types::{Entry, EntryId, EntryKind, Timestamp};

/// An earlier point of a conversation, to resume from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResumePoint {
    /// Last entry that is kept.
    pub at: EntryId,
    /// Prompt whose turn is all that may be dropped, if the caller names one.
    pub drops_turn: Option<EntryId>,
}

impl ResumePoint {
    /// Returns the point after an entry.
    pub fn new(at: impl Into<EntryId>) -> Self {
        Self { at: at.into(), drops_turn: None }
    }

    /// Refuses the point unless all dropped entries belong to the turn of this prompt.
    #[must_use]
    pub fn dropping_only(mut self, prompt: impl Into<EntryId>) -> Self {
        self.drops_turn = Some(prompt.into());
        self
    }

    /// Ends repaired entries at this point. See [`truncate`].
    ///
    /// # Errors
    /// No such entry exists, or more than the turn would be dropped.
    pub fn truncate(&self, entries: Vec<Entry>) -> Result<Truncated, ForkError> {
        let truncated = truncate(entries, &self.at)?;
        if let Some(prompt) = &self.drops_turn {
            truncated.check_drops_only(prompt)?;
        }
        Ok(truncated)
    }
}

/// Reason why a session cannot be forked or resumed at a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// No such point exists.
    #[error(transparent)]
    UnknownEntry(#[from] UnknownEntry),
    /// More would be dropped than was agreed to.
    #[error(transparent)]
    DropsMore(#[from] DropsMore),
    /// The session has no conversation.
    #[error("session {session} has no messages to fork")]
    Empty {
        /// Id of the session.
        session: String,
    },
    /// The store refused the operation.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Parameters of a fork.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ForkRequest {
    /// Last entry that is copied; `None` means all.
    pub point: Option<ResumePoint>,
    /// Title of the copy.
    pub title: Option<Annotation>,
    /// Owner of the write lease of the copy.
    pub owner: Owner,
    /// Header of the copy's lines.
    pub header: LogHeader,
    /// Time of the copy's last line.
    pub now: Timestamp,
}

impl ForkRequest {
    /// Returns a request for a copy of everything, without a title of its own.
    pub fn new(owner: Owner, header: LogHeader, now: Timestamp) -> Self {
        Self { point: None, title: None, owner, header, now }
    }

    /// Ends the copy at this point.
    #[must_use]
    pub fn at(mut self, point: Option<ResumePoint>) -> Self {
        self.point = point;
        self
    }

    /// Sets the title of the copy.
    #[must_use]
    pub fn titled(mut self, title: Option<Annotation>) -> Self {
        self.title = title;
        self
    }
}

/// Copies a session into a new one, durable, whole or not at all. The lease of the source is not needed, and the source
/// is not changed: it may be in use, and the present content of its log is copied. The logs of its agents are not
/// copied: the results of the calls that started them contain all that the copy needs. The copy of an agent's log is a
/// session.
///
/// # Errors
/// The source does not exist or has no conversation, the point is unknown, or the target exists or cannot be written.
/// In that case no line is written.
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
