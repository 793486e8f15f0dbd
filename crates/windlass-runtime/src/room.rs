//! How much text the results of one message's calls may have together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_types::{ContentBlock, ToolResultContent};

/// Most bytes of text of all results that go to the model in one message.
const MOST: usize = 400_000;
/// What each result may have even so, in bytes.
const LEAST: usize = 8_000;

/// The room that is left for the results of one message. Clones share it.
///
/// Results take it in the order in which calls end. One that does not fit is cut as one that is too large by itself: its
/// beginning and end stay, and the whole is kept as an artifact.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    left: Arc<AtomicUsize>,
    /// Bytes that each result may have even so.
    least: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self::of_bytes(MOST)
    }
}

impl Room {
    /// The space that is left in the model's context window, in tokens.
    pub(crate) fn of_tokens(tokens: u64) -> Self {
        /// Bytes of a text in a token, on the low side.
        const BYTES_PER_TOKEN: u64 = 3;
        let bytes = usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
        Self::of_bytes(bytes.min(MOST))
    }

    fn of_bytes(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)), least: LEAST.min(bytes / 4) }
    }

    /// The most bytes of text that a result may have which alone could have so many.
    pub(crate) fn take(&self, content: &ToolResultContent, alone: usize) -> usize {
        let wanted = text_bytes(content).min(alone);
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(wanted)));
        // The update never fails.
        let left = left.unwrap_or_default();
        if wanted <= left { alone } else { left.max(self.least).min(alone) }
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
        let room = Room::default();
        let text = |bytes: usize| ToolResultContent::from("x".repeat(bytes));
        assert_eq!(room.take(&text(300_000), 100_000), 100_000, "it is cut to that anyway");
        assert_eq!(room.take(&text(50), 100_000), 100_000);
        assert_eq!(room.clone().take(&text(290_000), 2_000_000), 2_000_000);
        assert_eq!(room.take(&text(90_000), 100_000), 9_950);
        assert_eq!(room.take(&text(90_000), 100_000), LEAST);
        assert_eq!(room.take(&text(90_000), 500), 500);
        assert_eq!(room.take(&ToolResultContent::Blocks(Vec::new()), 500), 500);
        let small = Room::of_tokens(4_000);
        assert_eq!(small.take(&text(60_000), 100_000), 12_000);
        assert_eq!(small.take(&text(60_000), 100_000), 3_000);
        assert_eq!(Room::of_tokens(u64::MAX).take(&text(500_000), 1_000_000), MOST);
    }
}
