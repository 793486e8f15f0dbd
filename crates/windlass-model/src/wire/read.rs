//! Reading of frames as events.

use serde::Deserialize;
use serde::de::Error as _;
use std::borrow::Cow;
use windlass_types::{
    ApiUsage, BlockStart, ContentBlock, JsonText, ModelEvent, RateLimit, StopReason, StreamDelta, WebPage, WebSearched,
};

#[derive(Deserialize)]
struct ReadEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    message: Option<ReadMessage>,
    index: Option<usize>,
    content_block: Option<JsonText>,
    #[serde(default)]
    whole: bool,
    delta: Option<JsonText>,
    #[serde(default)]
    usage: ApiUsage,
    rate_limit: Option<Box<RateLimit>>,
    blocks: Option<usize>,
    reason: Option<String>,
    #[serde(default)]
    pages: Vec<ReadPage>,
    failure: Option<String>,
}

#[derive(Deserialize)]
struct ReadPage {
    url: String,
    title: Option<String>,
    cited: Option<String>,
}

impl From<ReadPage> for WebPage {
    fn from(read: ReadPage) -> Self {
        let mut page = Self::new(read.url, read.title);
        page.cited = read.cited;
        page
    }
}

#[derive(Deserialize)]
struct ReadMessage {
    id: String,
    model: String,
    #[serde(default)]
    usage: ApiUsage,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum ReadDelta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct ReadReplay {
    replay: JsonText,
}

#[derive(Deserialize)]
struct ReadStop {
    stop_reason: Option<StopReason>,
}

/// Reads the event of one frame's data.
pub(crate) fn read_event(text: &str) -> serde_json::Result<ModelEvent> {
    let read: ReadEvent<'_> = serde_json::from_str(text)?;
    let index = || read.index.ok_or_else(|| serde_json::Error::missing_field("index"));
    let delta = || read.delta.as_ref().ok_or_else(|| serde_json::Error::missing_field("delta"));
    Ok(match &*read.kind {
        "message_start" => {
            let message = read.message.ok_or_else(|| serde_json::Error::missing_field("message"))?;
            ModelEvent::MessageStart { id: message.id.into(), model: message.model, usage: message.usage.into() }
        }
        "content_block_start" => {
            let json = read.content_block.as_ref().ok_or_else(|| serde_json::Error::missing_field("content_block"))?;
            let block = serde_json::from_str(json.as_str())?;
            ModelEvent::BlockStart { index: index()?, block: start_of(block, read.whole) }
        }
        "content_block_delta" => ModelEvent::BlockDelta { index: index()?, delta: read_delta(delta()?.as_str())? },
        "content_block_stop" => ModelEvent::BlockStop { index: index()? },
        "message_delta" => {
            let stop: ReadStop = serde_json::from_str(delta()?.as_str())?;
            ModelEvent::MessageDelta { stop_reason: stop.stop_reason, usage: read.usage.into() }
        }
        "message_stop" => ModelEvent::MessageStop,
        "rate_limit" => {
            let limit = read.rate_limit.ok_or_else(|| serde_json::Error::missing_field("rate_limit"))?;
            ModelEvent::RateLimit(limit)
        }
        "reasoning_dropped" => ModelEvent::ReasoningDropped {
            blocks: read.blocks.ok_or_else(|| serde_json::Error::missing_field("blocks"))?,
            reason: read.reason.unwrap_or_default(),
        },
        "web_searched" => {
            let mut searched = WebSearched::found(read.pages.into_iter().map(WebPage::from).collect());
            searched.failure = read.failure;
            ModelEvent::WebSearched(Box::new(searched))
        }
        "ping" => ModelEvent::Ping,
        _ => ModelEvent::Unknown,
    })
}

fn start_of(block: ContentBlock, whole: bool) -> BlockStart {
    match block {
        block if whole => BlockStart::Whole(block),
        ContentBlock::Text { text, .. } => BlockStart::Text(text),
        ContentBlock::Thinking { thinking, signature } => BlockStart::Thinking { thinking, signature },
        ContentBlock::ToolUse(call) => BlockStart::ToolUse { id: call.id, name: call.name },
        block => BlockStart::Whole(block),
    }
}

fn read_delta(text: &str) -> serde_json::Result<StreamDelta> {
    // Read separately: an enum by tag would read its exact text as a tree.
    if text.starts_with(r#"{"type":"replay_delta""#) {
        return serde_json::from_str(text).map(|read: ReadReplay| StreamDelta::Replay(read.replay));
    }
    Ok(match serde_json::from_str(text)? {
        ReadDelta::Text { text } => StreamDelta::Text(text),
        ReadDelta::Thinking { thinking } => StreamDelta::Thinking(thinking),
        ReadDelta::Signature { signature } => StreamDelta::Signature(signature),
        ReadDelta::InputJson { partial_json } => StreamDelta::ToolInput(partial_json),
        ReadDelta::Unknown => StreamDelta::Unknown,
    })
}
