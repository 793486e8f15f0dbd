//! Where files are kept before tools change them.

use crate::{Error, Home};
use std::sync::Arc;
use windlass_runtime::{SystemClock, SystemIds};
use windlass_session::ProjectKey;
use windlass_store::{CheckpointLimits, CheckpointRetention, CollectedCheckpoints, FileCheckpoints};
use windlass_tool::FileTree;
use windlass_tools::LocalWorkspace;
use windlass_types::SessionId;

impl Home {
    /// The files of a session as they were before its tools and programs changed them. Nothing
    /// is read or made yet. A session that is open with
    /// [`file_checkpoints`](crate::SessionBuilder::file_checkpoints) uses the same ones: they are
    /// for one process at a time.
    pub fn file_checkpoints(&self, project: &ProjectKey, id: &SessionId) -> FileCheckpoints {
        self.file_checkpoints_with(project, id, CheckpointLimits::default())
    }

    /// The same with other limits.
    pub fn file_checkpoints_with(
        &self,
        project: &ProjectKey,
        id: &SessionId,
        limits: CheckpointLimits,
    ) -> FileCheckpoints {
        self.checkpoints_of(project, id, limits, Arc::new(LocalWorkspace::new()))
    }

    /// The same of files that are elsewhere: those of a session with
    /// [`file_tree`](crate::SessionBuilder::file_tree), which has its own while it is open.
    pub fn checkpoints_of(
        &self,
        project: &ProjectKey,
        id: &SessionId,
        limits: CheckpointLimits,
        tree: Arc<dyn FileTree>,
    ) -> FileCheckpoints {
        let directory = FileCheckpoints::directory_in(&self.session_directory(project, id));
        let (clock, ids) = (SystemClock::default(), SystemIds::default());
        let files = FileCheckpoints::with_limits(directory, tree, Arc::new(clock), Arc::new(ids), limits);
        // The logs of sessions change while they are in the workspace, and are never rewound.
        files.leaving_out(self.root()).leaving_secrets(windlass_context::is_secret)
    }

    /// Drops the file checkpoints of sessions that were not used for long, or that take up too much room. Conversations
    /// stay, and so does what belongs to a session that is in use. Other [homes that are only read](Self::also_read) are not
    /// looked at.
    ///
    /// # Errors
    /// The home cannot be read. What goes wrong with one session is named in the outcome.
    pub async fn collect_checkpoints(&self, retention: CheckpointRetention) -> Result<CollectedCheckpoints, Error> {
        Ok(self.store().collect_checkpoints(retention).await?)
    }
}
