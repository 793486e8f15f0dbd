//! Questions that a server puts to a person.

use async_trait::async_trait;
use windlass_types::JsonText;

/// Answers the questions of servers.
///
/// Without one, servers are informed that there is no person to ask, and questions
/// that come all the same are declined.
///
/// ```
/// use windlass_mcp::{Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest};
///
/// /// Opens no pages, and leaves the rest to a person who is not there.
/// struct Unattended;
///
/// #[async_trait::async_trait]
/// impl Elicitation for Unattended {
///     async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
///         match request.kind {
///             ElicitationKind::Url { .. } => ElicitationAnswer::Decline,
///             _ => ElicitationAnswer::Cancel,
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait Elicitation: Send + Sync + 'static {
    /// Puts a question to a person and waits for the answer. The future is
    /// dropped when the server withdraws the question.
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer;
}

/// A question of a server. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The server that asks.
    pub server: String,
    /// What it asks.
    pub message: String,
    /// What it wants.
    pub kind: ElicitationKind,
}

impl ElicitationRequest {
    /// A question.
    pub fn new(server: impl Into<String>, message: impl Into<String>, kind: ElicitationKind) -> Self {
        Self { server: server.into(), message: message.into(), kind }
    }
}

/// What a server wants of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationKind {
    /// Values that fit a schema: an object of plain values.
    Form {
        /// The JSON Schema.
        schema: JsonText,
    },
    /// A visit to a page.
    Url {
        /// The address.
        url: String,
        /// The server's id of the question; empty if it has none.
        id: String,
    },
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// Yes, with these values if values were wanted.
    Accept(Option<JsonText>),
    /// No.
    Decline,
    /// No answer: the person dismissed the question.
    Cancel,
}
