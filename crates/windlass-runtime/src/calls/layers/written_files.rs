//! The layer that notes the files which a call has written.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use crate::files::keeper::Keeper;
use async_trait::async_trait;
use std::path::PathBuf;

/// Records the state in which a call has left its files, and names them in the outcome of a successful call.
pub(crate) struct WrittenFilesLayer {
    /// `None` if no files are kept.
    pub(crate) keeper: Option<Keeper>,
    /// The files, with links followed.
    pub(crate) paths: Vec<PathBuf>,
}

#[async_trait]
impl CallLayer for WrittenFilesLayer {
    async fn after(&mut self, call: &LayeredCall, end: &mut CallEnd) {
        if let Some(keeper) = self.keeper.take() {
            keeper.changed(call.id.clone(), self.paths.clone()).await;
        }
        if !end.outcome.is_error {
            end.outcome.written = std::mem::take(&mut self.paths);
        }
    }
}
