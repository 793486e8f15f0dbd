//! The handle's checkpoints of files.

use crate::commands::{FileCommand, RewindMode, SessionCommand};
use crate::error::RewindError;
use crate::handle::SessionHandle;
use std::future::Future;
use tokio::sync::oneshot;
use windlass_session::{Checkpoint, Rewind};
use windlass_types::EntryId;

impl SessionHandle {
    /// The points to which files can be rewound, the oldest first: one for each
    /// prompt since checkpoints are kept, and one for each rewind.
    ///
    /// # Errors
    /// No checkpoints are kept, they cannot be read, or the session is closed.
    pub fn checkpoints(&self) -> impl Future<Output = Result<Vec<Checkpoint>, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        self.wait(FileCommand::List(answer), waiting)
    }

    /// Returns the changes that [`rewind_files`](Self::rewind_files) would make. May be called while a run is in
    /// progress.
    ///
    /// # Errors
    /// No checkpoints are kept, there is no such checkpoint, or the session is closed.
    pub fn file_changes(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let command = FileCommand::Rewind { to: to.clone(), how: RewindMode::Preview, leave_conflicts: false, answer };
        self.wait(command, waiting)
    }

    /// Restores the files of the workspace that the session has changed since a prompt to their state before it: those
    /// that tools like Write and Edit changed, and those that programs did (Bash, MCP servers) as far as
    /// [`Checkpoints::survey`](windlass_session::Checkpoints::survey) found it. Other effects of programs (the network,
    /// other processes, files outside of the workspace) cannot be undone.
    ///
    /// The current contents are kept first: [`Rewind::undo`] is the checkpoint that undoes the rewind. The conversation
    /// stays as it is. Files that others changed meanwhile are rewound too and named; see
    /// [`rewind_own_files`](Self::rewind_own_files).
    ///
    /// The command is sent at once, before the future is polled; dropping the future loses only the outcome. Prompts
    /// sent meanwhile wait.
    ///
    /// # Errors
    /// A run is in progress, no checkpoints are kept, there is no such checkpoint, or the session is closed. No file
    /// was changed then. Failures with single files are named in the outcome.
    pub fn rewind_files(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let command = FileCommand::Rewind { to: to.clone(), how: RewindMode::Apply, leave_conflicts: false, answer };
        self.wait(command, waiting)
    }

    /// Like [`rewind_files`](Self::rewind_files), but leaves files alone that others have changed since the tools did.
    ///
    /// # Errors
    /// The same as for [`rewind_files`](Self::rewind_files).
    pub fn rewind_own_files(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let command = FileCommand::Rewind { to: to.clone(), how: RewindMode::Apply, leave_conflicts: true, answer };
        self.wait(command, waiting)
    }

    fn wait<T: Send + 'static>(
        &self,
        command: FileCommand,
        waiting: oneshot::Receiver<Result<T, RewindError>>,
    ) -> impl Future<Output = Result<T, RewindError>> + Send + 'static {
        let sent = self.command(SessionCommand::Files(command));
        async move {
            sent.map_err(|_| RewindError::Closed)?;
            waiting.await.unwrap_or(Err(RewindError::Closed))
        }
    }
}
