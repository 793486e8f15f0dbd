//! The layer that reports the diagnostics which a call has introduced.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use crate::ports::diagnostics::Diagnostics;
use async_trait::async_trait;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_context::{Diagnostic, introduced, introduced_text};
use windlass_core::Input;

/// Time limits for diagnostics, before a call and after it.
const BEFORE: Duration = Duration::from_secs(1);
const AFTER: Duration = Duration::from_secs(5);

/// Compares the diagnostics of the files of a call before and after it.
pub(crate) struct DiagnosticsLayer {
    source: Arc<dyn Diagnostics>,
    paths: Vec<PathBuf>,
    /// `None` if they were not known in time: the introduced diagnostics are then not known either.
    before: Option<Vec<Diagnostic>>,
    results: mpsc::UnboundedSender<Input>,
}

impl DiagnosticsLayer {
    /// A layer for the files that a call is about to change.
    pub(crate) fn new(
        source: Arc<dyn Diagnostics>,
        paths: Vec<PathBuf>,
        results: mpsc::UnboundedSender<Input>,
    ) -> Self {
        Self { source, paths, before: None, results }
    }
}

#[async_trait]
impl CallLayer for DiagnosticsLayer {
    async fn before(&mut self, _: &LayeredCall) -> Result<(), String> {
        self.before = ask(&*self.source, &self.paths, BEFORE).await;
        Ok(())
    }

    async fn after(&mut self, _: &LayeredCall, end: &mut CallEnd) {
        if end.outcome.is_error {
            return;
        }
        // Also without earlier diagnostics: a source that reads a project lazily has then seen these files, for the
        // next call.
        let Some(after) = ask(&*self.source, &self.paths, AFTER).await else { return };
        let Some(before) = &self.before else { return };
        if let Some(text) = introduced_text(introduced(before, after)) {
            // Sending fails only when the session has ended.
            let _ = self.results.send(Input::AddContext(vec![text]));
        }
    }
}

/// Asks the source. A panic of the host, a late answer and an answer without knowledge give `None`.
async fn ask(source: &dyn Diagnostics, paths: &[PathBuf], limit: Duration) -> Option<Vec<Diagnostic>> {
    let result = AssertUnwindSafe(tokio::time::timeout(limit, source.of_files(paths))).catch_unwind().await;
    let answer = result.ok().and_then(Result::ok).flatten();
    if answer.is_none() {
        tracing::warn!(files = paths.len(), "diagnostics are not known, took too long, or panicked, and are left out");
    }
    answer
}
