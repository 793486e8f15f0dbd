//! Where files are kept before tools change them.

use crate::{Error, Home};
use std::sync::Arc;
use windlass_runtime::{SystemClock, SystemIds};
use windlass_session::ProjectKey;
use windlass_store::{CheckpointLimits, CheckpointRetention, CollectedCheckpoints, FileCheckpoints};
use windlass_tool::FileTree;
use windlass_tools::{LocalWorkspace, TemporaryFiles};
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
        let files = LocalWorkspace::new().with_temporary_files(TemporaryFiles::in_folder(self.temporary_files()));
        self.checkpoints_of(project, id, limits, Arc::new(files))
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

    /// Removes the files that killed processes have left behind, in this home and in the projects where its sessions have
    /// written. Files of processes that live stay, and so does everything else. Each session that is opened removes those in
    /// projects, too. Returns the number of files.
    ///
    /// # Errors
    /// The home cannot be read.
    pub async fn remove_left_behind(&self) -> Result<usize, Error> {
        let lists = self.temporary_files();
        let written = tokio::task::spawn_blocking(move || TemporaryFiles::remove_left_behind(&lists)).await;
        let in_projects = written.map(Result::unwrap_or_default).unwrap_or_default();
        Ok(in_projects.saturating_add(self.store().remove_left_behind().await?))
    }
}
