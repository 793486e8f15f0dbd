//! Verdicts as the log keeps them.

use super::{CallDigest, Decision};
use crate::{HookVerdict, JsonText, QuestionId, ToolUseId};
use serde::{Deserialize, Serialize};

/// A verdict as the log keeps it, as the record of why a call ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditedDecision {
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The exact call; absent when the input never became a call.
    pub digest: Option<CallDigest>,
    /// The final verdict.
    pub decision: Decision,
    /// Changes of the model's input, in order: the verdict is on the last one. Empty when it is on the model's own
    /// input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_changes: Vec<InputChange>,
    /// Opinion of the `PreToolUse` hooks on the call, decisive or not. `None` if they had none, or the log is older
    /// than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookVerdict>,
    /// The last question about the call that was answered. `None` if there was none, or the log is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AuditedAnswer>,
    /// The sandbox of the session, if the call runs a program. `None` if there is none, or the log is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<AuditedSandbox>,
    /// The call itself, if no message contains it because another call made it or a server asked for it. `None` for
    /// calls of a message, and in logs older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Box<MadeCall>>,
}

/// A call that a running call made, such as one of a program. It passes the permission gate like any call, and its
/// result goes back to its maker. No message contains it, so events and the log name it by its id, which begins with
/// [`MadeCall::ID_PREFIX`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MadeCall {
    /// Tool use that made the call. For a server's own request, such as a message of a model, the id of that request.
    pub by: ToolUseId,
    /// Name of the tool.
    pub tool: String,
    /// Input of the call.
    pub input: JsonText,
}

impl MadeCall {
    /// Prefix of the ids of such calls; the id of their maker follows, and a number.
    pub const ID_PREFIX: &'static str = "made_";

    /// A call that another one made.
    pub fn new(by: ToolUseId, tool: impl Into<String>, input: JsonText) -> Self {
        Self { by, tool: tool.into(), input }
    }
}

/// Relation of a call to the sandbox of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditedSandbox {
    /// The level that was proved when the session opened, in words.
    pub level: String,
    /// `true` if the program runs inside the sandbox.
    pub confines: bool,
}

impl AuditedSandbox {
    /// A sandbox of this level.
    pub fn new(level: impl Into<String>, confines: bool) -> Self {
        Self { level: level.into(), confines }
    }
}

impl AuditedDecision {
    pub(crate) fn text_len(&self) -> usize {
        let inputs =
            self.input_changes.iter().map(|change| &change.input).chain(self.made.iter().map(|made| &made.input));
        let part = self.decision.part.as_ref().map_or(0, String::len);
        inputs.map(|input| input.as_str().len()).sum::<usize>() + self.decision.message.len() + part
    }

    /// A verdict on a call with the model's own input.
    pub fn new(tool_use_id: ToolUseId, digest: Option<CallDigest>, decision: Decision) -> Self {
        Self {
            tool_use_id,
            digest,
            decision,
            input_changes: Vec::new(),
            hook: None,
            answer: None,
            sandbox: None,
            made: None,
        }
    }
}

/// Record of an answered question about a call, and of the answerer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AuditedAnswer {
    /// The question.
    pub question: QuestionId,
    /// Source of the answer that was applied.
    pub by: AnsweredBy,
}

impl AuditedAnswer {
    /// The answer to a question.
    pub fn new(question: QuestionId, by: AnsweredBy) -> Self {
        Self { question, by }
    }
}

/// Source of the answer that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnsweredBy {
    /// A `PermissionRequest` hook.
    Hook,
    /// The host: a person or a program that was asked, or, of a question that outlives its process, the holder of its token.
    Host,
}

/// An input in place of the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InputChange {
    /// Source of the change.
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

/// Source of a change of a call's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
