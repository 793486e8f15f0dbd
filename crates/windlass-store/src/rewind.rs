//! Rewinding a stored session: its files, its conversation, or both in one step.

use crate::{FileCheckpoints, JsonlStore};
use std::fmt::Write as _;
use std::path::PathBuf;
use windlass_session::{
    CheckpointError, Checkpoints, ForkError, Lease, Rewind, RewindOptions, RewindPoint, RewoundMark, SessionKey,
    SessionStore, rewind_conversation, rewind_point,
};
use windlass_types::EntryId;

/// What of a session is rewound.
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

/// What becomes of files that others have changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Conflicts {
    /// Nothing is rewound.
    #[default]
    Refuse,
    /// They are left as they are; the rest is rewound.
    Leave,
    /// They are rewound too. What they hold is kept.
    Overwrite,
}

/// How a session is rewound.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionRewind {
    /// The prompt, or the mark of an earlier rewind, which is taken back then.
    pub to: EntryId,
    /// What is rewound.
    pub scope: RewindScope,
    /// What becomes of files that others have changed since.
    pub conflicts: Conflicts,
    /// The directories in which files may be touched, without links.
    pub directories: Vec<PathBuf>,
}

impl SessionRewind {
    /// Rewinds files alone, in no directory, unless others have changed one of them.
    pub fn new(to: EntryId) -> Self {
        Self { to, scope: RewindScope::default(), conflicts: Conflicts::default(), directories: Vec::new() }
    }

    /// Sets what is rewound.
    #[must_use]
    pub fn scope(mut self, scope: RewindScope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets what becomes of files that others have changed since.
    #[must_use]
    pub fn conflicts(mut self, conflicts: Conflicts) -> Self {
        self.conflicts = conflicts;
        self
    }

    /// Sets the directories in which files may be touched.
    #[must_use]
    pub fn within(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.directories = directories.into_iter().collect();
        self
    }

    /// The checkpoint of the files. `None` where an earlier rewind is taken back that changed none.
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

/// What was rewound, or would be. Requests to the network, programs that run, and files outside of the directories are never
/// among it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionRewound {
    /// The files, if they were to be rewound.
    pub files: Option<Rewind>,
    /// The conversation, if it was to be rewound.
    pub conversation: Option<RewindPoint>,
    /// What takes it back when it is rewound to in the same scope.
    pub undo: Option<EntryId>,
}

/// Why a session was not rewound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionRewindError {
    /// The conversation has no such prompt, or the log cannot be read or written.
    #[error(transparent)]
    Conversation(#[from] ForkError),
    /// There is no such checkpoint, or the files cannot be kept. No file was changed.
    #[error(transparent)]
    Files(#[from] CheckpointError),
    /// Others have changed files since, and the rewind is not to touch such files. Nothing was changed.
    #[error("{}", conflicting(.0))]
    Conflicts(Vec<PathBuf>),
}

fn conflicting(files: &[PathBuf]) -> String {
    let mut text = "these files were changed outside of the session since, so nothing was rewound:".to_owned();
    for file in files.iter().take(20) {
        // Writing to a text cannot fail.
        let _ = write!(text, " {}", file.display());
    }
    text.push_str(". Leave them as they are, or have them overwritten; what they hold is kept then");
    text
}

impl JsonlStore {
    /// What [`rewind`](Self::rewind) would do. Nothing is changed.
    ///
    /// # Errors
    /// There is no such point, or it cannot be read.
    pub async fn rewind_changes(
        &self,
        key: &SessionKey,
        checkpoints: &FileCheckpoints,
        wanted: &SessionRewind,
    ) -> Result<SessionRewound, SessionRewindError> {
        let mut would = SessionRewound::default();
        if wanted.scope != RewindScope::Files {
            let entries = self.load(key).await.map_err(ForkError::from)?.entries;
            would.conversation = Some(rewind_point(&entries, &wanted.to).map_err(ForkError::from)?);
        }
        if wanted.scope != RewindScope::Conversation {
            would.files = match wanted.checkpoint(would.conversation.as_ref()) {
                Some(to) => Some(checkpoints.changes(&to, &wanted.options()).await?),
                None => Some(Rewind::default()),
            };
        }
        Ok(would)
    }

    /// Rewinds a session to the state before a prompt, in one step that can be taken back. The files are first, so that a
    /// conversation never ends before what its files still show; a failure in between leaves the files rewound and the
    /// conversation as it was, and the rewind can be repeated.
    ///
    /// # Errors
    /// There is no such point, others have changed files and these are not to be touched, or something cannot be written.
    pub async fn rewind(
        &self,
        key: &SessionKey,
        lease: &Lease,
        checkpoints: &FileCheckpoints,
        (wanted, mark): (&SessionRewind, RewoundMark),
    ) -> Result<SessionRewound, SessionRewindError> {
        let would = self.rewind_changes(key, checkpoints, wanted).await?;
        if wanted.conflicts == Conflicts::Refuse {
            let files = would.files.iter().flat_map(|files| &files.files).filter(|file| file.conflict);
            let files: Vec<_> = files.map(|file| file.path.clone()).collect();
            if !files.is_empty() {
                return Err(SessionRewindError::Conflicts(files));
            }
        }
        let mut done = SessionRewound::default();
        if would.files.is_some() {
            let rewound = match wanted.checkpoint(would.conversation.as_ref()) {
                Some(to) => checkpoints.rewind(&to, &wanted.options()).await?,
                None => Rewind::default(),
            };
            done.undo.clone_from(&rewound.undo);
            done.files = Some(rewound);
        }
        if would.conversation.is_some() {
            let mark = mark.with_files(done.undo.take());
            done.undo = Some(mark.id.clone());
            let (point, _) = rewind_conversation(self, key, lease, &wanted.to, mark).await?;
            done.conversation = Some(point);
        }
        Ok(done)
    }
}
