//! JSON of stream events, in its wire format.

mod delta;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_types::{ApiUsage, WholeNumber};

/// Flat form of every event: one pass over the text, keys borrowed, no buffering as an enum by tag would need it.
#[derive(Default, Deserialize)]
pub(crate) struct MessagesFrame<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    pub(crate) index: Option<usize>,
    #[serde(borrow, default)]
    pub(crate) delta: Option<FrameDelta<'a>>,
    #[serde(borrow, default)]
    pub(crate) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) message: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) usage: Option<ApiUsage>,
}

impl<'a> MessagesFrame<'a> {
    /// Reads an event.
    ///
    /// # Errors
    /// Fails if the data is not JSON, or if a member has another type than expected.
    pub(crate) fn read(data: &'a str) -> serde_json::Result<Self> {
        // Nearly all events are deltas of a few letters, written in one form.
        match delta::read(data) {
            Some(frame) => Ok(frame),
            None => serde_json::from_str(data),
        }
    }
}

/// Delta of a block, or of the message.
#[derive(Default, Deserialize)]
pub(crate) struct FrameDelta<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) thinking: Option<String>,
    #[serde(default)]
    pub(crate) signature: Option<String>,
    #[serde(default)]
    pub(crate) partial_json: Option<String>,
    #[serde(borrow, default)]
    pub(crate) citation: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) stop_reason: Option<String>,
}

/// Outline of an event whose members have unexpected types.
#[derive(Deserialize)]
pub(crate) struct FrameOutline<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
}

impl FrameOutline<'_> {
    pub(crate) fn index(&self) -> Option<usize> {
        serde_json::from_str(self.index?.get()).ok()
    }

    /// Returns the type of the delta, if there is a delta that is an object.
    pub(crate) fn delta_kind(&self) -> Option<String> {
        let tag: FrameType<'_> = serde_json::from_str(self.delta?.get()).ok()?;
        Some(tag.kind.into_owned())
    }
}

#[derive(Deserialize)]
pub(crate) struct FrameType<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
}

/// Message of `message_start`.
#[derive(Deserialize)]
pub(crate) struct MessageStart<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Cow<'a, str>,
    #[serde(default)]
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) content: Option<Vec<serde::de::IgnoredAny>>,
    #[serde(default)]
    pub(crate) usage: Option<ApiUsage>,
    #[serde(borrow, default)]
    pub(crate) input_transformations: Option<&'a RawValue>,
}

/// Change that the API made to the request before the model read it.
#[derive(Deserialize)]
pub(crate) struct Transformation<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) reason: Cow<'a, str>,
}

/// Start of a block of any known type.
#[derive(Deserialize)]
pub(crate) struct FrameBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    pub(crate) thinking: Option<String>,
    #[serde(default)]
    pub(crate) signature: Option<String>,
    #[serde(default)]
    pub(crate) data: Option<String>,
    #[serde(borrow, default)]
    pub(crate) id: Cow<'a, str>,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(borrow, default)]
    pub(crate) input: Option<&'a RawValue>,
}
