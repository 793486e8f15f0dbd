//! Questions of MCP servers for the person, and the answers.

use windlass_types::JsonText;

/// Question of an MCP server for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcpElicitation {
    /// Text of the question, with the name of the server.
    pub message: String,
    /// Kind of answer that the server requests.
    pub kind: AcpElicitationKind,
}

/// Kind of answer to an [`AcpElicitation`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcpElicitationKind {
    /// Values of a form.
    Form {
        /// JSON Schema of the values: an object of plain values.
        schema: JsonText,
    },
    /// Visit to a page.
    Url {
        /// Address of the page.
        url: String,
        /// Id of the question; must not be empty.
        id: String,
    },
}

/// Answer to an [`AcpElicitation`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcpElicitationAnswer {
    /// The person agrees, with the values of a form.
    Accept(Option<JsonText>),
    /// The person refuses, or the client cannot ask.
    Decline,
    /// The person dismisses the question.
    Cancel,
}

impl AcpElicitation {
    /// A question with this text.
    pub fn new(message: impl Into<String>, kind: AcpElicitationKind) -> Self {
        Self { message: message.into(), kind }
    }
}
