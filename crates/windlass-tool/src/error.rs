//! Failed tool calls.

use std::error::Error as StdError;
use std::fmt;
use windlass_types::WaitingAgent;

/// A tool call that failed. It has two readers: the model, who gets [`ToolError::model_text`], and the host, who also
/// gets the source.
///
/// `?` works on every error type. The model then reads only that the tool failed, since errors of libraries can contain
/// secrets; use [`ToolError::rejected`] for a text that the model reads.
///
/// It does not implement [`std::error::Error`], which would prevent that `?`; [`ToolError::into_error`] returns one.
#[derive(Debug)]
pub struct ToolError {
    kind: ToolErrorKind,
    text: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
    waits: Option<Box<WaitingAgent>>,
}

/// Kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The tool does not accept the input.
    InvalidInput,
    /// The tool refuses, with a text for the model.
    Rejected,
    /// The call was stopped.
    Cancelled,
    /// An error inside the tool.
    Internal,
    /// Not a failure: an agent that the call has run waits for answers, and the call stays open for it.
    AgentWaits,
}

impl ToolError {
    /// Returns an error of a tool that cannot do this; the text gives the model the reason and an alternative.
    pub fn rejected(text: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::Rejected, text: text.into(), source: None, waits: None }
    }

    /// Returns an error of an input that the tool does not accept; the text gives the model the accepted form.
    pub fn invalid_input(text: impl Into<String>) -> Self {
        Self { kind: ToolErrorKind::InvalidInput, text: text.into(), source: None, waits: None }
    }

    /// Returns the error of a call that was stopped before it was done.
    pub fn cancelled() -> Self {
        Self {
            kind: ToolErrorKind::Cancelled,
            text: "The call was stopped before it was done.".into(),
            source: None,
            waits: None,
        }
    }

    /// Returns the error of an agent that the call has run and that waits for answers:
    /// [`Agents::run`](crate::Agents::run) fails with it if the call can stay open. A tool returns it unchanged.
    pub fn agent_waits(waiting: WaitingAgent) -> Self {
        let text = "The agent waits for an answer of the user to a call that needs approval.".into();
        Self { kind: ToolErrorKind::AgentWaits, text, source: None, waits: Some(Box::new(waiting)) }
    }

    /// Wraps a boxed error from inside the tool. The model reads only that the tool failed.
    pub fn from_boxed(source: Box<dyn StdError + Send + Sync>) -> Self {
        Self {
            kind: ToolErrorKind::Internal,
            text: "The tool failed because of an internal error.".into(),
            source: Some(source),
            waits: None,
        }
    }

    /// Adds the cause, for the host.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// Returns the text for the model.
    pub fn model_text(&self) -> &str {
        &self.text
    }

    /// Returns the cause, for the host.
    pub fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.source.as_deref()
    }

    /// Returns the agent that waits, if that is why the call has not ended.
    pub fn waiting(&self) -> Option<&WaitingAgent> {
        self.waits.as_deref()
    }

    /// Converts this into an error of the standard kind.
    pub fn into_error(self) -> Box<dyn StdError + Send + Sync> {
        Box::new(Wrapped(self))
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_boxed(Box::new(error))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Debug)]
struct Wrapped(ToolError);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Wrapped {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}
