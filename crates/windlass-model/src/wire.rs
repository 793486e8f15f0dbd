//! Model events as the JSON of the Messages API stream, one to one.
//!
//! Events that the API lacks are added, so that every event survives the round trip: the types `unknown`,
//! `unknown_delta`, `replay_delta`, `reasoning_dropped`, `web_searched` and `rate_limit`, and a member `whole` for a
//! block that is usually streamed but came at once.

mod delta;
#[cfg(any(feature = "cassette", test))]
mod read;

#[cfg(any(feature = "cassette", test))]
pub(crate) use read::read_event;

use serde::Serialize;
use windlass_types::{
    BlockStart, ContentBlock, JsonText, ModelEvent, ModelItem, RateLimit, StopReason, StreamDelta, ToolUseId, Usage,
    WebPage,
};

/// Returns an item of a model's stream, with the frame of the Messages API for its event if frames are wanted
/// ([`ModelRequest::raw_frames`](windlass_types::ModelRequest::raw_frames)).
///
/// For providers whose service has frames of another form: hosts read those of the Messages API. A report of a rate
/// limit has no frame.
///
/// ```
/// # mod windlass { pub mod provider { pub use {windlass_model::framed, windlass_types::ModelEvent}; } }
/// use windlass::provider::{ModelEvent, framed};
///
/// let item = framed(ModelEvent::MessageStop, true);
/// assert_eq!(item.raw.unwrap().as_str(), r#"{"type":"message_stop"}"#);
/// assert!(framed(ModelEvent::MessageStop, false).raw.is_none());
/// ```
pub fn framed(event: ModelEvent, wanted: bool) -> ModelItem {
    let is_ours = matches!(
        &event,
        ModelEvent::RateLimit(_)
            | ModelEvent::ReasoningDropped { .. }
            | ModelEvent::WebSearched(_)
            | ModelEvent::BlockDelta { delta: StreamDelta::Replay(_), .. }
    );
    if !wanted || is_ours {
        return event.into();
    }
    let raw = event_json(&event);
    ModelItem::with_raw(event, raw)
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireEvent<'a> {
    MessageStart {
        message: StartedMessage<'a>,
    },
    ContentBlockStart {
        index: usize,
        content_block: WireBlock<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        whole: bool,
    },
    ContentBlockDelta {
        index: usize,
        delta: WireDelta<'a>,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: WireStop<'a>,
        usage: WireUsage,
    },
    MessageStop,
    ReasoningDropped {
        blocks: usize,
        reason: &'a str,
    },
    WebSearched {
        pages: Vec<WirePage<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<&'a str>,
    },
    RateLimit {
        rate_limit: &'a RateLimit,
    },
    Ping,
    Unknown,
}

#[derive(Serialize)]
struct WirePage<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cited: Option<&'a str>,
}

#[derive(Serialize)]
struct StartedMessage<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: [(); 0],
    stop_reason: (),
    stop_sequence: (),
    usage: WireUsage,
}

#[derive(Serialize)]
struct WireStop<'a> {
    stop_reason: Option<&'a str>,
    stop_sequence: (),
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireBlock<'a> {
    Streamed(StreamedBlock<'a>),
    Whole(&'a ContentBlock),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamedBlock<'a> {
    Text { text: &'a str },
    Thinking { thinking: &'a str, signature: &'a str },
    ToolUse { id: &'a ToolUseId, name: &'a str, input: Empty },
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(tag = "type")]
enum WireDelta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: &'a str },
    #[serde(rename = "replay_delta")]
    Replay { replay: &'a JsonText },
    #[serde(rename = "unknown_delta")]
    Unknown,
}

#[derive(Serialize)]
struct WireUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation: Option<WireCacheCreation>,
    output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_tool_use: Option<WireServerTools>,
}

#[derive(Serialize)]
struct WireCacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

#[derive(Serialize)]
struct WireServerTools {
    web_search_requests: u64,
}

impl From<&Usage> for WireUsage {
    fn from(usage: &Usage) -> Self {
        let long = usage.cache_creation_1h_input_tokens;
        Self {
            input_tokens: usage.input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            cache_creation: (long > 0).then(|| WireCacheCreation {
                ephemeral_5m_input_tokens: usage.cache_creation_input_tokens.saturating_sub(long),
                ephemeral_1h_input_tokens: long,
            }),
            output_tokens: usage.output_tokens,
            server_tool_use: (usage.web_search_requests > 0)
                .then_some(WireServerTools { web_search_requests: usage.web_search_requests }),
        }
    }
}

/// Returns the event as the data of one frame of the stream.
pub(crate) fn event_json(event: &ModelEvent) -> JsonText {
    // Nearly all events are deltas of a few letters.
    if let ModelEvent::BlockDelta { index, delta } = event
        && let Some(json) = delta::write(*index, delta)
    {
        return json;
    }
    // Strings, numbers and exact JSON only: these always serialise.
    JsonText::of(&mirror(event)).unwrap_or_else(|_| JsonText::empty_object())
}

fn mirror(event: &ModelEvent) -> WireEvent<'_> {
    match event {
        ModelEvent::MessageStart { id, model, usage } => WireEvent::MessageStart {
            message: StartedMessage {
                id: id.as_str(),
                kind: "message",
                role: "assistant",
                model,
                content: [],
                stop_reason: (),
                stop_sequence: (),
                usage: usage.into(),
            },
        },
        ModelEvent::BlockStart { index, block } => WireEvent::ContentBlockStart {
            index: *index,
            content_block: mirror_block(block),
            whole: matches!(block, BlockStart::Whole(block) if is_streamed(block)),
        },
        ModelEvent::BlockDelta { index, delta } => {
            WireEvent::ContentBlockDelta { index: *index, delta: mirror_delta(delta) }
        }
        ModelEvent::BlockStop { index } => WireEvent::ContentBlockStop { index: *index },
        ModelEvent::MessageDelta { stop_reason, usage } => WireEvent::MessageDelta {
            delta: WireStop { stop_reason: stop_reason.as_ref().map(StopReason::as_str), stop_sequence: () },
            usage: usage.into(),
        },
        ModelEvent::MessageStop => WireEvent::MessageStop,
        ModelEvent::RateLimit(rate_limit) => WireEvent::RateLimit { rate_limit },
        ModelEvent::ReasoningDropped { blocks, reason } => WireEvent::ReasoningDropped { blocks: *blocks, reason },
        ModelEvent::WebSearched(searched) => WireEvent::WebSearched {
            pages: searched.pages.iter().map(mirror_page).collect(),
            failure: searched.failure.as_deref(),
        },
        ModelEvent::Ping => WireEvent::Ping,
        _ => WireEvent::Unknown,
    }
}

fn mirror_page(page: &WebPage) -> WirePage<'_> {
    WirePage { url: &page.url, title: page.title.as_deref(), cited: page.cited.as_deref() }
}

fn is_streamed(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text { .. } | ContentBlock::Thinking { .. } | ContentBlock::ToolUse(_))
}

fn mirror_block(block: &BlockStart) -> WireBlock<'_> {
    WireBlock::Streamed(match block {
        BlockStart::Thinking { thinking, signature } => StreamedBlock::Thinking { thinking, signature },
        BlockStart::ToolUse { id, name } => StreamedBlock::ToolUse { id, name, input: Empty {} },
        BlockStart::Whole(block) => return WireBlock::Whole(block),
        BlockStart::Text(text) => StreamedBlock::Text { text },
        _ => StreamedBlock::Text { text: "" },
    })
}

fn mirror_delta(delta: &StreamDelta) -> WireDelta<'_> {
    match delta {
        StreamDelta::Text(text) => WireDelta::Text { text },
        StreamDelta::Thinking(thinking) => WireDelta::Thinking { thinking },
        StreamDelta::Signature(signature) => WireDelta::Signature { signature },
        StreamDelta::ToolInput(partial_json) => WireDelta::InputJson { partial_json },
        StreamDelta::Replay(replay) => WireDelta::Replay { replay },
        _ => WireDelta::Unknown,
    }
}

#[cfg(test)]
mod tests;
