//! File checkpoints under a home.

use crate::error::Error;
use crate::home::Home;
use crate::local::temporary_files;
use crate::machine::Files;
use std::sync::Arc;
use windlass_local::{LocalWorkspace, TemporaryFiles};
use windlass_runtime::{SystemClock, SystemIds};
use windlass_session::{Checkpoints, ProjectKey, SessionKey};
use windlass_store::{CheckpointLimits, CheckpointRetention, CollectedCheckpoints, FileCheckpoints};
use windlass_tool::FileTree;
use windlass_types::SessionId;

/// Checkpoints beside the log, as a program wants them.
#[derive(Clone, Default)]
pub(crate) struct DiskCheckpoints {
    pub(crate) enabled: bool,
    pub(crate) limits: CheckpointLimits,
}

impl DiskCheckpoints {
    /// File checkpoints of a session, if they are enabled.
    pub(crate) fn open(
        &self,
        home: Option<&Home>,
        files: &Files,
        key: &SessionKey,
    ) -> Result<Option<Arc<dyn Checkpoints>>, Error> {
        if !self.enabled {
            return Ok(None);
        }
        let problem = match (home, &files.tree) {
            (_, None) if files.workspace.is_some() => {
                "the files are not this machine's: give what reads and puts back whole files there with `WorkspaceOptions::file_tree`, \
                 or a store for them with `StorageOptions::checkpoint_store`"
            }
            (Some(home), None) => {
                return Ok(Some(Arc::new(home.file_checkpoints_with(&key.project, &key.session, self.limits))));
            }
            (Some(home), Some(tree)) => {
                let tree = Arc::clone(tree);
                return Ok(Some(Arc::new(home.checkpoints_of(&key.project, &key.session, self.limits, tree))));
            }
            (None, _) => {
                "there is no place for them: call `.persist(Home::from_env()?)`, or give one with `StorageOptions::checkpoint_store`"
            }
        };
        Err(Error::Checkpoints { problem })
    }
}

impl Home {
    /// File checkpoints of a session: the files before its tools and programs changed them. Reads and creates nothing
    /// yet. An open session with [`file_checkpoints`](crate::options::StorageOptions::file_checkpoints) uses the same ones: only
    /// one process may use them at a time.
    pub fn file_checkpoints(&self, project: &ProjectKey, id: &SessionId) -> FileCheckpoints {
        self.file_checkpoints_with(project, id, CheckpointLimits::default())
    }

    /// Like [`file_checkpoints`](Self::file_checkpoints), with other limits.
    pub fn file_checkpoints_with(
        &self,
        project: &ProjectKey,
        id: &SessionId,
        limits: CheckpointLimits,
    ) -> FileCheckpoints {
        let files = LocalWorkspace::new().with_temporary_files(TemporaryFiles::in_folder(temporary_files(self)));
        self.checkpoints_of(project, id, limits, Arc::new(files))
    }

    /// File checkpoints of files in a remote workspace, for a session with
    /// [`file_tree`](crate::options::WorkspaceOptions::file_tree). Such a session has its own while it is open.
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

    /// Drops the file checkpoints of sessions that are long unused or take up too much space. Conversations stay, and
    /// so does everything of a session in use. Other [homes that are only read](Self::also_read) are skipped.
    ///
    /// # Errors
    /// The home cannot be read. Failures of single sessions are named in the outcome.
    pub async fn collect_checkpoints(&self, retention: CheckpointRetention) -> Result<CollectedCheckpoints, Error> {
        Ok(self.store().collect_checkpoints(retention).await?)
    }

    /// Removes temporary files left behind by killed processes, in this home and in the projects where its sessions
    /// have written. Files of live processes stay, and so does everything else. Opening a session also removes those in
    /// projects. Returns the number of removed files.
    ///
    /// # Errors
    /// The home cannot be read.
    pub async fn remove_left_behind(&self) -> Result<usize, Error> {
        let lists = temporary_files(self);
        let removed = tokio::task::spawn_blocking(move || TemporaryFiles::remove_left_behind(&lists)).await;
        let in_projects = removed.map(Result::unwrap_or_default).unwrap_or_default();
        Ok(in_projects.saturating_add(self.store().remove_left_behind().await?))
    }
}
