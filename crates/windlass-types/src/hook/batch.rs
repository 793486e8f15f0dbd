//! The event about all calls of one message.

use super::{HookPayload, wire};
use crate::{JsonText, ToolUseId};
use serde::{Deserialize, Serialize};

/// All calls of a message are answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct PostToolBatch {
    /// The calls, in the order in which the model made them.
    #[serde(default, deserialize_with = "wire::known")]
    pub tool_calls: Vec<BatchCall>,
}

impl HookPayload for PostToolBatch {
    const SUMMARY: &'static str = "After all calls of a message, before the model reads their results";

    fn shortened(&self) -> Option<Self> {
        let without = |call: &BatchCall| BatchCall { tool_response: None, ..call.clone() };
        Some(Self { tool_calls: self.tool_calls.iter().map(without).collect() })
    }
}

/// One of the calls, with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the runtime, and the tests of a hook, build one")]
pub struct BatchCall {
    /// The tool's name.
    #[serde(default)]
    pub tool_name: String,
    /// The input that ran, or would have run.
    pub tool_input: JsonText,
    /// The id of the tool use.
    #[serde(default = "wire::no_id")]
    pub tool_use_id: ToolUseId,
    /// Answer as the model reads it: a text or content blocks. `None`: the answer is too long for the hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<JsonText>,
}
