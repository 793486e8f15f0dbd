//! The layer that cuts results: a limit on the text that the results of one message may have together.

use crate::calls::artifact;
use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_tool::Ids;
use windlass_types::{ContentBlock, ToolResultContent};

/// Maximum size of all results in one message, in bytes of text.
const MAX_MESSAGE_BYTES: usize = 400_000;
/// Bytes that each result may have even if no space is left.
const MIN_RESULT_BYTES: usize = 8_000;

/// Remaining space for the results of one message. Clones share it.
///
/// Results take space in the order in which calls end. A result that does not fit is cut like one that is too large by
/// itself: its beginning and end stay, and the whole is kept as an artifact.
#[derive(Debug, Clone)]
pub(crate) struct ResultBudget {
    left: Arc<AtomicUsize>,
    /// Bytes that each result may have even if no space is left.
    least: usize,
}

impl Default for ResultBudget {
    fn default() -> Self {
        Self::of_bytes(MAX_MESSAGE_BYTES)
    }
}

impl ResultBudget {
    /// The space of a model's context window with so many tokens left.
    pub(crate) fn of_tokens(tokens: u64) -> Self {
        /// Bytes of text per token, on the low side.
        const BYTES_PER_TOKEN: u64 = 3;
        let bytes = usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
        Self::of_bytes(bytes.min(MAX_MESSAGE_BYTES))
    }

    fn of_bytes(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)), least: MIN_RESULT_BYTES.min(bytes / 4) }
    }

    /// Takes space, and returns the maximum bytes of text for a result that alone could have `alone` bytes.
    pub(crate) fn take(&self, content: &ToolResultContent, alone: usize) -> usize {
        let requested = text_bytes(content).min(alone);
        let remaining = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| Some(remaining.saturating_sub(requested)));
        // The update never fails.
        let remaining = remaining.unwrap_or_default();
        if requested <= remaining { alone } else { remaining.max(self.least).min(alone) }
    }
}

/// Cuts the result of a call to its share of the budget, and keeps the whole as an artifact.
pub(crate) struct ResultBudgetLayer {
    pub(crate) budget: ResultBudget,
    /// Folder for large results.
    pub(crate) artifacts: Option<PathBuf>,
    pub(crate) ids: Arc<dyn Ids>,
}

#[async_trait]
impl CallLayer for ResultBudgetLayer {
    async fn after(&mut self, _: &LayeredCall, end: &mut CallEnd) {
        let max_bytes = self.budget.take(&end.outcome.content, end.annotations.max_result_bytes);
        let content = std::mem::replace(&mut end.outcome.content, ToolResultContent::Blocks(Vec::new()));
        end.outcome.content = artifact::fit(content, max_bytes, self.artifacts.as_deref(), &*self.ids).await;
    }
}

fn text_bytes(content: &ToolResultContent) -> usize {
    match content {
        ToolResultContent::Text(text) => text.len(),
        ToolResultContent::Blocks(blocks) => blocks.iter().filter_map(ContentBlock::as_text).map(str::len).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_share_what_there_is() {
        let room = ResultBudget::default();
        let text = |bytes: usize| ToolResultContent::from("x".repeat(bytes));
        assert_eq!(room.take(&text(300_000), 100_000), 100_000, "it is cut to that anyway");
        assert_eq!(room.take(&text(50), 100_000), 100_000);
        assert_eq!(room.clone().take(&text(290_000), 2_000_000), 2_000_000);
        assert_eq!(room.take(&text(90_000), 100_000), 9_950);
        assert_eq!(room.take(&text(90_000), 100_000), MIN_RESULT_BYTES);
        assert_eq!(room.take(&text(90_000), 500), 500);
        assert_eq!(room.take(&ToolResultContent::Blocks(Vec::new()), 500), 500);
        let small = ResultBudget::of_tokens(4_000);
        assert_eq!(small.take(&text(60_000), 100_000), 12_000);
        assert_eq!(small.take(&text(60_000), 100_000), 3_000);
        assert_eq!(ResultBudget::of_tokens(u64::MAX).take(&text(500_000), 1_000_000), MAX_MESSAGE_BYTES);
    }
}
