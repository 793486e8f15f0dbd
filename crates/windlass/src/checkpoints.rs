//! Where files are kept before tools change them.

use crate::{Error, Home, Options};
use std::sync::Arc;
use windlass_runtime::{SystemClock, SystemIds};
use windlass_session::{Checkpoints, ProjectKey};
use windlass_store::FileCheckpoints;
use windlass_tools::LocalWorkspace;
use windlass_types::SessionId;

/// The checkpoints of a session that keeps some itself.
pub(crate) fn beside_the_log(
    options: &Options,
    project: &ProjectKey,
    id: &SessionId,
) -> Result<Arc<dyn Checkpoints>, Error> {
    if options.workspace.is_some() {
        let problem = "the files are not this machine's: give a store for them with `.checkpoint_store(..)`";
        return Err(Error::Checkpoints { problem });
    }
    let Some(home) = &options.home else {
        let problem = "there is no place for them: call `.persist(Home::from_env()?)`, or give one with \
                       `.checkpoint_store(..)`";
        return Err(Error::Checkpoints { problem });
    };
    Ok(Arc::new(home.file_checkpoints(project, id)))
}

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
