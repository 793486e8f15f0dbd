//! Data that is kept beside a text or a call to send its parts back exactly. The form is described in the crate's
//! documentation; it is stored in logs, so members are only ever added.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use windlass_types::JsonText;

/// Data that is kept beside one block.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GeminiReplay<'a> {
    /// Id of the call at the API.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Cow<'a, str>>,
    /// Signature of the call, or of the text after [`Self::unsigned`].
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) thought_signature: Option<Cow<'a, str>>,
    /// Number of bytes of the text that came in a part without signature.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unsigned: usize,
    /// Blank parts before the block.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<Blank<'a>>,
    /// Blank parts after the block.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<Blank<'a>>,
}

/// Part with a blank text.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Blank<'a> {
    #[serde(borrow)]
    pub(crate) text: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) thought_signature: Option<Cow<'a, str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl GeminiReplay<'_> {
    /// Returns the data as JSON; `None` if there is nothing to keep.
    pub(crate) fn to_json(&self) -> Option<JsonText> {
        if *self == GeminiReplay::default() { None } else { JsonText::of(self).ok() }
    }
}

impl<'a> GeminiReplay<'a> {
    /// Reads the data beside a block. Unreadable data counts as missing.
    pub(crate) fn read(json: Option<&'a JsonText>) -> Self {
        json.and_then(|json| serde_json::from_str(json.as_str()).ok()).unwrap_or_default()
    }

    /// Splits a text into its part without signature and its signed part. A text that is not the signed one is sent
    /// without signature.
    pub(crate) fn split<'t>(&self, text: &'t str) -> (&'t str, Option<(&'t str, &str)>) {
        let signed = self.thought_signature.as_deref().filter(|signature| !signature.is_empty());
        match (signed, text.split_at_checked(self.unsigned)) {
            (Some(signature), Some((before, behind))) if !behind.is_empty() => (before, Some((behind, signature))),
            _ => (text, None),
        }
    }
}
