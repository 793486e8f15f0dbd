//! JSON of the events of an answer, in its wire format.

mod plain;

pub(crate) use plain::text_delta;

use serde::Deserialize;
use serde_json::value::RawValue;

/// `contentBlockStart` event. Text and reasoning begin without one.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BlockStarts {
    pub(crate) content_block_index: u64,
    pub(crate) start: BlockStartEvent,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BlockStartEvent {
    pub(crate) tool_use: Option<CallStart>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CallStart {
    pub(crate) tool_use_id: Option<String>,
    pub(crate) name: Option<String>,
    /// `server_tool_use` for a call that the service answers itself.
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
}

/// `contentBlockDelta` event.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BlockGrows {
    pub(crate) content_block_index: u64,
    pub(crate) delta: ConverseDelta,
}

/// Delta with one of these members; unknown ones are skipped.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ConverseDelta {
    pub(crate) text: Option<String>,
    pub(crate) tool_use: Option<CallDelta>,
    pub(crate) reasoning_content: Option<ReasoningDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallDelta {
    pub(crate) input: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ReasoningDelta {
    pub(crate) text: Option<String>,
    pub(crate) signature: Option<String>,
    /// Encrypted reasoning in base64.
    pub(crate) redacted_content: Option<String>,
}

/// `contentBlockStop` event.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BlockStops {
    pub(crate) content_block_index: u64,
}

/// `messageStop` event.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct MessageStops {
    pub(crate) stop_reason: Option<String>,
}

/// `metadata` event, which comes after `messageStop`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct MetadataEvent {
    pub(crate) usage: Option<TokenUsage>,
}

/// Token counts. Input that was read from the cache or written to it is not part of `input_tokens`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TokenUsage {
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) cache_read_input_tokens: Option<u64>,
    pub(crate) cache_write_input_tokens: Option<u64>,
    pub(crate) cache_details: Option<Vec<CacheDetail>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CacheDetail {
    pub(crate) ttl: Option<String>,
    pub(crate) input_tokens: Option<u64>,
}

/// Exception, as a frame or as the body of a refusal.
#[derive(Debug, Default)]
pub(crate) struct Exception {
    /// Name of the exception, in bodies without the header that has it.
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    /// Message of the model itself.
    pub(crate) original_message: Option<String>,
}

impl Exception {
    /// Reads a body. Members are read one by one, so that an odd one does not hide the others.
    pub(crate) fn read(body: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct EventMembers<'a> {
            #[serde(borrow, default, alias = "Message", alias = "errorMessage")]
            message: Option<&'a RawValue>,
            #[serde(borrow, default)]
            original_message: Option<&'a RawValue>,
            #[serde(borrow, default, rename = "__type", alias = "code", alias = "Code")]
            code: Option<&'a RawValue>,
        }
        let text = |json: Option<&RawValue>| serde_json::from_str::<String>(json?.get()).ok();
        // Serde would read the members of an array as those of the object.
        if !body.trim_start().starts_with('{') {
            return None;
        }
        let members: EventMembers<'_> = serde_json::from_str(body).ok()?;
        Some(Self {
            code: text(members.code),
            message: text(members.message),
            original_message: text(members.original_message),
        })
    }
}
