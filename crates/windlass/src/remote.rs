//! Containers and other machines to work on, for [`workspace`](crate::SessionBuilder::workspace).

pub use windlass_remote::{ConnectError, Remote, Transport, quote};

use crate::local::OutputSpace;
use crate::machine::Surroundings;
use crate::options::{OptionChange, WorkspaceOptions};
use std::path::Path;
use std::sync::Arc;
use windlass_tool::Process;

impl Surroundings {
    /// Moves a session into a remote workspace, with its programs and home.
    pub(crate) fn move_to(&mut self, remote: &Remote) {
        let files = remote.workspace();
        self.files.place = Some(remote.name());
        self.files.tree = Some(files.clone());
        self.files.workspace = Some(files);
        let place = remote.clone();
        self.process = None;
        self.remote =
            Some(Arc::new(move |space: &OutputSpace| -> Arc<dyn Process> { place.process_in_space(space.kept()) }));
        self.environments.host = Some(remote.environment().to_vec());
        self.user_home = self.user_home.take().or_else(|| remote.home().map(Path::to_path_buf));
    }
}

impl WorkspaceOptions {
    /// Runs the session in a container or on another machine: with its files, its programs and their environment, and
    /// its home directory. The session's directory is one there. Unsupported options are an error: a
    /// [project](crate::SessionBuilder::project), a sandbox. Needs the feature `remote`.
    pub fn remote(mut self, remote: &Remote) -> Self {
        let remote = remote.clone();
        self.changes.push(OptionChange::new(move |options| options.surroundings.move_to(&remote)));
        self
    }
}

impl From<&Remote> for WorkspaceOptions {
    fn from(remote: &Remote) -> Self {
        Self::new().remote(remote)
    }
}
