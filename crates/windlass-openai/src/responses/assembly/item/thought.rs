//! Reasoning: its summary or text is shown, the item itself is sent back to the API.

use std::collections::VecDeque;

use windlass_model::ModelError;
use windlass_types::{BlockStart, ModelEvent, StreamDelta};

use crate::error::unreadable;
use crate::responses::assembly::block::OutputBlocks;
use crate::responses::frame::{FramePart, OutputItem};
use crate::responses::replay::ReplayedReasoning;

/// Separator of the parts of a summary.
const BETWEEN: &str = "\n\n";

/// Finished reasoning that later items refer to.
#[derive(Debug)]
pub(in crate::responses::assembly) struct FinishedReasoning {
    pub(in crate::responses::assembly) key: String,
    /// `true` if the reasoning can be sent back.
    pub(in crate::responses::assembly) is_readable: bool,
}

#[derive(Debug, Default)]
pub(super) struct Thought {
    /// Text that is not shown yet.
    waiting: String,
    /// Latest part: `true` for a summary, and its number.
    last: Option<(bool, usize)>,
    is_open: bool,
}

impl Thought {
    pub(super) fn is_shown(&self) -> bool {
        self.is_open
    }

    pub(super) fn grow(&mut self, part: (bool, usize), text: &str) {
        if self.last.is_some_and(|last| last != part) {
            self.waiting.push_str(BETWEEN);
        }
        self.last = Some(part);
        self.waiting.push_str(text);
    }

    pub(super) fn show(&mut self, blocks: &mut OutputBlocks, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.open(blocks, out)?;
        blocks.grow(StreamDelta::Thinking(std::mem::take(&mut self.waiting)), out);
        Ok(())
    }

    fn open(&mut self, blocks: &mut OutputBlocks, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if self.is_open {
            return Ok(());
        }
        self.is_open = true;
        blocks.open(BlockStart::Thinking { thinking: String::new(), signature: String::new() }, out)
    }

    pub(super) fn finish(
        mut self,
        whole: Option<&str>,
        id: &str,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FinishedReasoning, ModelError> {
        let mut finished = FinishedReasoning { key: id.to_owned(), is_readable: false };
        if let Some(json) = whole {
            if self.last.is_none() {
                self.waiting = text_of(&OutputItem::read(json).map_err(|error| unreadable("an item", error))?);
            }
            if let Some(item) = ReplayedReasoning::read(json) {
                finished = FinishedReasoning { key: item.key(json).into_owned(), is_readable: item.is_readable() };
            }
        }
        self.show(blocks, out)?;
        if let Some(json) = whole.filter(|_| finished.is_readable) {
            self.open(blocks, out)?;
            blocks.grow(StreamDelta::Signature(json.to_owned()), out);
        }
        if self.is_open {
            blocks.close(out);
        }
        Ok(finished)
    }
}

/// Returns the summary, or the reasoning itself if there is none.
fn text_of(item: &OutputItem<'_>) -> String {
    let joined = |parts: Vec<FramePart>| parts.iter().map(FramePart::text).collect::<Vec<_>>().join(BETWEEN);
    let summary = joined(item.summaries());
    if summary.is_empty() { joined(item.parts()) } else { summary }
}
