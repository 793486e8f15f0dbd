//! Frames of the provider, passed on so that every host sees a balanced stream.

use serde::Deserialize;
use std::borrow::Cow;
use windlass_types::JsonText;

/// Passed-on part of the message that is streaming.
#[derive(Debug, Default)]
pub(crate) struct StreamState {
    in_message: bool,
    open: Vec<usize>,
    /// End of a block, held until the block's complete frame was written.
    held: Option<JsonText>,
}

/// Treatment of a frame.
pub(crate) enum Pass {
    /// Pass it on.
    On,
    /// Leave it out, or pass it on later.
    Not,
}

#[derive(Deserialize)]
struct EventTag<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    index: Option<usize>,
}

impl StreamState {
    /// Handles a frame of the stream.
    pub(crate) fn frame(&mut self, frame: &JsonText) -> Pass {
        // Nearly all frames are deltas, which need no parsing.
        if frame.as_str().starts_with(r#"{"type":"content_block_delta""#) {
            return Pass::On;
        }
        let Ok(tag) = serde_json::from_str::<EventTag<'_>>(frame.as_str()) else { return Pass::On };
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

    /// Frame that was held back, if any.
    pub(crate) fn release(&mut self) -> Option<JsonText> {
        self.held.take()
    }

    /// Missing parts of a message that will not be completed: its open blocks, and `true` if it has begun at all.
    pub(crate) fn abandon(&mut self) -> (Vec<usize>, bool) {
        (std::mem::take(&mut self.open), std::mem::take(&mut self.in_message))
    }
}
