//! Notes about a walk for the reader of a result.

use windlass_tool::WalkReport;

/// Number of ignored files and folders in words, such as `1 ignored file and 2 ignored folders were`. `None` without
/// any.
pub(super) fn ignored_phrase(report: &WalkReport) -> Option<String> {
    let (files, folders) = (report.ignored_files, report.ignored_folders);
    let part = |count: usize, name: &str| match count {
        0 => None,
        1 => Some(format!("1 ignored {name}")),
        _ => Some(format!("{count} ignored {name}s")),
    };
    let parts: Vec<String> = [part(files, "file"), part(folders, "folder")].into_iter().flatten().collect();
    let verb = if files.saturating_add(folders) == 1 { "was" } else { "were" };
    (!parts.is_empty()).then(|| format!("{} {verb}", parts.join(" and ")))
}

/// Sentences about places that were not searched.
pub(super) fn walk_notes(report: &WalkReport) -> Vec<String> {
    let mut notes = Vec::new();
    if report.unreadable > 0 {
        notes.push(format!("{} places could not be read.", report.unreadable));
    }
    if report.unusable_ignores > 0 {
        let count = report.unusable_ignores;
        notes.push(format!(
            "{count} ignore files did not count: no regular files, too large, or links out of the workspace."
        ));
    }
    notes
}
