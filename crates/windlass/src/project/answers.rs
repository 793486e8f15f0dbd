//! Answers that hold longer than a session.

use super::notice::Notices;
use super::{LoadedProject, ProjectNotice, ProjectNoticeKind};
use std::sync::Arc;
use windlass_permission::{CanUseTool, can_use_tool_fn};
use windlass_project::{KeepUpdates, destination};
use windlass_types::{PermissionAnswer, PermissionUpdate, UpdateDestination};

impl LoadedProject {
    /// Has the changes that come with answers kept in the files that they name.
    pub(super) fn remembering(&self, asked: Arc<dyn CanUseTool>) -> Arc<dyn CanUseTool> {
        let files: Arc<dyn KeepUpdates> = Arc::new(self.read.updates.clone());
        let notices = Arc::clone(&self.shared.notices);
        remembering(asked, files, move |text| answered(&notices, text))
    }
}

fn answered(notices: &Notices, text: String) {
    // Each answer that is not kept is said.
    notices.give(ProjectNotice { kind: ProjectNoticeKind::Answer, text });
}

/// Asks somebody, and keeps the changes that come with an answer in the files that they name, before the answer counts.
/// What cannot be kept is reported, and holds for the session.
fn remembering(
    asked: Arc<dyn CanUseTool>,
    files: Arc<dyn KeepUpdates>,
    tell: impl Fn(String) + Send + Sync + 'static,
) -> Arc<dyn CanUseTool> {
    let tell = Arc::new(tell);
    Arc::new(can_use_tool_fn(move |request| {
        let (asked, files, tell) = (Arc::clone(&asked), Arc::clone(&files), Arc::clone(&tell));
        async move {
            let is_protected = request.decision.protected;
            let answer = asked.can_use_tool(request).await;
            if let PermissionAnswer::Allow { updates, .. } = &answer {
                let lasting: Vec<_> = updates.iter().filter(|update| lasts(update)).cloned().collect();
                if is_protected && !lasting.is_empty() {
                    // An answer to such a question is for that call alone.
                    tell(
                        "a permission update is not written to a file: the call needs an answer every time".to_owned(),
                    );
                } else if !lasting.is_empty() {
                    keep(files, lasting).await.into_iter().for_each(|problem| {
                        tell(format!("a permission update holds for this session only: {problem}"));
                    });
                }
            }
            answer
        }
    }))
}

/// Keeps changes; what could not be kept, and why.
async fn keep(files: Arc<dyn KeepUpdates>, updates: Vec<PermissionUpdate>) -> Vec<String> {
    let kept = tokio::task::spawn_blocking(move || {
        updates.iter().filter_map(|update| files.keep(update).err()).map(|error| error.to_string()).collect()
    });
    kept.await.unwrap_or_else(|error| vec![error.to_string()])
}

/// Whether a change is meant for a file.
fn lasts(update: &PermissionUpdate) -> bool {
    !matches!(destination(update), None | Some(UpdateDestination::Session | UpdateDestination::CliArg))
}

#[cfg(test)]
mod tests;
