//! Diagnostics of compilers and linters.

use async_trait::async_trait;
use std::fmt::Debug;
use std::path::PathBuf;
use windlass_context::Diagnostic;

/// Source of diagnostics: what compilers, linters or a language server report about files.
///
/// ```
/// # mod windlass { pub mod session { pub use windlass_context::Diagnostic; pub use windlass_runtime::Diagnostics; } }
/// use std::path::PathBuf;
/// use windlass::session::{Diagnostic, Diagnostics};
///
/// /// An editor that knows its language server's last words.
/// #[derive(Debug)]
/// struct Editor(Vec<Diagnostic>);
///
/// #[async_trait::async_trait]
/// impl Diagnostics for Editor {
///     async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>> {
///         Some(self.0.iter().filter(|diagnostic| paths.contains(&diagnostic.path)).cloned().collect())
///     }
/// }
/// ```
#[async_trait]
pub trait Diagnostics: Debug + Send + Sync + 'static {
    /// Returns the current diagnostics of these files, which a call is about to change or has just changed: absolute,
    /// with links followed. The model reads the diagnostics that an edit has introduced behind its result.
    ///
    /// The time limit is one second before the call, and five after it. If either takes longer, or is `None` because it
    /// is not known, the model reads none for this call.
    async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>>;
}
