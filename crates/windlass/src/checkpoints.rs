//! Where files are kept before tools change them.

use crate::Home;
use std::sync::Arc;
use windlass_runtime::{SystemClock, SystemIds};
use windlass_session::ProjectKey;
use windlass_store::FileCheckpoints;
use windlass_tools::LocalWorkspace;
use windlass_types::SessionId;

impl Home {
    /// The files of a session as they were before its tools changed them. Nothing
    /// is read or made yet. A session that is open with
    /// [`file_checkpoints`](crate::SessionBuilder::file_checkpoints) uses the same ones: they are
    /// for one process at a time.
    pub fn file_checkpoints(&self, project: &ProjectKey, id: &SessionId) -> FileCheckpoints {
        let directory = FileCheckpoints::directory_in(&self.session_directory(project, id));
        let (tree, clock, ids) = (LocalWorkspace::new(), SystemClock::default(), SystemIds::default());
        FileCheckpoints::new(directory, Arc::new(tree), Arc::new(clock), Arc::new(ids))
    }
}
