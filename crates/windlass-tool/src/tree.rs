//! Port to whole files, for checkpoints that keep them and put them back.

use crate::{TreeSurvey, WorkspaceError, WorkspaceErrorKind};
use async_trait::async_trait;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whole files by their real paths: read, put back, removed.
///
/// Unlike a [`Workspace`](crate::Workspace) it asks for no permit: it is for undoing permitted calls, not for tools.
/// Paths are absolute and contain no links. A link anywhere in a path is an error
/// ([`WorkspaceErrorKind::Changed`](crate::WorkspaceErrorKind::Changed)) and is never followed; an entry that is not a
/// regular file is neither opened nor replaced.
///
/// ```
/// use std::path::Path;
/// use windlass_tool::{FileTree, WholeFile, WorkspaceError};
///
/// /// Gives a file the state back that it had.
/// async fn put_back(files: &dyn FileTree, path: &Path, was: WholeFile) -> Result<(), WorkspaceError> {
///     match was {
///         WholeFile::Absent { missing_parents } => files.remove(path, missing_parents).await,
///         WholeFile::File(file) => files.put_whole(path, &file.content, file.mode).await,
///         WholeFile::TooLarge { .. } => Ok(()),
///     }
/// }
/// ```
#[async_trait]
pub trait FileTree: Debug + Send + Sync + 'static {
    /// Reads the file at a path, with its content if that is at most `limit` bytes long.
    ///
    /// # Errors
    /// A link, not a regular file, or not readable.
    async fn read_whole(&self, path: &Path, limit: u64) -> Result<WholeFile, WorkspaceError>;

    /// Gives a file this content and, if the system has modes, this mode. The file has the old content or the new,
    /// never a mix, and no other file is left behind on failure. Missing directories are created. Its other properties
    /// (owner, attributes) are kept as far as possible.
    ///
    /// # Errors
    /// A link, not a regular file, not writable, or the disk is full.
    async fn put_whole(&self, path: &Path, content: &[u8], mode: Option<u32>) -> Result<(), WorkspaceError>;

    /// Removes a file, and of the directories above it at most `parents`, the nearest first, as far as they are empty.
    /// A missing file is fine.
    ///
    /// # Errors
    /// A link, not a regular file, or the system refuses.
    async fn remove(&self, path: &Path, parents: u32) -> Result<(), WorkspaceError>;

    /// Like [`put_whole`](Self::put_whole), if the file has exactly the content `expected` at the moment when it is
    /// replaced, or with `None` if there is no file: a later change by another program is not overwritten.
    ///
    /// The default compares, then puts, and so leaves a moment between.
    ///
    /// # Errors
    /// [`WorkspaceErrorKind::ContentChanged`] if the condition does not hold; then nothing was written. Else those of
    /// `put_whole`.
    async fn compare_and_put(
        &self,
        path: &Path,
        expected: Option<&[u8]>,
        content: &[u8],
        mode: Option<u32>,
    ) -> Result<(), WorkspaceError> {
        compare(&self.read_whole(path, limit(expected)).await?, path, expected)?;
        self.put_whole(path, content, mode).await
    }

    /// Like [`remove`](Self::remove), if the file has exactly the content `expected` at the moment when it is removed.
    ///
    /// The default compares, then removes, and so leaves a moment between.
    ///
    /// # Errors
    /// [`WorkspaceErrorKind::ContentChanged`] if the file has another content or is missing. Else those of `remove`.
    async fn compare_and_remove(&self, path: &Path, expected: &[u8], parents: u32) -> Result<(), WorkspaceError> {
        compare(&self.read_whole(path, limit(Some(expected))).await?, path, Some(expected))?;
        self.remove(path, parents).await
    }

    /// Like [`read_whole`](Self::read_whole) for several files, in their order. The default reads one after the other.
    async fn read_each(&self, paths: Vec<PathBuf>, limit: u64) -> Vec<Result<WholeFile, WorkspaceError>> {
        let mut found = Vec::with_capacity(paths.len());
        for path in &paths {
            found.push(self.read_whole(path, limit).await);
        }
        found
    }

    /// Surveys the tree below a folder, without opening a file: the names in it and the stamps of its files. Links are
    /// not followed. Entries that git would ignore by the files in the tree (`.gitignore`, `.ignore`,
    /// `.git/info/exclude`) are named and not entered; the own files of version control (`.git`) are skipped. `before`
    /// is an earlier survey of the same folder, which makes this one faster. After `most` entries the survey ends.
    ///
    /// The default refuses with [`Unsupported`](WorkspaceErrorKind::Unsupported): changes by programs are then not
    /// known here.
    ///
    /// Cancel safe: it only reads, and ends soon after it is dropped.
    ///
    /// # Errors
    /// The folder itself cannot be read. Folders below it that cannot be read are not in the survey.
    async fn survey(
        &self,
        root: &Path,
        before: Option<Arc<TreeSurvey>>,
        most: usize,
    ) -> Result<TreeSurvey, WorkspaceError> {
        let _ = (before, most);
        let message = format!("{} cannot be looked over: files here have no such operation", root.display());
        Err(WorkspaceError::new(WorkspaceErrorKind::Unsupported, message))
    }

    /// Like [`survey`](Self::survey), but may copy from `before` the entries for which the system has reported no
    /// change, without reading them. Changes that no system reports, such as a change of a file through a name outside
    /// of the tree, may be missed: a later `survey` finds them. The default reads everything.
    ///
    /// # Errors
    /// The errors of `survey`.
    async fn survey_reported(
        &self,
        root: &Path,
        before: Arc<TreeSurvey>,
        most: usize,
    ) -> Result<TreeSurvey, WorkspaceError> {
        self.survey(root, Some(before), most).await
    }
}

/// Returns the size up to which a content is read to be compared.
fn limit(expected: Option<&[u8]>) -> u64 {
    expected.map_or(0, |expected| expected.len() as u64)
}

fn compare(found: &WholeFile, path: &Path, expected: Option<&[u8]>) -> Result<(), WorkspaceError> {
    let is_same = match (found, expected) {
        (WholeFile::Absent { .. }, None) => true,
        (WholeFile::File(file), Some(expected)) => file.content == expected,
        _ => false,
    };
    if is_same { Ok(()) } else { Err(WorkspaceError::content_changed(path)) }
}

/// State of the file at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "code that keeps files must know every case")]
pub enum WholeFile {
    /// The path does not exist.
    Absent {
        /// Number of directories above the path that do not exist either.
        missing_parents: u32,
    },
    /// A regular file.
    File(FileContent),
    /// A regular file that is longer than the limit.
    TooLarge {
        /// Size in bytes.
        size: u64,
    },
}

/// A regular file with its content.
#[derive(Clone)]
#[non_exhaustive]
pub struct FileContent {
    /// Every byte of the file.
    pub content: Vec<u8>,
    /// Mode, if the system has modes.
    pub mode: Option<u32>,
    /// Number of names: more than one if there are hard links.
    pub names: u64,
    file: Option<Arc<File>>,
}

impl FileContent {
    /// Returns a file with one name.
    pub fn new(content: Vec<u8>, mode: Option<u32>) -> Self {
        Self { content, mode, names: 1, file: None }
    }

    /// Sets the number of names.
    #[must_use]
    pub fn with_names(mut self, names: u64) -> Self {
        self.names = names;
        self
    }

    /// Adds the open local file that the content was read from. A keeper of the content may have the file system share
    /// its blocks, which is useful for large files.
    #[must_use]
    pub fn with_file(mut self, file: File) -> Self {
        self.file = Some(Arc::new(file));
        self
    }

    /// Returns the open file that the content was read from, if it was given. It may have changed since.
    pub fn file(&self) -> Option<&Arc<File>> {
        self.file.as_ref()
    }
}

impl PartialEq for FileContent {
    fn eq(&self, other: &Self) -> bool {
        (&self.content, self.mode, self.names) == (&other.content, other.mode, other.names)
    }
}

impl Eq for FileContent {}

impl Debug for FileContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileContent")
            .field("bytes", &self.content.len())
            .field("mode", &self.mode)
            .field("names", &self.names)
            .finish()
    }
}

const _: fn(&dyn FileTree) = |_| {};
