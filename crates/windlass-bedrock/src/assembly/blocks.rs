//! Blocks of a message, one after the other.
//!
//! The API numbers blocks, and may interleave their pieces. Pieces of a block other than the open one wait until that
//! is complete. The waiting pieces are bounded by the size of a message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::{BTreeMap, VecDeque};
use windlass_types::{BlockStart, ContentBlock, ModelEvent, StreamDelta, ToolUseId};

/// Maximum number of blocks of one message.
const MAX_BLOCKS: usize = 10_000;

type BlockEvents = VecDeque<ModelEvent>;

/// Piece of a block.
#[derive(Debug, Clone)]
pub(crate) enum BlockPiece {
    /// Beginning of a call.
    Call {
        id: ToolUseId,
        name: String,
    },
    /// Beginning of a block that is left out.
    Skipped,
    Text(String),
    Thinking(String),
    Signature(String),
    /// Encrypted reasoning, in base64.
    Redacted(String),
    /// Piece of the input of a call.
    Input(String),
    /// End of the block.
    Stop,
}

/// Blocks so far.
#[derive(Debug, Default)]
pub(crate) struct ConverseBlocks {
    /// Number of closed blocks; also the index of the block that is open or comes next.
    closed: usize,
    open: Option<OpenConverseBlock>,
    /// Pieces of later blocks, by the API's number.
    waiting: BTreeMap<u64, Vec<BlockPiece>>,
}

#[derive(Debug)]
struct OpenConverseBlock {
    /// Number of the block at the API.
    at: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking,
    Redacted(Vec<String>),
    Call,
    Skipped,
}

impl ConverseBlocks {
    /// Takes a piece of a block.
    ///
    /// # Errors
    /// Fails if the piece cannot be part of a message.
    pub(crate) fn take(&mut self, at: u64, piece: BlockPiece, ready: &mut BlockEvents) -> Result<(), &'static str> {
        if self.open.as_ref().is_some_and(|open| open.at != at) {
            self.waiting.entry(at).or_default().push(piece);
        } else {
            self.apply(at, piece, ready)?;
            self.advance(ready)?;
        }
        if self.closed > MAX_BLOCKS || self.waiting.len() > MAX_BLOCKS {
            return Err("a message has too many blocks");
        }
        Ok(())
    }

    /// Completes the message: the open and waiting blocks get no more pieces.
    ///
    /// # Errors
    /// Fails if a waiting piece cannot be part of a message.
    pub(crate) fn end(&mut self, ready: &mut BlockEvents) -> Result<(), &'static str> {
        while self.open.is_some() {
            self.close(ready)?;
            self.advance(ready)?;
        }
        Ok(())
    }

    /// Applies the waiting pieces, for as long as no block is open.
    fn advance(&mut self, ready: &mut BlockEvents) -> Result<(), &'static str> {
        while self.open.is_none()
            && let Some((at, pieces)) = self.waiting.pop_first()
        {
            for piece in pieces {
                self.apply(at, piece, ready)?;
            }
        }
        Ok(())
    }

    fn apply(&mut self, at: u64, piece: BlockPiece, ready: &mut BlockEvents) -> Result<(), &'static str> {
        match piece {
            BlockPiece::Stop => return self.close(ready),
            BlockPiece::Call { id, name } => {
                let block = BlockStart::ToolUse { id, name };
                self.begin(at, Kind::Call, Some(block), ready)?;
            }
            BlockPiece::Skipped => self.begin(at, Kind::Skipped, None, ready)?,
            BlockPiece::Input(input) => match self.kind() {
                Some(Kind::Call) => self.grow(input, StreamDelta::ToolInput, ready),
                Some(Kind::Skipped) => {}
                _ => return Err("input of a call that has not begun"),
            },
            BlockPiece::Redacted(data) => {
                if !matches!(self.kind(), Some(Kind::Redacted(_))) {
                    self.begin(at, Kind::Redacted(Vec::new()), None, ready)?;
                }
                if let Some(Kind::Redacted(pieces)) = self.kind() {
                    pieces.push(data);
                }
            }
            BlockPiece::Text(text) if !text.is_empty() => {
                if !matches!(self.kind(), Some(Kind::Text)) {
                    self.begin(at, Kind::Text, Some(BlockStart::Text(String::new())), ready)?;
                }
                self.grow(text, StreamDelta::Text, ready);
            }
            BlockPiece::Thinking(text) if !text.is_empty() => {
                self.think(at, ready)?;
                self.grow(text, StreamDelta::Thinking, ready);
            }
            BlockPiece::Signature(signature) if !signature.is_empty() => {
                self.think(at, ready)?;
                self.grow(signature, StreamDelta::Signature, ready);
            }
            BlockPiece::Text(_) | BlockPiece::Thinking(_) | BlockPiece::Signature(_) => {}
        }
        Ok(())
    }

    fn kind(&mut self) -> Option<&mut Kind> {
        self.open.as_mut().map(|open| &mut open.kind)
    }

    fn think(&mut self, at: u64, ready: &mut BlockEvents) -> Result<(), &'static str> {
        if matches!(self.kind(), Some(Kind::Thinking)) {
            return Ok(());
        }
        let block = BlockStart::Thinking { thinking: String::new(), signature: String::new() };
        self.begin(at, Kind::Thinking, Some(block), ready)
    }

    /// Begins a block. An open one under the same number has ended implicitly.
    fn begin(
        &mut self,
        at: u64,
        kind: Kind,
        block: Option<BlockStart>,
        ready: &mut BlockEvents,
    ) -> Result<(), &'static str> {
        self.close(ready)?;
        if let Some(block) = block {
            ready.push_back(ModelEvent::BlockStart { index: self.closed, block });
        }
        self.open = Some(OpenConverseBlock { at, kind });
        Ok(())
    }

    fn grow(&self, text: String, delta: impl FnOnce(String) -> StreamDelta, ready: &mut BlockEvents) {
        if !text.is_empty() {
            ready.push_back(ModelEvent::BlockDelta { index: self.closed, delta: delta(text) });
        }
    }

    /// Closes the open block, if there is one.
    fn close(&mut self, ready: &mut BlockEvents) -> Result<(), &'static str> {
        let Some(open) = self.open.take() else { return Ok(()) };
        match open.kind {
            Kind::Skipped => return Ok(()),
            Kind::Redacted(pieces) => {
                let data = joined(pieces)?;
                let block = BlockStart::Whole(ContentBlock::RedactedThinking { data });
                ready.push_back(ModelEvent::BlockStart { index: self.closed, block });
            }
            Kind::Text | Kind::Thinking | Kind::Call => {}
        }
        ready.push_back(ModelEvent::BlockStop { index: self.closed });
        self.closed += 1;
        Ok(())
    }
}

/// Joins pieces of base64, each of which may have its own padding. A single piece keeps its text.
fn joined(mut pieces: Vec<String>) -> Result<String, &'static str> {
    if pieces.len() < 2 {
        return Ok(pieces.pop().unwrap_or_default());
    }
    let mut data = Vec::new();
    for piece in pieces {
        STANDARD.decode_vec(piece, &mut data).map_err(|_| "encrypted reasoning that is not base64")?;
    }
    Ok(STANDARD.encode(data))
}

#[cfg(test)]
mod tests;
