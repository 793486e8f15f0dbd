//! Replay data: members of the API's output, other than the text, that it needs in later requests.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use windlass_types::JsonText;

use windlass_http::provider::stable_hash;

/// Data that is kept with a text or a call, to send its item back unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ItemReplay<'a> {
    /// Id of the item.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub(super) id: Cow<'a, str>,
    /// Phase of the text: an intermediate commentary or the final answer. Newer models give worse answers without it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<Cow<'a, str>>,
    /// `true` for the text of a refusal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) refusal: bool,
    /// Reasoning items that the item follows: the API refuses one without the others.
    #[serde(borrow, default, skip_serializing_if = "<[_]>::is_empty")]
    pub(super) reasoning: Vec<Cow<'a, str>>,
}

fn str_is_empty(text: &str) -> bool {
    text.is_empty()
}

impl<'a> ItemReplay<'a> {
    /// Reads the data that [`ItemReplay::json`] wrote. Anything else is ignored.
    pub(super) fn read(json: &'a JsonText) -> Option<Self> {
        serde_json::from_str(json.as_str()).ok()
    }

    /// Returns the data as JSON; `None` if there is nothing to keep.
    pub(super) fn json(&self) -> Option<JsonText> {
        if *self == Self::default() { None } else { JsonText::of(self).ok() }
    }
}

/// Relevant members of a reasoning item.
#[derive(Deserialize)]
pub(super) struct ReplayedReasoning<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    encrypted_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

impl<'a> ReplayedReasoning<'a> {
    /// Reads a reasoning item; `None` if the text is none.
    pub(super) fn read(item: &'a str) -> Option<Self> {
        serde_json::from_str(item).ok().filter(|read: &Self| read.kind == "reasoning")
    }

    /// `true` if a model can read the item again: nothing is stored at the API, so the item must hold the reasoning
    /// itself.
    pub(super) fn is_readable(&self) -> bool {
        let is_text = |json: &RawValue| json.get().len() > 2 && json.get().starts_with('"');
        let is_list = |json: &RawValue| json.get().bytes().filter(|byte| !byte.is_ascii_whitespace()).count() > 2;
        self.encrypted_content.is_some_and(is_text)
            || self.content.is_some_and(|json| json.get().starts_with('[') && is_list(json))
    }

    /// Returns the key by which later items refer to this one: its id, or a hash of an item without one.
    pub(super) fn key(&self, item: &str) -> Cow<'a, str> {
        match &self.id {
            Some(id) if !id.is_empty() => id.clone(),
            _ => Cow::Owned(format!("{:032x}", stable_hash(item.as_bytes()))),
        }
    }
}

/// `true` for items of tools that the API runs itself, which can be sent back unchanged.
pub(super) fn is_replayable(kind: &str) -> bool {
    matches!(
        kind,
        "web_search_call"
            | "file_search_call"
            | "code_interpreter_call"
            | "image_generation_call"
            | "mcp_call"
            | "mcp_list_tools"
            | "compaction"
    )
}
