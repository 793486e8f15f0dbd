//! JSON Schemas of types whose JSON form differs from their declaration.

use crate::{JsonText, RateLimitKind, RateLimitStatus, StopReason, Timestamp, Utilization};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

impl JsonSchema for JsonText {
    fn schema_name() -> Cow<'static, str> {
        "JsonText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "Any JSON, as exactly the text that it arrived in." })
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A point in time, in UTC with milliseconds: 2026-01-01T00:00:00.000Z",
            "type": "string",
            "format": "date-time",
        })
    }
}

impl JsonSchema for Utilization {
    fn schema_name() -> Cow<'static, str> {
        "Utilization".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How much of an allowance is used: from zero, nothing, to one, all of it.",
            "type": "number",
            "minimum": 0,
            "maximum": 1,
        })
    }
}

/// Words of a provider, which may add some.
macro_rules! open_words {
    ($($name:ident: $description:literal, [$($variant:ident),*];)*) => {
        $(impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                // A variant that is not in the list is an error here.
                let known = |word: &Self| match word {
                    $(Self::$variant)|* => true,
                    Self::Other(_) => false,
                };
                let words = [$(Self::$variant),*];
                let words: Vec<&str> = words.iter().filter(|word| known(word)).map(Self::as_str).collect();
                json_schema!({ "description": $description, "anyOf": [{ "enum": words }, { "type": "string" }] })
            }
        })*
    };
}

open_words! {
    StopReason: "Why a model stopped. Others are possible.",
        [
            EndTurn, ToolUse, MaxTokens, StopSequence, PauseTurn, Refusal, ContextWindowExceeded, MalformedToolCall,
            ContentFilter
        ];
    RateLimitStatus: "Whether a subscription's requests are served. Others are possible.",
        [Allowed, AllowedWarning, Rejected];
    RateLimitKind: "The window of time, and perhaps the models, that an allowance is for. Others are possible.",
        [FiveHour, SevenDay, SevenDayOpus, SevenDaySonnet, SevenDayOverageIncluded, Overage];
}

/// A block of a type that has no schema of its own, or an image or a document with such a source.
pub(crate) fn unknown_block(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "type": {
                "type": "string",
                "not": { "enum": ["text", "thinking", "redacted_thinking", "tool_use", "tool_result"] },
            },
        },
        "required": ["type"],
    })
}
