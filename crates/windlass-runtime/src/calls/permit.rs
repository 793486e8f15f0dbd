//! The permit of a call: access to the paths that were judged.

use std::path::Path;
use std::sync::Arc;
use windlass_permission::{CallFacts, Policy};
use windlass_tool::{JudgedPath, Permit};

/// Returns the permit of a call: access to the judged paths, and nothing else.
pub(crate) fn permit(facts: &CallFacts, policy: Arc<Policy>) -> Permit {
    let judged = |write: bool| -> Vec<JudgedPath> {
        let paths = facts.paths.iter().filter(|path| path.write == write);
        paths.map(|path| JudgedPath::new(&path.requested, &path.resolved)).collect()
    };
    // Allows a tool to suggest the intended name when a file is missing.
    let listable = policy.listable(facts).map(|(requested, resolved)| JudgedPath::new(requested, resolved)).collect();
    let only_reads = policy.is_proven_read_only(facts);
    let contents = (facts.tool == "Grep").then(|| facts.clone());
    let filter = move |path: &Path| match &contents {
        Some(facts) => policy.may_search(facts, path, path),
        None => policy.may_read(path, path),
    };
    Permit::new(facts.digest.clone())
        .with_reads(judged(false))
        .with_writes(judged(true))
        .with_listable(listable)
        .with_only_reads(only_reads)
        .with_filter(Arc::new(filter))
}
