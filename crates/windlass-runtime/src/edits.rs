//! File changes of calls: previews before they run, and diagnostics of the host afterwards.

use async_trait::async_trait;
use futures_util::FutureExt;
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::{Diagnostic, introduced, introduced_text};
use windlass_permission::{CallFacts, Policy};
use windlass_tool::{JudgedPath, Permit, PreparedCall, ToolCx};
use windlass_types::{Access, EditPreview};

/// Time limit for a preview.
const PREVIEW: Duration = Duration::from_secs(2);
/// Maximum number of files of a call with a preview.
const MOST_FILES: usize = 64;
/// Time limits for diagnostics, before a call and after it.
const BEFORE: Duration = Duration::from_secs(1);
const AFTER: Duration = Duration::from_secs(5);

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

/// Returns the changes that a call would make, if its tool can compute them and the model may read the files.
pub(crate) async fn preview(
    call: &dyn PreparedCall,
    facts: &CallFacts,
    policy: &Policy,
    cx: impl FnOnce(Permit) -> ToolCx,
) -> Option<EditPreview> {
    let paths = written(facts);
    let may_read = facts.paths.iter().all(|path| policy.may_read(&path.requested, &path.resolved));
    if paths.is_empty() || paths.len() > MOST_FILES || !may_read {
        return None;
    }
    let judged = facts.paths.iter().map(|path| JudgedPath::new(&path.requested, &path.resolved)).collect();
    // The permit does not allow writing.
    let cx = cx(Permit::new(facts.digest.clone()).with_reads(judged));
    let found = AssertUnwindSafe(tokio::time::timeout(PREVIEW, call.preview(cx))).catch_unwind().await;
    found.ok()?.ok()?.map(|diff| EditPreview::new(paths, diff))
}

/// Returns the files that a call writes, if it names them, with links followed.
pub(crate) fn written(facts: &CallFacts) -> Vec<PathBuf> {
    match facts.access {
        Access::Writes(_) => facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Diagnostics of the files of a call before it ran.
pub(crate) struct Before {
    source: Arc<dyn Diagnostics>,
    paths: Vec<PathBuf>,
    /// `None` if they were not known in time: the introduced diagnostics are then not known either.
    said: Option<Vec<Diagnostic>>,
}

impl Before {
    /// Asks about the files that a call is about to change.
    pub(crate) async fn ask(source: Arc<dyn Diagnostics>, paths: Vec<PathBuf>) -> Self {
        let said = ask(&*source, &paths, BEFORE).await;
        Self { source, paths, said }
    }

    /// Returns the text for the model about the diagnostics that the call has introduced.
    pub(crate) async fn introduced(self) -> Option<String> {
        // Also without earlier diagnostics: a source that reads a project lazily has then seen these files, for the
        // next call.
        let after = ask(&*self.source, &self.paths, AFTER).await?;
        introduced_text(introduced(&self.said?, after))
    }
}

/// Asks the source. A panic of the host, a late answer and an answer without knowledge give `None`.
async fn ask(source: &dyn Diagnostics, paths: &[PathBuf], limit: Duration) -> Option<Vec<Diagnostic>> {
    let asked = AssertUnwindSafe(tokio::time::timeout(limit, source.of_files(paths))).catch_unwind().await;
    let answer = asked.ok().and_then(Result::ok).flatten();
    if answer.is_none() {
        tracing::warn!(files = paths.len(), "diagnostics are not known, took too long, or panicked, and are left out");
    }
    answer
}
