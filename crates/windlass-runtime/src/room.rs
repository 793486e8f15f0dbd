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
pub(crate) struct Room(Arc<AtomicUsize>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MOST)))
    }
}

impl Room {
    /// The most bytes of text that a result may have which alone could have so many.
    pub(crate) fn take(&self, content: &ToolResultContent, alone: usize) -> usize {
        let wanted = text_bytes(content).min(alone);
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(wanted)));
        // The update never fails.
        let left = left.unwrap_or_default();
        if wanted <= left { alone } else { left.max(LEAST).min(alone) }
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
    }
}
