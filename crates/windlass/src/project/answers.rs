//! Permission updates that outlive a session.

use super::{LoadedProject, ProjectNotice, ProjectNoticeKind};
use async_trait::async_trait;
use std::sync::Arc;
use windlass_permission::RememberAnswer;
use windlass_project::{KeepUpdates, destination};
use windlass_types::{PermissionAnswer, PermissionRequest, PermissionUpdate, UpdateDestination};

impl LoadedProject {
    /// Port that stores permission updates of answers in the files that they name.
    pub(crate) fn remembering(&self) -> Arc<dyn RememberAnswer> {
        let files: Arc<dyn KeepUpdates> = Arc::new(self.read.updates.clone());
        let notices = Arc::clone(&self.shared.notices);
        // Each answer that is not stored is a notice.
        let report = move |text| notices.give(ProjectNotice { kind: ProjectNoticeKind::Answer, text });
        Arc::new(InFiles { files, report })
    }
}

/// Stores permission updates of answers in the files that they name. An update that cannot be stored is reported, and
/// applies to the session.
struct InFiles<F> {
    files: Arc<dyn KeepUpdates>,
    report: F,
}

#[async_trait]
impl<F: Fn(String) + Send + Sync + 'static> RememberAnswer for InFiles<F> {
    async fn remember(&self, request: &PermissionRequest, answer: &PermissionAnswer) {
        let PermissionAnswer::Allow { updates, .. } = answer else { return };
        let lasting: Vec<_> = updates.iter().filter(|update| lasts(update)).cloned().collect();
        if lasting.is_empty() {
            return;
        }
        if request.decision.protected {
            // An answer to such a request is for that call alone.
            return (self.report)(
                "a permission update is not written to a file: the call needs an answer every time".to_owned(),
            );
        }
        keep(Arc::clone(&self.files), lasting).await.into_iter().for_each(|problem| {
            (self.report)(format!("a permission update holds for this session only: {problem}"));
        });
    }
}

/// Stores permission updates. Returns the errors.
async fn keep(files: Arc<dyn KeepUpdates>, updates: Vec<PermissionUpdate>) -> Vec<String> {
    let task = tokio::task::spawn_blocking(move || {
        updates.iter().filter_map(|update| files.keep(update).err()).map(|error| error.to_string()).collect()
    });
    task.await.unwrap_or_else(|error| vec![error.to_string()])
}

/// `true` if an update is meant for a file.
fn lasts(update: &PermissionUpdate) -> bool {
    !matches!(destination(update), None | Some(UpdateDestination::Session | UpdateDestination::CliArg))
}

#[cfg(test)]
mod tests;
