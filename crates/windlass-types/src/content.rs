//! Content blocks of messages, in the terms of the Messages API.

mod json;

pub(crate) use json::push_blocks;

use crate::{DocumentSource, ImageSource, JsonText, ToolUseId};
use serde::de::{self, Deserializer};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// One block of a message.
///
/// Block types that windlass does not know are kept as their exact text and
/// sent back unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Opaque data that the provider needs back with the text. Not part of the block's JSON: only the log keeps it,
        /// and only the origin of the message gets it.
        #[cfg_attr(feature = "schema", schemars(skip))]
        replay: Option<JsonText>,
    },
    /// The model's reasoning. Immutable: the provider checks the signature over it.
    Thinking {
        /// The reasoning text, empty when the provider withholds it.
        thinking: String,
        /// Data that the provider needs to read the block again: its signature, or the encrypted item as JSON text.
        signature: String,
    },
    /// Reasoning that the provider returned encrypted.
    RedactedThinking {
        /// The opaque data.
        data: String,
    },
    /// An image.
    Image {
        /// Source of the image bytes.
        source: ImageSource,
    },
    /// A document, such as a PDF.
    Document {
        /// Source of the document bytes.
        source: DocumentSource,
        /// A title for the model, if any.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        title: Option<String>,
    },
    /// A request of the model to run a tool.
    ToolUse(ToolUse),
    /// The answer to a tool use.
    ToolResult(ToolResult),
    /// A block of a type that is not known here, as exact text (an object with a `type`).
    #[cfg_attr(feature = "schema", schemars(untagged, schema_with = "crate::schema::unknown_block"))]
    Unknown(JsonText),
}

/// A request of the model to run a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolUse {
    /// The id that the result refers to.
    pub id: ToolUseId,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The input, exactly as the model wrote it.
    pub input: JsonText,
    /// Opaque data that the provider needs back with the call. Not part of the block's JSON: only the log keeps it, and
    /// only the origin of the message gets it.
    #[serde(skip)]
    pub replay: Option<JsonText>,
}

impl ToolUse {
    /// A tool use.
    pub fn new(id: impl Into<ToolUseId>, name: impl Into<String>, input: JsonText) -> Self {
        Self { id: id.into(), name: name.into(), input, replay: None }
    }
}

/// The answer to a tool use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolResult {
    /// The tool use that this answers.
    pub tool_use_id: ToolUseId,
    /// Content for the model.
    #[serde(default)]
    pub content: ToolResultContent,
    /// `true` if the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// A successful result.
    pub fn ok(tool_use_id: impl Into<ToolUseId>, content: impl Into<ToolResultContent>) -> Self {
        Self { tool_use_id: tool_use_id.into(), content: content.into(), is_error: false }
    }

    /// A failed result with the text that the model should read.
    pub fn error(tool_use_id: impl Into<ToolUseId>, text: impl Into<String>) -> Self {
        Self { tool_use_id: tool_use_id.into(), content: ToolResultContent::Text(text.into()), is_error: true }
    }
}

/// Content of a tool result, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "the Messages API has exactly these two forms")]
pub enum ToolResultContent {
    /// Plain text.
    Text(String),
    /// Text, image and document blocks.
    Blocks(Vec<ContentBlock>),
}

impl<'de> Deserialize<'de> for ToolResultContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = JsonText::deserialize(deserializer)?;
        match json.as_str().as_bytes().first() {
            Some(b'"') => json.to().map(Self::Text),
            Some(b'n') => Ok(Self::default()),
            _ => json.to().map(Self::Blocks),
        }
        .map_err(de::Error::custom)
    }
}

impl Default for ToolResultContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for ToolResultContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ToolResultContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<ContentBlock>> for ToolResultContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl ToolResultContent {
    /// The text of all text blocks, joined by newlines.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
                texts.join("\n")
            }
        }
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), replay: None }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The tool use of a tool-use block.
    pub fn as_tool_use(&self) -> Option<&ToolUse> {
        match self {
            Self::ToolUse(call) => Some(call),
            _ => None,
        }
    }

    /// The result of a tool-result block.
    pub fn as_tool_result(&self) -> Option<&ToolResult> {
        match self {
            Self::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the opaque data that the provider needs back with a text or a tool use.
    pub fn replay(&self) -> Option<&JsonText> {
        match self {
            Self::Text { replay, .. } => replay.as_ref(),
            Self::ToolUse(call) => call.replay.as_ref(),
            _ => None,
        }
    }

    /// Sets the opaque data that the provider needs back with a text or a tool use. Blocks of other types stay
    /// unchanged: reasoning carries the data as its signature.
    pub fn set_replay(&mut self, data: Option<JsonText>) {
        match self {
            Self::Text { replay, .. } => *replay = data,
            Self::ToolUse(call) => call.replay = data,
            _ => {}
        }
    }

    /// Returns `true` if the block is reasoning, plain or redacted.
    pub fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text { text, .. } => {
                let mut s = serializer.serialize_struct("ContentBlock", 2)?;
                s.serialize_field("type", "text")?;
                s.serialize_field("text", text)?;
                s.end()
            }
            Self::Thinking { thinking, signature } => {
                let mut s = serializer.serialize_struct("ContentBlock", 3)?;
                s.serialize_field("type", "thinking")?;
                s.serialize_field("thinking", thinking)?;
                s.serialize_field("signature", signature)?;
                s.end()
            }
            Self::RedactedThinking { data } => {
                let mut s = serializer.serialize_struct("ContentBlock", 2)?;
                s.serialize_field("type", "redacted_thinking")?;
                s.serialize_field("data", data)?;
                s.end()
            }
            Self::Image { source } => {
                let mut s = serializer.serialize_struct("ContentBlock", 2)?;
                s.serialize_field("type", "image")?;
                s.serialize_field("source", source)?;
                s.end()
            }
            Self::Document { source, title } => {
                let mut s = serializer.serialize_struct("ContentBlock", 3)?;
                s.serialize_field("type", "document")?;
                s.serialize_field("source", source)?;
                if let Some(title) = title {
                    s.serialize_field("title", title)?;
                }
                s.end()
            }
            Self::ToolUse(call) => {
                let mut s = serializer.serialize_struct("ContentBlock", 4)?;
                s.serialize_field("type", "tool_use")?;
                s.serialize_field("id", &call.id)?;
                s.serialize_field("name", &call.name)?;
                s.serialize_field("input", &call.input)?;
                s.end()
            }
            Self::ToolResult(result) => {
                let mut s = serializer.serialize_struct("ContentBlock", 4)?;
                s.serialize_field("type", "tool_result")?;
                s.serialize_field("tool_use_id", &result.tool_use_id)?;
                s.serialize_field("content", &result.content)?;
                if result.is_error {
                    s.serialize_field("is_error", &true)?;
                }
                s.end()
            }
            Self::Unknown(json) => json.serialize(serializer),
        }
    }
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Through the exact text: serde's own tagged enums would parse tool
        // inputs into a tree and lose it.
        let json = JsonText::deserialize(deserializer)?;
        Self::from_json(&json).map_err(de::Error::custom)
    }
}

impl ContentBlock {
    fn from_json(json: &JsonText) -> Result<Self, crate::JsonError> {
        #[derive(Deserialize)]
        struct Text {
            text: String,
        }
        #[derive(Deserialize)]
        struct Thinking {
            thinking: String,
            #[serde(default)]
            signature: String,
        }
        #[derive(Deserialize)]
        struct Redacted {
            data: String,
        }
        #[derive(Deserialize)]
        struct Image {
            source: ImageSource,
        }
        #[derive(Deserialize)]
        struct Document {
            source: DocumentSource,
            #[serde(default)]
            title: Option<String>,
        }
        let tag: Tag<'_> = serde_json::from_str(json.as_str())?;
        Ok(match &*tag.kind {
            "text" => json.to::<Text>().map(|b| Self::text(b.text))?,
            "thinking" => {
                json.to::<Thinking>().map(|b| Self::Thinking { thinking: b.thinking, signature: b.signature })?
            }
            "redacted_thinking" => json.to::<Redacted>().map(|b| Self::RedactedThinking { data: b.data })?,
            "tool_use" => Self::ToolUse(json.to()?),
            "tool_result" => Self::ToolResult(json.to()?),
            // A source of a newer kind makes the block unknown, not the message unreadable.
            "image" => json.to::<Image>().map_or(Self::Unknown(json.clone()), |b| Self::Image { source: b.source }),
            "document" => json
                .to::<Document>()
                .map_or(Self::Unknown(json.clone()), |b| Self::Document { source: b.source, title: b.title }),
            _ => Self::Unknown(json.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_round_trip_exactly() {
        for text in [
            r#"{"type":"text","text":"hi é"}"#,
            r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#,
            r#"{"type":"redacted_thinking","data":"xx"}"#,
            r#"{"type":"tool_use","id":"toolu_1","name":"Read","input":{"b":1.50,"a": "\u00e9"}}"#,
            r#"{"type":"tool_result","tool_use_id":"toolu_1","content":"x","is_error":true}"#,
            r#"{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x"}]}"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}"#,
            r#"{"type":"image","source":{"type":"hologram","x":1}}"#,
            r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":1e3}}"#,
        ] {
            let block: ContentBlock = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&block).unwrap(), text);
            let mut pushed = String::new();
            block.push_json(&mut pushed).unwrap();
            assert_eq!(pushed, text);
        }
    }

    #[test]
    fn a_broken_known_block_is_an_error() {
        for text in [r#"{"type":"text"}"#, r#"{"type":"tool_use","id":"x"}"#, r#"{"text":"x"}"#, "1"] {
            assert!(serde_json::from_str::<ContentBlock>(text).is_err(), "{text}");
        }
    }
}
