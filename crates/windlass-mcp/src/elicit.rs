//! Elicitation: questions that a server puts to a person.

use async_trait::async_trait;
use windlass_types::JsonText;

/// Answers the elicitations of servers.
///
/// Without an implementation, elicitation is not announced to servers, and questions that arrive nevertheless are
/// declined.
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

/// Elicitation request of a server. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// Name of the server that asks.
    pub server: String,
    /// Text of the question.
    pub message: String,
    /// Kind of answer that the server requests.
    pub kind: ElicitationKind,
}

impl ElicitationRequest {
    /// Creates a request.
    pub fn new(server: impl Into<String>, message: impl Into<String>, kind: ElicitationKind) -> Self {
        Self { server: server.into(), message: message.into(), kind }
    }
}

/// Kind of answer that a server requests of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationKind {
    /// Values that fit a schema: an object of plain values.
    Form {
        /// JSON Schema of the values.
        schema: JsonText,
    },
    /// Visit to a page.
    Url {
        /// Address of the page.
        url: String,
        /// Id of the question at the server; empty if it has none.
        id: String,
    },
}

/// Answer of a person to an elicitation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// Consent, with the values of a form.
    Accept(Option<JsonText>),
    /// Refusal.
    Decline,
    /// No answer: the person dismissed the question.
    Cancel,
}
