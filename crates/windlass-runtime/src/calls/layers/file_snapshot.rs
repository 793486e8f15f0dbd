//! The layer that keeps the files which a call is about to change.

use crate::calls::layer::{CallLayer, LayeredCall};
use crate::files::keeper::Keeper;
use async_trait::async_trait;
use std::path::PathBuf;
use windlass_types::EntryId;

/// Saves files before a call changes them. A call whose files cannot be saved does not run.
pub(crate) struct FileSnapshotLayer {
    pub(crate) keeper: Keeper,
    /// Prompt to which the snapshot belongs.
    pub(crate) prompt: EntryId,
    /// The files, with links followed.
    pub(crate) paths: Vec<PathBuf>,
}

#[async_trait]
impl CallLayer for FileSnapshotLayer {
    async fn before(&mut self, call: &LayeredCall) -> Result<(), String> {
        let paths = std::mem::take(&mut self.paths);
        self.keeper.clone().keep(self.prompt.clone(), call.id.clone(), paths).await
    }
}
