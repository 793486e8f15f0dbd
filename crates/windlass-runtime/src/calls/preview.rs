//! Previews of the changes that a call would make. People decide on a call by its preview.

use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;
use windlass_permission::{CallFacts, Policy};
use windlass_tool::{JudgedPath, Permit, PreparedCall, ToolCx};
use windlass_types::{Access, EditPreview};

/// Time limit for a preview.
const PREVIEW_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of written files for which a preview is computed.
const MAX_FILES: usize = 64;

/// Returns the preview of a call. `None` if its tool computes none, fails or is slow, if it writes no named file or too
/// many, or if the model may not read a file.
pub(crate) async fn preview(
    call: &dyn PreparedCall,
    facts: &CallFacts,
    policy: &Policy,
    make_cx: impl FnOnce(Permit) -> ToolCx,
) -> Option<EditPreview> {
    let paths = written_files(facts);
    let may_read = facts.paths.iter().all(|path| policy.may_read(&path.requested, &path.resolved));
    if paths.is_empty() || paths.len() > MAX_FILES || !may_read {
        return None;
    }
    let judged_paths = facts.paths.iter().map(|path| JudgedPath::new(&path.requested, &path.resolved)).collect();
    // The permit allows reads only, so a preview cannot change a file.
    let cx = make_cx(Permit::new(facts.digest.clone()).with_reads(judged_paths));
    let outcome = AssertUnwindSafe(tokio::time::timeout(PREVIEW_TIMEOUT, call.preview(cx))).catch_unwind().await;
    outcome.ok()?.ok()?.map(|diff| EditPreview::new(paths, diff))
}

/// Returns the resolved paths of the files that a call writes; empty if it names none.
pub(crate) fn written_files(facts: &CallFacts) -> Vec<PathBuf> {
    match facts.access {
        Access::Writes(_) => facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone()).collect(),
        _ => Vec::new(),
    }
}
