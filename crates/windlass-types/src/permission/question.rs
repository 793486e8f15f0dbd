//! Questions that outlive the process that asked them.

use super::{CallDigest, CallImpact, PermissionRequest};
use crate::{AgentId, AgentIdentity, EntryId, QuestionId, ToolUseId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Token that proves the right to answer a question from another process. A secret: it is in the event and in the
/// result that ask, never in the log, and not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct QuestionToken(Arc<str>);

impl QuestionToken {
    /// Wraps a token.
    pub fn new(token: impl Into<Arc<str>>) -> Self {
        Self(token.into())
    }

    /// Returns the token in plain text, for the person or program that may answer.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for QuestionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QuestionToken(..)")
    }
}

/// The hash of a [`QuestionToken`] in hexadecimal, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct TokenHash(Arc<str>);

impl TokenHash {
    /// Wraps a hash in hexadecimal.
    pub fn new(hex: impl Into<Arc<str>>) -> Self {
        Self(hex.into())
    }

    /// The hash in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A question about a call, as the log keeps it: the call has no result until it is answered or withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingQuestion {
    /// The question.
    pub id: QuestionId,
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The assistant line that holds the tool use.
    pub assistant: EntryId,
    /// The exact call that was asked about. An answer holds for no other.
    pub digest: CallDigest,
    /// The tool's name.
    pub tool: String,
    /// One line that names what would happen, control characters made visible.
    pub title: String,
    /// The directory that the call would start in.
    pub cwd: String,
    /// Hash of the token that an answer of another process must present.
    pub token: TokenHash,
    /// Hashes of tokens that earlier openings gave for the question, the last first: they stay valid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_tokens: Vec<TokenHash>,
    /// Rules by which a command or a skill denies calls of the run. They also apply when the run is continued; the
    /// allow rules of that command or skill do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Commands and skills of the run whose hooks were active. The hooks are active again when the run is continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Effects, risk, paths and hosts of the call, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Box<CallImpact>>,
}

/// Maximum number of valid tokens of earlier openings for one question.
const MAX_EARLIER_TOKENS: usize = 16;

impl PendingQuestion {
    /// Replaces the token and keeps the old one valid, for an opening that does not know earlier tokens.
    pub fn renew_token(&mut self, token: TokenHash) {
        self.earlier_tokens.insert(0, std::mem::replace(&mut self.token, token));
        self.earlier_tokens.truncate(MAX_EARLIER_TOKENS);
    }

    /// A question about the call of this request, asked in the directory `cwd`.
    pub fn new(request: &PermissionRequest, assistant: EntryId, cwd: String, token: TokenHash) -> Self {
        Self {
            id: request.id.clone(),
            tool_use_id: request.tool_use_id.clone(),
            assistant,
            digest: request.digest.clone(),
            tool: request.tool.clone(),
            title: request.title.clone(),
            cwd,
            token,
            earlier_tokens: Vec::new(),
            denied: Vec::new(),
            skills: Vec::new(),
            impact: request.impact.clone(),
        }
    }
}

/// A call whose agent waits for answers, as the log keeps it: the call has run until its agent could not continue, and has no
/// result until the agent has ended or is given up. The questions are in the log of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitingCall {
    /// The tool use.
    pub tool_use_id: ToolUseId,
    /// The assistant line that holds the tool use.
    pub assistant: EntryId,
    /// The agent that waits. Its log is beside that of the session.
    pub agent: AgentId,
    /// The name of its definition.
    pub agent_type: String,
    /// Rules by which a command or a skill denies calls of the run. They also apply when the run is continued; the
    /// allow rules of that command or skill do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Commands and skills of the run whose hooks were active. The hooks are active again when the run is continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
}

impl WaitingCall {
    /// A call, in the line that holds it, and the agent that it waits for.
    pub fn new(tool_use_id: ToolUseId, assistant: EntryId, agent: AgentIdentity) -> Self {
        let AgentIdentity { id: agent, agent_type } = agent;
        Self { tool_use_id, assistant, agent, agent_type, denied: Vec::new(), skills: Vec::new() }
    }
}

/// An agent whose run has ended because questions of it, or of agents below it, wait for answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingAgent {
    /// Identity of the agent.
    pub identity: AgentIdentity,
    /// Open questions, each with the path of its agent below the agent whose call runs this one.
    pub questions: Vec<PermissionRequest>,
}

impl WaitingAgent {
    /// An agent and its open questions.
    pub fn new(identity: AgentIdentity, questions: Vec<PermissionRequest>) -> Self {
        Self { identity, questions }
    }
}
