//! Blocks of the message: one open at a time, with indexes without gaps.

use std::collections::VecDeque;

use windlass_model::ModelError;
use windlass_types::{BlockStart, ModelEvent, StopReason, StreamDelta};

use crate::error::protocol;

/// Maximum number of blocks of one message.
const MAX_BLOCKS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct OutputBlocks {
    finished: usize,
    calls: usize,
    refused: bool,
}

impl OutputBlocks {
    pub(super) fn open(&mut self, block: BlockStart, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if self.finished >= MAX_BLOCKS {
            return Err(protocol(format_args!("a message has more than {MAX_BLOCKS} blocks")));
        }
        self.calls += usize::from(matches!(block, BlockStart::ToolUse { .. }));
        out.push_back(ModelEvent::BlockStart { index: self.finished, block });
        Ok(())
    }

    pub(super) fn grow(&self, delta: StreamDelta, out: &mut VecDeque<ModelEvent>) {
        out.push_back(ModelEvent::BlockDelta { index: self.finished, delta });
    }

    pub(super) fn close(&mut self, out: &mut VecDeque<ModelEvent>) {
        out.push_back(ModelEvent::BlockStop { index: self.finished });
        self.finished += 1;
    }

    /// Records that a part of the message is a refusal.
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    /// Returns the stop reason of a model that finished.
    pub(super) fn stop_reason(&self) -> StopReason {
        match self {
            Self { calls: 1.., .. } => StopReason::ToolUse,
            Self { refused: true, .. } => StopReason::Refusal,
            _ => StopReason::EndTurn,
        }
    }
}
