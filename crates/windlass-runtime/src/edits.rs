//! What calls change in files: looked at before they run, and what the host says of it afterwards.

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

/// The longest that a preview is waited for.
const PREVIEW: Duration = Duration::from_secs(2);
/// Most files of a call that is looked at before it runs.
const MOST_FILES: usize = 64;
/// The longest that diagnostics are waited for, before a call and behind it.
const BEFORE: Duration = Duration::from_secs(1);
const AFTER: Duration = Duration::from_secs(5);

/// Says what compilers, linters or a language server have to say of files.
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
    /// What there is to say of these files now, which a call is about to change or has just changed: absolute, with links
    /// followed. What an edit has brought, the model reads behind its result.
    ///
    /// It is waited for one second before the call, and five behind it. If either takes longer, or is `None` because it is not
    /// known, the model reads none for this call.
    async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>>;
}

/// What a call would change, if its tool can say that and the model may read the files.
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
    // Nothing can be written with it.
    let cx = cx(Permit::new(facts.digest.clone()).with_reads(judged));
    let found = AssertUnwindSafe(tokio::time::timeout(PREVIEW, call.preview(cx))).catch_unwind().await;
    found.ok()?.ok()?.map(|diff| EditPreview::new(paths, diff))
}

/// The files that a call writes, if it names them, with links followed.
pub(crate) fn written(facts: &CallFacts) -> Vec<PathBuf> {
    match facts.access {
        Access::Writes(_) => facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone()).collect(),
        _ => Vec::new(),
    }
}

/// What was said of the files of a call before it ran.
pub(crate) struct Before {
    source: Arc<dyn Diagnostics>,
    paths: Vec<PathBuf>,
    /// `None` if it was not known in time: what an edit brings is then not known either.
    said: Option<Vec<Diagnostic>>,
}

impl Before {
    /// Asks about the files that a call is about to change.
    pub(crate) async fn ask(source: Arc<dyn Diagnostics>, paths: Vec<PathBuf>) -> Self {
        let said = ask(&*source, &paths, BEFORE).await;
        Self { source, paths, said }
    }

    /// What the model reads of what the call has brought.
    pub(crate) async fn introduced(self) -> Option<String> {
        // Also without a look before: a source that reads a project lazily has then seen these files, for the next call.
        let after = ask(&*self.source, &self.paths, AFTER).await?;
        introduced_text(introduced(&self.said?, after))
    }
}

/// A panic of the host, and an answer that comes too late, are no answer, as is one that knows nothing.
async fn ask(source: &dyn Diagnostics, paths: &[PathBuf], limit: Duration) -> Option<Vec<Diagnostic>> {
    let asked = AssertUnwindSafe(tokio::time::timeout(limit, source.of_files(paths))).catch_unwind().await;
    let answer = asked.ok().and_then(Result::ok).flatten();
    if answer.is_none() {
        tracing::warn!(files = paths.len(), "diagnostics are not known, took too long, or panicked, and are left out");
    }
    answer
}
