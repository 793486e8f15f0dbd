//! Questions that MCP servers put to the user, as hooks see and answer them.

use super::{HookPayload, Subject};
use crate::JsonText;
use serde::{Deserialize, Serialize};

/// Decision on a server's question. Ordered: the stricter decision is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the protocol of servers knows these three")]
pub enum ElicitationChoice {
    /// The question stays without an answer, as when the user closes a dialog.
    Cancel,
    /// The server does not get the requested data.
    Decline,
    /// The server gets an answer.
    Accept,
}

/// The answer to a question of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(clippy::exhaustive_structs, reason = "hooks build one")]
pub struct ElicitationReply {
    /// Decision on the question.
    pub action: ElicitationChoice,
    /// The values of the form, if it is accepted. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<JsonText>,
}

impl ElicitationReply {
    /// An answer without values.
    pub fn new(action: ElicitationChoice) -> Self {
        Self { action, content: None }
    }
}

/// A server asks the user something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the program, and the tests of a hook, build one")]
pub struct ElicitationEvent {
    /// The server, as it is configured.
    #[serde(default)]
    pub mcp_server_name: String,
    /// The question.
    #[serde(default)]
    pub message: String,
    /// `form`, or `url` if the user is to open a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The server's id of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// The JSON Schema of the values of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<JsonText>,
}

impl HookPayload for ElicitationEvent {
    const SUMMARY: &'static str = "When a server asks the user something";
    const SUBJECT: Subject = Subject::Word;

    fn subject(&self) -> Option<&str> {
        Some(&self.mcp_server_name)
    }
}

/// A question of a server is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the program, and the tests of a hook, build one")]
pub struct ElicitationResultEvent {
    /// The server, as it is configured.
    #[serde(default)]
    pub mcp_server_name: String,
    /// The server's id of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// `form` or `url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Decision on the question. Default: `cancel`.
    #[serde(default = "canceled")]
    pub action: ElicitationChoice,
    /// The values of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<JsonText>,
}

fn canceled() -> ElicitationChoice {
    ElicitationChoice::Cancel
}

impl HookPayload for ElicitationResultEvent {
    const SUMMARY: &'static str = "Before a server reads the answer to its question";
    const SUBJECT: Subject = Subject::Word;

    fn subject(&self) -> Option<&str> {
        Some(&self.mcp_server_name)
    }
}
