//! Options of file checkpoints.

use crate::options::{OptionChange, StorageOptions};
use windlass_store::CheckpointLimits;

impl StorageOptions {
    /// Saves files before tools and programs (Bash, MCP servers) change them, beside the session.
    /// [`SessionHandle::rewind_files`](crate::SessionHandle::rewind_files) restores them. Before the first program that is
    /// not known to be read-only, the workspace is copied, without files that git ignores. Needs
    /// [`persist`](crate::SessionBuilder::persist). A call whose files cannot be saved because the disk is full does not
    /// run. Default: `false`. Needs the features `store` and `tools`.
    pub fn file_checkpoints(mut self, on: bool) -> Self {
        self.changes.push(OptionChange::new(move |options| options.storage.disk_checkpoints.enabled = on));
        self
    }

    /// Limits of [`file_checkpoints`](Self::file_checkpoints): the largest file, all contents, and the copy of the
    /// workspace. Default: 64 MiB, 1 GiB, 1 GiB.
    pub fn checkpoint_limits(mut self, limits: CheckpointLimits) -> Self {
        self.changes.push(OptionChange::new(move |options| options.storage.disk_checkpoints.limits = limits));
        self
    }
}
