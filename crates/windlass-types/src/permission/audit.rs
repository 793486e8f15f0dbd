//! Verdicts as the log keeps them.

use super::{CallDigest, Decision};
use crate::{JsonText, ToolUseId};
use serde::{Deserialize, Serialize};

/// A verdict as the log keeps it, so that it can be seen later why a call ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditedDecision {
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The exact call; absent when the input never became a call.
    pub digest: Option<CallDigest>,
    /// The final verdict.
    pub decision: Decision,
    /// What was made of the input that the model gave, in order: the verdict is on the last one. Empty when it is on
    /// the model's own input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_changes: Vec<InputChange>,
}

impl AuditedDecision {
    /// A verdict on a call with the model's own input.
    pub fn new(tool_use_id: ToolUseId, digest: Option<CallDigest>, decision: Decision) -> Self {
        Self { tool_use_id, digest, decision, input_changes: Vec::new() }
    }
}

/// An input in place of the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputChange {
    /// Who changed it.
    pub by: InputChangedBy,
    /// The new input.
    pub input: JsonText,
}

impl InputChange {
    /// An input in place of the one before it.
    pub fn new(by: InputChangedBy, input: JsonText) -> Self {
        Self { by, input }
    }
}

/// Who changed the input of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputChangedBy {
    /// A `PreToolUse` hook, before the call was judged.
    Hook,
    /// The answer to the question about the call: that of the host, or of a `PermissionRequest` hook.
    Host,
    /// The tool's own schema: a `null` for a property that may be left out, and may not be `null`, counts as absent.
    Schema,
}
