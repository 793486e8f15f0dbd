//! Checkpoints port: contents of files before tools changed them.

use async_trait::async_trait;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_types::{EntryId, Timestamp, ToolUseId};

/// Earlier contents of the files of one session, so that changes by its tools can be reverted.
///
/// Two kinds of changes can be reverted: those of tools with declared paths (Write, Edit …), whose files are
/// [kept](Self::keep) before, and those of programs (Bash, MCP servers), which are found by [surveys](Self::survey) of
/// the workspace before and after them. Changes by people are left alone; if they touched a tracked file, that is reported
/// as a [conflict](RewoundFile::conflict).
///
/// A checkpoint is a point in the order of the session: one for each prompt, and one for each rewind, which allows
/// undoing the rewind itself. Rewinding to a checkpoint restores the state that every tracked file had there, whatever
/// was rewound in between.
///
/// ```
/// use windlass_session::{CheckpointError, Checkpoints, RewindOptions};
///
/// /// Takes back what was done since the last prompt, and returns whether there was one.
/// async fn undo(files: &dyn Checkpoints, options: &RewindOptions) -> Result<bool, CheckpointError> {
///     let Some(last) = files.list().await?.pop() else { return Ok(false) };
///     files.rewind(&last.id, options).await?;
///     Ok(true)
/// }
/// ```
#[async_trait]
pub trait Checkpoints: fmt::Debug + Send + Sync + 'static {
    /// Begins the checkpoint of a prompt. A repeated call has no effect.
    ///
    /// # Errors
    /// The checkpoint could not be written.
    async fn begin(&self, prompt: &EntryId) -> Result<(), CheckpointError>;

    /// Keeps the present contents of files, durably, unless they have been kept since the prompt. Called before a call
    /// of the prompt's run changes them. Begins the checkpoint of the prompt if there is none.
    ///
    /// A file that cannot be kept (too large, not readable, not a regular file) is not an error: it is noted, and a
    /// rewind reports it. Calls may run at the same time.
    ///
    /// # Errors
    /// The store cannot keep the files: the call must not run.
    async fn keep(&self, prompt: &EntryId, tool_use: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError>;

    /// Records the contents that a call has left in its kept files: a later difference was made by another program or a
    /// person.
    ///
    /// # Errors
    /// The record could not be written. Then such changes go unnoticed.
    async fn changed(&self, tool_use: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError>;

    /// Scans directories for changes since the last survey: before a call that may change any file, and after it. The
    /// first survey keeps the directories as a baseline, which takes a while.
    ///
    /// Changes before the call were made by others, and are only remembered. Changes after it are attributed to the
    /// call, and can be reverted.
    ///
    /// The default scans nothing: then changes by programs cannot be reverted.
    ///
    /// Cancel safety: dropping the future ends the survey soon; a later survey finds the same changes.
    ///
    /// # Errors
    /// The directories could not be read, or the changes could not be written.
    async fn survey(&self, survey: &Survey) -> Result<(), CheckpointError> {
        let _ = survey;
        Ok(())
    }

    /// Waits for work left behind by dropped futures. When it has ended and this is dropped, others can use the
    /// checkpoints. The default returns at once.
    async fn settle(&self) {}

    /// Returns all checkpoints, the oldest first.
    ///
    /// # Errors
    /// The checkpoints cannot be read.
    async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError>;

    /// Returns the changes that a rewind to a checkpoint would make. No file is changed.
    ///
    /// # Errors
    /// No such checkpoint exists, or it cannot be read.
    async fn changes(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError>;

    /// Restores the state that files had at a checkpoint. Their present contents are kept first, as a checkpoint of its
    /// own ([`Rewind::undo`]); a file that cannot be kept is not touched. Rewinding twice is rewinding once.
    ///
    /// An interrupted rewind leaves each file in its old or its new state, and can be repeated or undone.
    ///
    /// # Errors
    /// No such checkpoint exists, or the present contents could not be kept. Then no file was changed. The outcome
    /// names problems with single files.
    async fn rewind(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError>;
}

/// A scan of the workspace for changes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// Prompt whose run contains the call.
    pub prompt: EntryId,
    /// Call of the survey. `None` if background work may have changed files, or between calls.
    pub tool_use: Option<ToolUseId>,
    /// Directories to scan, without links.
    pub directories: Vec<PathBuf>,
    /// Author of the changes that are found.
    pub changed_by: ChangedBy,
}

/// Author of the changes that a survey finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangedBy {
    /// People and other programs: a call is about to run. The changes are left to them.
    Others,
    /// Calls of the session. A rewind reverts the changes.
    Session,
}

impl Survey {
    /// Returns a survey of directories.
    pub fn new(prompt: EntryId, directories: impl IntoIterator<Item = PathBuf>, changed_by: ChangedBy) -> Self {
        Self { prompt, tool_use: None, directories: directories.into_iter().collect(), changed_by }
    }

    /// Sets the call that is about to run, or has run.
    #[must_use]
    pub fn of_call(mut self, tool_use: ToolUseId) -> Self {
        self.tool_use = Some(tool_use);
        self
    }
}

/// A point to which files can be rewound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Id of the checkpoint: that of the prompt, or [`Rewind::undo`].
    pub id: EntryId,
    /// Kind of the event after the checkpoint.
    pub kind: CheckpointKind,
    /// Time when the checkpoint began.
    pub at: Timestamp,
    /// Number of files kept between this checkpoint and the next one.
    pub files: usize,
    /// Files missing from the baseline made after this checkpoint, apart from those ignored by git: if programs change
    /// them, they cannot be restored.
    pub left_out: Vec<LeftOut>,
}

/// A file, or a directory with its content, that a baseline lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Reason, in a sentence without the path.
    pub reason: String,
}

impl LeftOut {
    /// Returns a path that is left out, with the reason.
    pub fn new(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl Checkpoint {
    /// Returns a checkpoint.
    pub fn new(id: EntryId, kind: CheckpointKind, at: Timestamp, files: usize) -> Self {
        Self { id, kind, at, files, left_out: Vec::new() }
    }

    /// Adds the files that its baseline lacks.
    #[must_use]
    pub fn without(mut self, left_out: Vec<LeftOut>) -> Self {
        self.left_out = left_out;
        self
    }
}

/// Kind of the event after a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckpointKind {
    /// A prompt.
    Prompt,
    /// A rewind.
    Rewind,
}

/// Options of a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindOptions {
    /// Directories, without links, in which files may be changed. Default: none.
    pub directories: Vec<PathBuf>,
    /// `true` to skip files that others have changed since. Default: `false`, they are rewound too, and their present
    /// contents are kept.
    pub leave_conflicts: bool,
}

impl RewindOptions {
    /// Returns options that allow changes in these directories alone.
    pub fn within(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { directories: directories.into_iter().collect(), leave_conflicts: false }
    }

    /// Skips files that others have changed since.
    #[must_use]
    pub fn leaving_conflicts(mut self) -> Self {
        self.leave_conflicts = true;
        self
    }
}

/// Result of a rewind, or its preview.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rewind {
    /// Files that differ from the checkpoint, or may, by path. Unchanged files are not listed.
    pub files: Vec<RewoundFile>,
    /// Checkpoint that undoes this rewind, if it changed anything.
    pub undo: Option<EntryId>,
}

impl Rewind {
    /// Returns the result of a rewind.
    pub fn new(files: Vec<RewoundFile>, undo: Option<EntryId>) -> Self {
        Self { files, undo }
    }

    /// Returns the files that were, or would be, restored.
    pub fn changed(&self) -> impl Iterator<Item = &RewoundFile> {
        self.files.iter().filter(|file| file.problem.is_none())
    }

    /// Returns the files that were not, or could not be, restored.
    pub fn left(&self) -> impl Iterator<Item = &RewoundFile> {
        self.files.iter().filter(|file| file.problem.is_some())
    }

    /// Returns the number of lines inserted by the rewind, over all changed files.
    pub fn insertions(&self) -> u64 {
        self.changed().map(|file| file.insertions).sum()
    }

    /// Returns the number of lines deleted by the rewind, over all changed files.
    pub fn deletions(&self) -> u64 {
        self.changed().map(|file| file.deletions).sum()
    }
}

/// Effect of a rewind on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewoundFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Change of the file; `None` if unknown.
    pub change: Option<FileChange>,
    /// Number of inserted lines. Not counted for files that are not text.
    pub insertions: u64,
    /// Number of deleted lines.
    pub deletions: u64,
    /// `true` if another program or a person changed the file after the tools did.
    pub conflict: bool,
    /// Reason why the file is not restored, if it is not.
    pub problem: Option<NotRestored>,
}

impl RewoundFile {
    /// Returns a file that is changed.
    pub fn new(path: impl Into<PathBuf>, change: FileChange) -> Self {
        Self { path: path.into(), change: Some(change), insertions: 0, deletions: 0, conflict: false, problem: None }
    }

    /// Returns a file that is not restored.
    pub fn left(path: impl Into<PathBuf>, problem: NotRestored) -> Self {
        let path = path.into();
        Self { path, change: None, insertions: 0, deletions: 0, conflict: false, problem: Some(problem) }
    }
}

/// Change of a file by a rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileChange {
    /// The file gets its earlier content or mode back.
    Modified,
    /// The file is created again.
    Created,
    /// The file is removed: it did not exist.
    Deleted,
}

/// Reason why a file is not restored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotRestored {
    /// Kind of the reason.
    pub kind: NotRestoredKind,
    /// Reason in a sentence without the path.
    pub reason: String,
}

impl NotRestored {
    /// Returns a reason.
    pub fn new(kind: NotRestoredKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// Kind of reason why a file is not restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRestoredKind {
    /// The earlier state was not kept, is not kept any more, or is damaged.
    NotKept,
    /// The present content cannot be kept first.
    CannotKeep,
    /// A link, a file with several names, or no regular file is at the path or on the way.
    Link,
    /// The file is outside the directories in which files may be changed.
    Outside,
    /// Others changed the file, and such files are to be skipped; or it changed during the rewind.
    Conflict,
    /// The system refused the access.
    Io,
}

/// Kind of a checkpoint error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckpointErrorKind {
    /// No checkpoint with that id exists.
    Unknown,
    /// The kept data is damaged so far that the checkpoint cannot be used.
    Damaged,
    /// Another process uses the checkpoints.
    InUse,
    /// No space is left on the device.
    Full,
    /// Reading or writing failed.
    Io,
}

/// Error of a checkpoint operation. The message names a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CheckpointError {
    /// Kind of the error.
    pub kind: CheckpointErrorKind,
    /// Description of the error, in a sentence.
    pub message: Arc<str>,
}

impl CheckpointError {
    /// Returns an error.
    pub fn new(kind: CheckpointErrorKind, message: impl Into<Arc<str>>) -> Self {
        Self { kind, message: message.into() }
    }

    /// For implementers: returns the error for a missing checkpoint.
    pub fn unknown(id: &EntryId) -> Self {
        Self::new(CheckpointErrorKind::Unknown, format!("No file checkpoint found for message {id}"))
    }
}

const _: fn(&dyn Checkpoints) = |_| {};
