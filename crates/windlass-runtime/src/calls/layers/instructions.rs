//! The layer that finds the instructions for the files that a call has used.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use crate::ports::instructions::{NestedInstructions, UsedPath, instructions_of};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_core::Input;
use windlass_permission::{CallFacts, PathFact, Standing};

/// Hands the instructions for the files of a successful call to the machine.
pub(crate) struct InstructionsLayer {
    source: Arc<dyn NestedInstructions>,
    used: Vec<UsedPath>,
    results: mpsc::UnboundedSender<Input>,
}

impl InstructionsLayer {
    /// A layer for the paths that the call may read or write.
    pub(crate) fn new(
        source: Arc<dyn NestedInstructions>,
        facts: &CallFacts,
        results: mpsc::UnboundedSender<Input>,
    ) -> Self {
        let used = |path: &PathFact| UsedPath::new(&path.requested, path.end == Standing::Directory);
        Self { source, used: facts.paths.iter().map(used).collect(), results }
    }
}

#[async_trait]
impl CallLayer for InstructionsLayer {
    async fn after(&mut self, _: &LayeredCall, end: &mut CallEnd) {
        if end.outcome.is_error {
            return;
        }
        let found = instructions_of(&*self.source, &self.used).await;
        if !found.is_empty() {
            // Sending fails only when the session has ended.
            let _ = self.results.send(Input::AddInstructions(found));
        }
    }
}
