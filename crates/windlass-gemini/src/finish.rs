//! Finish reasons of the API.
//!
//! Source: the enumerations `FinishReason` and `BlockedReason` of the API reference.

use windlass_types::StopReason;

/// Meaning of a finish reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GeminiFinish {
    /// The model is done: the end of a turn, or calls that are to be run.
    Done,
    /// The message ends with this reason, whatever its content.
    Stopped(StopReason),
    /// A call of the history lacks its signature.
    SignatureMissing,
}

impl GeminiFinish {
    /// Reads a reason. `None` for a reason that means the message has not ended.
    pub(crate) fn read(reason: &str) -> Option<Self> {
        Some(match reason {
            // Vertex sends the second in chunks before the last.
            "" | "FINISH_REASON_UNSPECIFIED" => return None,
            "STOP" => Self::Done,
            // The second is a message that could be continued by a token: the loop lets it continue in its own way.
            "MAX_TOKENS" | "CONTINUATION" => Self::Stopped(StopReason::MaxTokens),
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => {
                Self::Stopped(StopReason::MalformedToolCall)
            }
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "ESCALATION"
            | "PUP_LIMITED_DISABLED"
            | "MODEL_ARMOR" => Self::Stopped(StopReason::ContentFilter),
            "MISSING_THOUGHT_SIGNATURE" => Self::SignatureMissing,
            other => Self::Stopped(StopReason::Other(other.chars().take(64).collect::<String>().to_lowercase())),
        })
    }

    /// Returns the reason of a message for which several were given: some gateways stamp `STOP` on every chunk.
    pub(crate) fn or_later(before: Option<Self>, later: Self) -> Self {
        match before {
            Some(before) if before != Self::Done && later == Self::Done => before,
            _ => later,
        }
    }
}
