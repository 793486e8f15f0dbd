//! Instructions that the model reads once it uses matching files.

use async_trait::async_trait;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_context::FileInstructions;

/// Maximum time that a result waits for the instructions of its files.
const INSTRUCTIONS_TIMEOUT: Duration = Duration::from_secs(2);

/// Finds the instructions for files: those of the folders that they lie in, and those that name them.
///
/// ```
/// # mod windlass { pub mod session { pub use windlass_context::{FileInstructions, InstructionSource}; } }
/// use windlass_runtime::{NestedInstructions, UsedPath};
/// use windlass::session::{FileInstructions, InstructionSource};
///
/// /// One text for all files of a folder.
/// #[derive(Debug)]
/// struct OfGenerated;
///
/// #[async_trait::async_trait]
/// impl NestedInstructions for OfGenerated {
///     async fn of_paths(&self, used: &[UsedPath]) -> Vec<FileInstructions> {
///         let concerns = used.iter().any(|used| used.path.components().any(|part| part.as_os_str() == "generated"));
///         let text = "These files are made by `just generate`: change their templates.";
///         concerns.then(|| FileInstructions::new(InstructionSource::Host, "generated", text)).flatten().into_iter().collect()
///     }
/// }
/// ```
#[async_trait]
pub trait NestedInstructions: Debug + Send + Sync + 'static {
    /// Returns the instructions for these paths, which a tool call has just read or written. Instructions that the
    /// conversation has already are not repeated, so they may be returned again. A call that takes longer than two
    /// seconds is dropped, and its result is used without.
    async fn of_paths(&self, used: &[UsedPath]) -> Vec<FileInstructions>;
}

/// A path that a call of a tool has used.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UsedPath {
    /// As the call names it: absolute and lexically normal.
    pub path: PathBuf,
    /// `true` if the path led to a directory when the call was judged.
    pub is_directory: bool,
}

impl UsedPath {
    /// A path and its kind: directory or not.
    pub fn new(path: impl Into<PathBuf>, is_directory: bool) -> Self {
        Self { path: path.into(), is_directory }
    }

    /// Returns the directory itself, or the folder of a file. `None` for the root of a file system that is no
    /// directory.
    pub fn folder(&self) -> Option<&Path> {
        if self.is_directory { Some(&self.path) } else { self.path.parent() }
    }
}

/// Returns the instructions of a source for paths, if it answers in time.
pub(crate) async fn instructions_of(source: &dyn NestedInstructions, used: &[UsedPath]) -> Vec<FileInstructions> {
    if used.is_empty() {
        return Vec::new();
    }
    let found = tokio::time::timeout(INSTRUCTIONS_TIMEOUT, source.of_paths(used)).await;
    found.unwrap_or_else(|_| {
        let first = used.first().map_or(Path::new(""), |used| &used.path);
        tracing::warn!(path = %first.display(), "the instructions of files took too long and are left out");
        Vec::new()
    })
}
