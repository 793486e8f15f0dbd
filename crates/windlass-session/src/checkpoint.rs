//! The port: files as they were before tools changed them.

use async_trait::async_trait;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_types::{EntryId, Timestamp, ToolUseId};

/// The files of one session as they were before its tools changed them, so that
/// they can be put back.
///
/// Two kinds of changes can be taken back: those of tools with declared paths (Write, Edit …), whose files are
/// [kept](Self::keep) before, and those of programs (Bash, MCP servers), which are found by [surveys](Self::survey) of the
/// workspace before and after them. What people change is theirs; if it touched a tracked file, that is reported as a
/// [conflict](RewoundFile::conflict).
///
/// A checkpoint is a point in the order of the session: one for each prompt, and
/// one for each rewind, which is how a rewind is itself undone. Rewinding to a
/// checkpoint gives every tracked file the state that it had there, whatever was
/// rewound in between.
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
    /// Begins the checkpoint of a prompt. Beginning it again has no effect.
    ///
    /// # Errors
    /// It could not be written.
    async fn begin(&self, prompt: &EntryId) -> Result<(), CheckpointError>;

    /// Keeps files as they are now, durably, unless they have been kept since
    /// the prompt: before a call that answers the prompt changes them. Begins the checkpoint of
    /// the prompt if there is none.
    ///
    /// A file that cannot be kept (too large, not readable, no regular file)
    /// is no error: it is noted, and a rewind reports it. Calls may run at the same time.
    ///
    /// # Errors
    /// The store cannot take it: the call must not run.
    async fn keep(&self, prompt: &EntryId, tool_use: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError>;

    /// Notes what a call has left of the files that were kept for it: what differs
    /// from it later was changed by another program or a person.
    ///
    /// # Errors
    /// It could not be written. Then such changes go unnoticed.
    async fn changed(&self, tool_use: &ToolUseId, paths: &[PathBuf]) -> Result<(), CheckpointError>;

    /// Looks over directories and takes in what has changed since the last survey: before a call that may change any
    /// file, and after it. The first one keeps the directories as they are, as a baseline, which takes a while.
    ///
    /// What changed before the call was changed by others, and is only remembered. What has changed behind it is
    /// taken as changed by the call, and can be put back.
    ///
    /// The default does not look: then what programs change cannot be put back.
    ///
    /// Dropping the future ends it soon; a later survey then finds what this one would have found.
    ///
    /// # Errors
    /// The directories could not be read, or what has changed could not be written.
    async fn survey(&self, survey: &Survey) -> Result<(), CheckpointError> {
        let _ = survey;
        Ok(())
    }

    /// Waits until nothing is at work that futures have left behind which were dropped. When it has ended and this is
    /// dropped, others can use the checkpoints. The default has nothing to wait for.
    async fn settle(&self) {}

    /// All checkpoints, the oldest first.
    ///
    /// # Errors
    /// They cannot be read.
    async fn list(&self) -> Result<Vec<Checkpoint>, CheckpointError>;

    /// What rewinding to a checkpoint would do. No file is changed.
    ///
    /// # Errors
    /// There is no such checkpoint, or it cannot be read.
    async fn changes(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError>;

    /// Gives files the state that they had at a checkpoint. What they hold now is
    /// kept first, as a checkpoint of its own ([`Rewind::undo`]); a file that
    /// cannot be kept is not touched. Rewinding twice is rewinding once.
    ///
    /// A rewind that is cut short leaves each file as it was or as it shall
    /// be, and can be repeated or undone.
    ///
    /// # Errors
    /// There is no such checkpoint, or what the files hold now could not be kept.
    /// Then no file was changed. What goes wrong with one file is named in the outcome.
    async fn rewind(&self, to: &EntryId, options: &RewindOptions) -> Result<Rewind, CheckpointError>;
}

/// A look over the workspace for what has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// The prompt that the call answers.
    pub prompt: EntryId,
    /// The call. `None` where work in the background may have changed files, or between calls.
    pub tool_use: Option<ToolUseId>,
    /// The directories to look over, without links.
    pub directories: Vec<PathBuf>,
    /// Who has made the changes that are found.
    pub changed_by: ChangedBy,
}

/// Who has made the changes that a survey finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangedBy {
    /// People and other programs: a call is about to run. The changes are left to them.
    Others,
    /// Calls of the session. A rewind takes the changes back.
    Session,
}

impl Survey {
    /// A survey of directories.
    pub fn new(prompt: EntryId, directories: impl IntoIterator<Item = PathBuf>, changed_by: ChangedBy) -> Self {
        Self { prompt, tool_use: None, directories: directories.into_iter().collect(), changed_by }
    }

    /// Adds the call that is about to run, or has run.
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
    /// Its id: that of the prompt, or [`Rewind::undo`].
    pub id: EntryId,
    /// What it stands before.
    pub kind: CheckpointKind,
    /// When it began.
    pub at: Timestamp,
    /// How many files were kept between it and the next one.
    pub files: usize,
    /// What the baseline that was made behind it does not hold, apart from what git ignores: if programs change these files,
    /// they cannot be put back.
    pub left_out: Vec<LeftOut>,
}

/// A file, or a directory with all in it, that a baseline does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its path.
    pub path: PathBuf,
    /// Why, in a sentence without the path.
    pub reason: String,
}

impl LeftOut {
    /// What is left out, and why.
    pub fn new(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl Checkpoint {
    /// A checkpoint.
    pub fn new(id: EntryId, kind: CheckpointKind, at: Timestamp, files: usize) -> Self {
        Self { id, kind, at, files, left_out: Vec::new() }
    }

    /// Adds what its baseline does not hold.
    #[must_use]
    pub fn without(mut self, left_out: Vec<LeftOut>) -> Self {
        self.left_out = left_out;
        self
    }
}

/// What a checkpoint stands before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckpointKind {
    /// A prompt.
    Prompt,
    /// A rewind.
    Rewind,
}

/// How to rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindOptions {
    /// The directories, without links, in which files may be touched. Default: none.
    pub directories: Vec<PathBuf>,
    /// Leaves files alone that others changed since. Default: they are
    /// rewound too, and what they hold is kept.
    pub leave_conflicts: bool,
}

impl RewindOptions {
    /// Touches files in these directories alone.
    pub fn within(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { directories: directories.into_iter().collect(), leave_conflicts: false }
    }

    /// Leaves files alone that others changed since.
    #[must_use]
    pub fn leaving_conflicts(mut self) -> Self {
        self.leave_conflicts = true;
        self
    }
}

/// What a rewind did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rewind {
    /// The files that differ from how they were, or may, by path. Files that are
    /// as they were are not listed.
    pub files: Vec<RewoundFile>,
    /// The checkpoint that undoes this rewind, if it changed anything.
    pub undo: Option<EntryId>,
}

impl Rewind {
    /// What a rewind did.
    pub fn new(files: Vec<RewoundFile>, undo: Option<EntryId>) -> Self {
        Self { files, undo }
    }

    /// The files that were, or would be, put back.
    pub fn changed(&self) -> impl Iterator<Item = &RewoundFile> {
        self.files.iter().filter(|file| file.problem.is_none())
    }

    /// The files that were not, or could not be, put back.
    pub fn left(&self) -> impl Iterator<Item = &RewoundFile> {
        self.files.iter().filter(|file| file.problem.is_some())
    }

    /// Lines that come into files, over all that change.
    pub fn insertions(&self) -> u64 {
        self.changed().map(|file| file.insertions).sum()
    }

    /// Lines that go out of files, over all that change.
    pub fn deletions(&self) -> u64 {
        self.changed().map(|file| file.deletions).sum()
    }
}

/// What a rewind does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewoundFile {
    /// The file.
    pub path: PathBuf,
    /// What becomes of it; `None` where that is not known.
    pub change: Option<FileChange>,
    /// Lines that come in. Not counted for files that are no text.
    pub insertions: u64,
    /// Lines that go out.
    pub deletions: u64,
    /// Another program or a person changed it after the tools did.
    pub conflict: bool,
    /// Why it is left as it is, if it is.
    pub problem: Option<NotRestored>,
}

impl RewoundFile {
    /// A file to which something is done.
    pub fn new(path: impl Into<PathBuf>, change: FileChange) -> Self {
        Self { path: path.into(), change: Some(change), insertions: 0, deletions: 0, conflict: false, problem: None }
    }

    /// A file that is left as it is.
    pub fn left(path: impl Into<PathBuf>, problem: NotRestored) -> Self {
        let path = path.into();
        Self { path, change: None, insertions: 0, deletions: 0, conflict: false, problem: Some(problem) }
    }
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileChange {
    /// It gets its earlier content or mode back.
    Modified,
    /// It is made again.
    Created,
    /// It is removed: it was not there.
    Deleted,
}

/// Why a file is not put back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotRestored {
    /// What kind of reason.
    pub kind: NotRestoredKind,
    /// The reason in a sentence without the path.
    pub reason: String,
}

impl NotRestored {
    /// A reason.
    pub fn new(kind: NotRestoredKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// What kind of reason keeps a file from being put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRestoredKind {
    /// Its earlier state was not kept, is kept no longer, or is damaged.
    NotKept,
    /// What it holds now cannot be kept first.
    CannotKeep,
    /// A link, a file with several names, or no regular file stands there or on the way.
    Link,
    /// It lies outside of the directories in which files may be touched.
    Outside,
    /// Others changed it, and such files are to be left alone; or it changed during the rewind.
    Conflict,
    /// The system refused.
    Io,
}

/// What kind of trouble checkpoints are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckpointErrorKind {
    /// There is no checkpoint of that id.
    Unknown,
    /// What was kept is damaged so far that the checkpoint cannot be used.
    Damaged,
    /// Another process uses them.
    InUse,
    /// There is no room left.
    Full,
    /// Reading or writing failed.
    Io,
}

/// Why checkpoints did not do what they were asked. The message names what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CheckpointError {
    /// What kind.
    pub kind: CheckpointErrorKind,
    /// What happened, in a sentence.
    pub message: Arc<str>,
}

impl CheckpointError {
    /// An error.
    pub fn new(kind: CheckpointErrorKind, message: impl Into<Arc<str>>) -> Self {
        Self { kind, message: message.into() }
    }

    /// For implementers: there is no such checkpoint.
    pub fn unknown(id: &EntryId) -> Self {
        Self::new(CheckpointErrorKind::Unknown, format!("No file checkpoint found for message {id}"))
    }
}

const _: fn(&dyn Checkpoints) = |_| {};
