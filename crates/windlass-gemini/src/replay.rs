//! Replay data stored with a text or a call, so that its parts can be sent back unchanged. The crate's documentation
//! describes the form. Logs contain it, so members may be added, but never removed or renamed.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use windlass_types::JsonText;

/// Replay data of one block.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GeminiReplay<'a> {
    /// Id that the API gave to the call.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Cow<'a, str>>,
    /// Signature of the call, or of the text from byte [`Self::unsigned`] on.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) thought_signature: Option<Cow<'a, str>>,
    /// Number of leading bytes of the text that came in a part without a signature.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unsigned: usize,
    /// Blank parts before the block.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<Blank<'a>>,
    /// Blank parts after the block.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<Blank<'a>>,
}

/// Part whose text is blank, kept so that it can be sent back.
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
    /// Reads the data of a block. Unreadable data is treated as missing.
    pub(crate) fn read(json: Option<&'a JsonText>) -> Self {
        json.and_then(|json| serde_json::from_str(json.as_str()).ok()).unwrap_or_default()
    }

    /// Splits a text into its unsigned beginning and its signed rest, with the signature. Without a signature, or if
    /// nothing follows the unsigned bytes, the whole text is unsigned.
    pub(crate) fn split<'t>(&self, text: &'t str) -> (&'t str, Option<(&'t str, &str)>) {
        let signature = self.thought_signature.as_deref().filter(|signature| !signature.is_empty());
        match (signature, text.split_at_checked(self.unsigned)) {
            (Some(signature), Some((unsigned, signed))) if !signed.is_empty() => (unsigned, Some((signed, signature))),
            _ => (text, None),
        }
    }
}
