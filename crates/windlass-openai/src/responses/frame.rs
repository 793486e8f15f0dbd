//! JSON of stream events, in its wire format.

mod delta;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::ResponsesUsage;
pub(super) use delta::DeltaFrame;
use windlass_types::WholeNumber;

/// Flat form of every event: one pass over the text, keys borrowed, no buffering as an enum by tag would need it.
#[derive(Default, Deserialize)]
pub(super) struct ResponseFrame<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    pub(super) output_index: Option<usize>,
    #[serde(borrow, default)]
    pub(super) item_id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    pub(super) content_index: Option<usize>,
    #[serde(default, deserialize_with = "WholeNumber::optional")]
    pub(super) summary_index: Option<usize>,
    #[serde(default)]
    pub(super) delta: Option<String>,
    #[serde(default)]
    pub(super) arguments: Option<String>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
}

impl<'a> ResponseFrame<'a> {
    /// Reads an event.
    ///
    /// # Errors
    /// Fails if the data is not JSON, or if a member has another type than expected.
    pub(super) fn read(data: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(data)
    }
}

#[derive(Deserialize)]
pub(super) struct FrameTag<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

/// Output item of any type.
#[derive(Default, Deserialize)]
pub(super) struct OutputItem<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) phase: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    /// Text for a function call, an object for some others.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    /// Parts of a message or of reasoning.
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary: Option<&'a RawValue>,
}

impl<'a> OutputItem<'a> {
    pub(super) fn read(json: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    /// Returns the parts of the content. A value that is no list of parts has none.
    pub(super) fn parts(&self) -> Vec<FramePart> {
        parts(self.content)
    }

    pub(super) fn summaries(&self) -> Vec<FramePart> {
        parts(self.summary)
    }

    /// Returns the text of the arguments.
    pub(super) fn arguments(&self) -> Option<String> {
        serde_json::from_str(self.arguments?.get()).ok()
    }

    /// `true` if the model was cut while it wrote the item.
    pub(super) fn is_incomplete(&self) -> bool {
        self.status.as_deref() == Some("incomplete")
    }
}

fn parts(json: Option<&RawValue>) -> Vec<FramePart> {
    json.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// Part of a message, of a summary or of reasoning.
#[derive(Default, Deserialize)]
pub(super) struct FramePart {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

impl FramePart {
    pub(super) fn is_refusal(&self) -> bool {
        self.refusal.is_some()
    }

    pub(super) fn text(&self) -> &str {
        self.refusal.as_deref().or(self.text.as_deref()).unwrap_or_default()
    }
}

/// Relevant members of the response. The repeated tools and instructions are skipped.
#[derive(Default, Deserialize)]
pub(super) struct ResponseObject<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    pub(super) incomplete_details: Option<IncompleteDetails<'a>>,
    #[serde(default)]
    pub(super) usage: Option<ResponsesUsage>,
}

#[derive(Default, Deserialize)]
pub(super) struct IncompleteDetails<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Option<Cow<'a, str>>,
}
