//! Instructions that the model reads once it uses files that they are for.

use async_trait::async_trait;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;
use windlass_context::{FileInstructions, InstructionSource};
use windlass_tool::Permit;
use windlass_types::HookCall;
use windlass_types::hook::event::InstructionsLoaded;

/// The longest that a result waits for the instructions of its files.
const LONGEST: Duration = Duration::from_secs(2);

/// Finds the instructions for files: those of the folders that they lie in, and those that name them.
///
/// ```
/// # mod windlass { pub mod session { pub use windlass_context::{FileInstructions, InstructionSource}; } pub mod crates { pub use windlass_runtime as runtime; } }
/// use std::path::PathBuf;
/// use windlass::crates::runtime::NestedInstructions;
/// use windlass::session::{FileInstructions, InstructionSource};
///
/// /// One text for all files of a folder.
/// #[derive(Debug)]
/// struct OfGenerated;
///
/// #[async_trait::async_trait]
/// impl NestedInstructions for OfGenerated {
///     async fn of_paths(&self, paths: &[PathBuf]) -> Vec<FileInstructions> {
///         let concerns = paths.iter().any(|path| path.components().any(|part| part.as_os_str() == "generated"));
///         let text = "These files are made by `just generate`: change their templates.";
///         concerns.then(|| FileInstructions::new(InstructionSource::Host, "generated", text)).flatten().into_iter().collect()
///     }
/// }
/// ```
#[async_trait]
pub trait NestedInstructions: Debug + Send + Sync + 'static {
    /// The instructions for these paths, which a call of a tool has just read or written: absolute and lexically normal.
    /// What the conversation holds already is not repeated, so it may be given again. A call that takes longer than two
    /// seconds is dropped, and its result is used without.
    async fn of_paths(&self, paths: &[PathBuf]) -> Vec<FileInstructions>;
}

/// The occasion on which the instructions of a file are loaded.
pub(crate) fn occasion(file: &FileInstructions, reason: &str) -> HookCall {
    let memory_type = match file.source {
        InstructionSource::Managed => "Managed",
        InstructionSource::User | InstructionSource::Memory => "User",
        InstructionSource::Local => "Local",
        _ => "Project",
    };
    let (memory_type, load_reason) = (memory_type.to_owned(), reason.to_owned());
    InstructionsLoaded { file_path: file.path.clone(), memory_type, load_reason }.into()
}

/// The paths that a call may read or write.
pub(crate) fn paths_of(permit: &Permit) -> Vec<PathBuf> {
    let judged = permit.reads().iter().chain(permit.writes());
    judged.map(|path| path.requested.clone()).collect()
}

/// What a source has for paths, if it answers in time.
pub(crate) async fn find(source: &dyn NestedInstructions, paths: &[PathBuf]) -> Vec<FileInstructions> {
    if paths.is_empty() {
        return Vec::new();
    }
    let found = tokio::time::timeout(LONGEST, source.of_paths(paths)).await;
    found.unwrap_or_else(|_| {
        let first = paths.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
        tracing::warn!(path = %first.display(), "the instructions of files took too long and are left out");
        Vec::new()
    })
}
