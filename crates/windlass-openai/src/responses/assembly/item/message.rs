//! Message: each of its parts is a text block.

use std::collections::VecDeque;

use windlass_model::ModelError;
use windlass_types::{BlockStart, ModelEvent, StreamDelta};

use crate::error::protocol;
use crate::responses::assembly::block::OutputBlocks;
use crate::responses::frame::OutputItem;
use crate::responses::replay::ItemReplay;

#[derive(Debug, Default)]
pub(super) struct MessageItem {
    /// Pieces that are not shown yet.
    waiting: VecDeque<MessagePiece>,
    /// Latest part, and the number of its bytes that have arrived.
    last: Option<(usize, usize)>,
    /// Part whose block is open, and `true` for a refusal.
    open: Option<(usize, bool)>,
    is_shown: bool,
}

#[derive(Debug)]
struct MessagePiece {
    part: usize,
    text: String,
    is_refusal: bool,
}

impl MessageItem {
    pub(super) fn is_shown(&self) -> bool {
        self.is_shown
    }

    pub(super) fn grow(&mut self, part: usize, text: String, is_refusal: bool) -> Result<(), ModelError> {
        let came = match self.last {
            Some((last, came)) if last == part => came,
            Some((last, _)) if last > part => return Err(protocol("the parts of a message are mixed")),
            _ => 0,
        };
        self.last = Some((part, came.saturating_add(text.len())));
        match self.waiting.back_mut() {
            Some(piece) if piece.part == part => piece.text.push_str(&text),
            _ => self.waiting.push_back(MessagePiece { part, text, is_refusal }),
        }
        Ok(())
    }

    /// Shows the waiting pieces. `replay` makes the replay data of a part that ends.
    pub(super) fn show<'r>(
        &mut self,
        replay: &dyn Fn() -> ItemReplay<'r>,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        while let Some(MessagePiece { part, text, is_refusal }) = self.waiting.pop_front() {
            if self.open.is_none_or(|(open, _)| open != part) {
                self.close(replay, blocks, out);
                blocks.open(BlockStart::Text(String::new()), out)?;
                if is_refusal {
                    blocks.refuse();
                }
                (self.open, self.is_shown) = (Some((part, is_refusal)), true);
            }
            blocks.grow(StreamDelta::Text(text), out);
        }
        Ok(())
    }

    fn close<'r>(
        &mut self,
        replay: &dyn Fn() -> ItemReplay<'r>,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) {
        if let Some((_, refusal)) = self.open.take() {
            if let Some(json) = (ItemReplay { refusal, ..replay() }).json() {
                blocks.grow(StreamDelta::Replay(json), out);
            }
            blocks.close(out);
        }
    }

    /// Returns `true` if the message has text.
    pub(super) fn finish<'r>(
        mut self,
        item: &OutputItem<'_>,
        replay: &dyn Fn() -> ItemReplay<'r>,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<bool, ModelError> {
        for (at, part) in item.parts().iter().enumerate() {
            // Text that was not streamed.
            let came = match self.last {
                Some((last, _)) if at < last => continue,
                Some((last, came)) if at == last => came,
                _ => 0,
            };
            if let Some(rest) = part.text().get(came..).filter(|rest| !rest.is_empty()) {
                self.grow(at, rest.to_owned(), part.is_refusal())?;
            }
        }
        let is_kept = self.is_shown || !self.waiting.is_empty();
        self.show(replay, blocks, out)?;
        self.close(replay, blocks, out);
        Ok(is_kept)
    }
}
