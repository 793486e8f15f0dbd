//! Previews of the changes that calls would make: people judge by them, so they are part of reading a call.

use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;
use windlass_permission::{CallFacts, Policy};
use windlass_tool::{JudgedPath, Permit, PreparedCall, ToolCx};
use windlass_types::{Access, EditPreview};

/// Time limit for a preview.
const PREVIEW: Duration = Duration::from_secs(2);
/// Maximum number of files of a call with a preview.
const MAX_FILES: usize = 64;

/// Returns the changes that a call would make, if its tool can compute them and the model may read the files.
pub(crate) async fn preview(
    call: &dyn PreparedCall,
    facts: &CallFacts,
    policy: &Policy,
    cx: impl FnOnce(Permit) -> ToolCx,
) -> Option<EditPreview> {
    let paths = written_files(facts);
    let may_read = facts.paths.iter().all(|path| policy.may_read(&path.requested, &path.resolved));
    if paths.is_empty() || paths.len() > MAX_FILES || !may_read {
        return None;
    }
    let judged = facts.paths.iter().map(|path| JudgedPath::new(&path.requested, &path.resolved)).collect();
    // The permit does not allow writing.
    let cx = cx(Permit::new(facts.digest.clone()).with_reads(judged));
    let found = AssertUnwindSafe(tokio::time::timeout(PREVIEW, call.preview(cx))).catch_unwind().await;
    found.ok()?.ok()?.map(|diff| EditPreview::new(paths, diff))
}

/// Returns the files that a call writes, if it names them, with links followed.
pub(crate) fn written_files(facts: &CallFacts) -> Vec<PathBuf> {
    match facts.access {
        Access::Writes(_) => facts.paths.iter().filter(|path| path.write).map(|path| path.resolved.clone()).collect(),
        _ => Vec::new(),
    }
}
