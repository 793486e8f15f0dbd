//! Rewind of a stored session: its files, its conversation, or both in one step.

use crate::{FileCheckpoints, JsonlStore};
use std::fmt::Write as _;
use std::path::PathBuf;
use windlass_session::{
    CheckpointError, Checkpoints, ForkError, Lease, Rewind, RewindOptions, RewindPoint, RewoundMark, SessionKey,
    SessionStore, rewind_conversation, rewind_point,
};
use windlass_types::EntryId;

/// Scope of a rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RewindScope {
    /// The files; the conversation stays as it is.
    #[default]
    Files,
    /// The conversation; files stay as they are.
    Conversation,
    /// Both.
    Both,
}

/// Treatment of files that others have changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Conflicts {
    /// The rewind is refused.
    #[default]
    Refuse,
    /// These files are skipped; the rest is rewound.
    Leave,
    /// These files are rewound too. Their present contents are kept.
    Overwrite,
}

/// Parameters of a session's rewind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionRewind {
    /// Prompt to rewind to, or the mark of an earlier rewind, which is undone then.
    pub to: EntryId,
    /// Scope of the rewind.
    pub scope: RewindScope,
    /// Treatment of files that others have changed since.
    pub conflicts: Conflicts,
    /// Directories in which files may be changed, without links.
    pub directories: Vec<PathBuf>,
}

impl SessionRewind {
    /// Returns a rewind of files alone, in no directory, which is refused if others have changed a file.
    pub fn new(to: EntryId) -> Self {
        Self { to, scope: RewindScope::default(), conflicts: Conflicts::default(), directories: Vec::new() }
    }

    /// Sets the scope of the rewind.
    #[must_use]
    pub fn scope(mut self, scope: RewindScope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the treatment of files that others have changed since.
    #[must_use]
    pub fn conflicts(mut self, conflicts: Conflicts) -> Self {
        self.conflicts = conflicts;
        self
    }

    /// Sets the directories in which files may be changed.
    #[must_use]
    pub fn within(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.directories = directories.into_iter().collect();
        self
    }

    /// Returns the checkpoint of the files. `None` when undoing an earlier rewind that changed none.
    fn checkpoint(&self, conversation: Option<&RewindPoint>) -> Option<EntryId> {
        match conversation {
            Some(point) if point.is_undo => point.files.clone(),
            _ => Some(self.to.clone()),
        }
    }

    fn options(&self) -> RewindOptions {
        let mut options = RewindOptions::within(self.directories.clone());
        options.leave_conflicts = self.conflicts == Conflicts::Leave;
        options
    }
}

/// Result of a rewind, or its preview. It never covers network requests, running programs, and files outside the
/// directories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionRewound {
    /// Result for the files, if they are in the scope.
    pub files: Option<Rewind>,
    /// Result for the conversation, if it is in the scope.
    pub conversation: Option<RewindPoint>,
    /// Id to rewind to, in the same scope, to undo this rewind.
    pub undo: Option<EntryId>,
}

/// Reason why a session was not rewound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionRewindError {
    /// The conversation has no such prompt, or the log cannot be read or written.
    #[error(transparent)]
    Conversation(#[from] ForkError),
    /// No such checkpoint exists, or the files cannot be kept. No file was changed.
    #[error(transparent)]
    Files(#[from] CheckpointError),
    /// Others have changed files since, and the rewind must not change such files. Nothing was changed.
    #[error("{}", conflicting(.0))]
    Conflicts(Vec<PathBuf>),
}

fn conflicting(files: &[PathBuf]) -> String {
    let mut text = "these files were changed outside of the session since, so nothing was rewound:".to_owned();
    for file in files.iter().take(20) {
        // Writing to a string cannot fail.
        let _ = write!(text, " {}", file.display());
    }
    text.push_str(". Leave them as they are, or have them overwritten; what they hold is kept then");
    text
}

impl JsonlStore {
    /// Returns the changes that [`rewind`](Self::rewind) would make. Nothing is changed.
    ///
    /// # Errors
    /// No such point exists, or it cannot be read.
    pub async fn rewind_changes(
        &self,
        key: &SessionKey,
        checkpoints: &FileCheckpoints,
        wanted: &SessionRewind,
    ) -> Result<SessionRewound, SessionRewindError> {
        let mut preview = SessionRewound::default();
        if wanted.scope != RewindScope::Files {
            let entries = self.load(key).await.map_err(ForkError::from)?.entries;
            preview.conversation = Some(rewind_point(&entries, &wanted.to).map_err(ForkError::from)?);
        }
        if wanted.scope != RewindScope::Conversation {
            preview.files = match wanted.checkpoint(preview.conversation.as_ref()) {
                Some(to) => Some(checkpoints.changes(&to, &wanted.options()).await?),
                None => Some(Rewind::default()),
            };
        }
        Ok(preview)
    }

    /// Rewinds a session to the state before a prompt, in one step that can be undone. The files come first, so that a
    /// conversation never ends before the state of its files; a failure in between leaves the files rewound and the
    /// conversation unchanged, and the rewind can be repeated.
    ///
    /// # Errors
    /// No such point exists, others have changed files and these must not be changed, or something cannot be written.
    pub async fn rewind(
        &self,
        key: &SessionKey,
        lease: &Lease,
        checkpoints: &FileCheckpoints,
        (wanted, mark): (&SessionRewind, RewoundMark),
    ) -> Result<SessionRewound, SessionRewindError> {
        let preview = self.rewind_changes(key, checkpoints, wanted).await?;
        if wanted.conflicts == Conflicts::Refuse {
            let files = preview.files.iter().flat_map(|files| &files.files).filter(|file| file.conflict);
            let files: Vec<_> = files.map(|file| file.path.clone()).collect();
            if !files.is_empty() {
                return Err(SessionRewindError::Conflicts(files));
            }
        }
        let mut outcome = SessionRewound::default();
        if preview.files.is_some() {
            let rewound = match wanted.checkpoint(preview.conversation.as_ref()) {
                Some(to) => checkpoints.rewind(&to, &wanted.options()).await?,
                None => Rewind::default(),
            };
            outcome.undo.clone_from(&rewound.undo);
            outcome.files = Some(rewound);
        }
        if preview.conversation.is_some() {
            let mark = mark.with_files(outcome.undo.take());
            outcome.undo = Some(mark.id.clone());
            let (point, _) = rewind_conversation(self, key, lease, &wanted.to, mark).await?;
            outcome.conversation = Some(point);
        }
        Ok(outcome)
    }
}
