//! The provider's own frames, passed on so that every host sees a balanced stream.

use serde::Deserialize;
use std::borrow::Cow;
use windlass_types::JsonText;

/// What was handed on of the message that is streaming.
#[derive(Debug, Default)]
pub(crate) struct StreamState {
    in_message: bool,
    open: Vec<usize>,
    /// The end of a block waits for the block's complete frame, which goes first.
    held: Option<JsonText>,
}

/// What to do with a frame.
pub(crate) enum Pass {
    /// Hand it on.
    On,
    /// Leave it out, or hand it on later.
    Not,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    index: Option<usize>,
}

impl StreamState {
    /// Takes a frame of the stream.
    pub(crate) fn frame(&mut self, frame: &JsonText) -> Pass {
        // Nearly all frames are deltas, and need no look inside.
        if frame.as_str().starts_with(r#"{"type":"content_block_delta""#) {
            return Pass::On;
        }
        let Ok(tag) = serde_json::from_str::<Tag<'_>>(frame.as_str()) else { return Pass::On };
        match (&*tag.kind, tag.index) {
            ("ping", _) => return Pass::Not,
            ("message_start", _) => {
                self.open.clear();
                self.in_message = true;
            }
            ("message_stop", _) => self.in_message = false,
            ("content_block_start", Some(index)) => self.open.push(index),
            ("content_block_stop", Some(index)) => {
                self.open.retain(|open| *open != index);
                self.held = Some(frame.clone());
                return Pass::Not;
            }
            _ => {}
        }
        Pass::On
    }

    /// The frame that was held back, if any.
    pub(crate) fn release(&mut self) -> Option<JsonText> {
        self.held.take()
    }

    /// What is missing of a message that will not be completed: its open
    /// blocks, and whether it has begun at all.
    pub(crate) fn abandon(&mut self) -> (Vec<usize>, bool) {
        (std::mem::take(&mut self.open), std::mem::take(&mut self.in_message))
    }
}
