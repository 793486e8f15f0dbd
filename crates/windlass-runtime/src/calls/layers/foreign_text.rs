//! The layer that marks the words of strangers in results.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall, TextSource};
use async_trait::async_trait;
use std::sync::Arc;
use windlass_context::foreign_content;
use windlass_tool::Ids;
use windlass_types::ToolResultContent;

/// Marks parts of a result that imitate texts of the runtime, and draws the mark of a bounded result.
pub(crate) struct ForeignTextLayer {
    pub(crate) ids: Arc<dyn Ids>,
}

#[async_trait]
impl CallLayer for ForeignTextLayer {
    async fn after(&mut self, _: &LayeredCall, end: &mut CallEnd) {
        let CallEnd { outcome, source, annotations } = end;
        // Texts of the runtime itself about a call are not foreign.
        let is_foreign = annotations.foreign_output && *source != TextSource::Runtime;
        // Foreign content could imitate the tool's own words beside it.
        if is_foreign || outcome.note.is_some() {
            let content = std::mem::replace(&mut outcome.content, ToolResultContent::Blocks(Vec::new()));
            outcome.content = foreign_content(content);
        }
        // An error text of the tool is not bounded.
        let is_bounded = annotations.bounded_output && *source == TextSource::Result;
        outcome.boundary = is_bounded.then(|| self.ids.bits());
    }
}
