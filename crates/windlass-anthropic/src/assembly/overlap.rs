//! Blocks that begin before the previous one has ended.
//!
//! llama.cpp opens the next block first and closes all blocks at the end of the message. The clients of the vendor
//! accept that, because they add each delta to the block of its index. Consumers of a [`ModelEvent`] stream get one
//! block after the other.

use crate::error::protocol;
use std::collections::VecDeque;
use windlass_model::ModelError;
use windlass_types::{BlockStart, ModelEvent, StreamDelta};

/// Sorts the events of overlapping blocks in the order of their blocks.
///
/// Text and reasoning end when the next block begins. A call stays open until it is closed, because more of its input
/// may come; events of later blocks wait.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    current: Option<CurrentBlock>,
    /// Text and reasoning blocks that the next block has ended, and that the server has not closed.
    ended: Vec<usize>,
    waiting: VecDeque<WaitingBlock>,
    ready: VecDeque<ModelEvent>,
}

#[derive(Debug, Clone, Copy)]
struct CurrentBlock {
    index: usize,
    is_words: bool,
}

/// Block after a call that is still open.
#[derive(Debug)]
struct WaitingBlock {
    current: CurrentBlock,
    events: Vec<ModelEvent>,
    is_closed: bool,
}

impl Overlap {
    /// Returns the next event that an earlier one made ready.
    pub(super) fn next_event(&mut self) -> Option<ModelEvent> {
        self.ready.pop_front()
    }

    /// Takes a wire event. Returns it if it is in order; otherwise [`next_event`](Self::next_event) returns the
    /// resulting events.
    ///
    /// # Errors
    /// Fails if the event adds text to a block that the next one has ended.
    pub(super) fn order(&mut self, event: ModelEvent) -> Result<Option<ModelEvent>, ModelError> {
        match &event {
            ModelEvent::BlockStart { index, block } => {
                let is_words = matches!(block, BlockStart::Text(_) | BlockStart::Thinking { .. });
                Ok(self.start(CurrentBlock { index: *index, is_words }, event))
            }
            ModelEvent::BlockDelta { index, delta } if !self.is_current(*index) => {
                match self.waiting.iter_mut().find(|block| block.current.index == *index) {
                    Some(block) => block.events.push(event),
                    None if adds_words(delta) => {
                        return Err(protocol("a delta of a block behind the start of the next block"));
                    }
                    None => {}
                }
                Ok(None)
            }
            ModelEvent::BlockStop { index } => Ok(self.stop(*index, event)),
            _ => Ok(Some(event)),
        }
    }

    fn is_current(&self, index: usize) -> bool {
        self.current.is_some_and(|current| current.index == index)
    }

    fn start(&mut self, block: CurrentBlock, event: ModelEvent) -> Option<ModelEvent> {
        match self.current {
            None => {
                self.current = Some(block);
                Some(event)
            }
            Some(before) if before.is_words => {
                self.ready.extend([ModelEvent::BlockStop { index: before.index }, event]);
                self.ended.push(before.index);
                self.current = Some(block);
                None
            }
            Some(_) => {
                self.waiting.push_back(WaitingBlock { current: block, events: vec![event], is_closed: false });
                None
            }
        }
    }

    fn stop(&mut self, index: usize, event: ModelEvent) -> Option<ModelEvent> {
        if self.is_current(index) {
            self.current = None;
            self.promote();
            return Some(event);
        }
        if let Some(block) = self.waiting.iter_mut().find(|block| block.current.index == index) {
            block.events.push(event);
            block.is_closed = true;
        }
        self.ended.retain(|ended| *ended != index);
        None
    }

    /// Makes the events of waiting blocks ready, up to one that is still open.
    fn promote(&mut self) {
        while let Some(block) = self.waiting.pop_front() {
            self.ready.extend(block.events);
            let index = block.current.index;
            match block.is_closed {
                true => {}
                // The next block has begun meanwhile and ends this one.
                false if block.current.is_words && !self.waiting.is_empty() => {
                    self.ready.push_back(ModelEvent::BlockStop { index });
                    self.ended.push(index);
                }
                false => {
                    self.current = Some(block.current);
                    return;
                }
            }
        }
    }
}

/// `true` if a delta adds text to its block that must not be lost. The signature of reasoning may come with the late
/// close.
fn adds_words(delta: &StreamDelta) -> bool {
    match delta {
        StreamDelta::Text(text) | StreamDelta::Thinking(text) | StreamDelta::ToolInput(text) => !text.is_empty(),
        _ => false,
    }
}
