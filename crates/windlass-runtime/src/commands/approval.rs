//! Approval of an act that no call of the model does.

use windlass_types::{EditPreview, JsonText};

/// An act outside the calls of the model that the host must approve, such as running a program that has changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Approval {
    /// Name of the act for hosts, like that of a tool.
    pub tool: String,
    /// Exact description of the act, like the input of a call.
    pub input: JsonText,
    /// Description in one line, for people.
    pub title: String,
    /// The reason of the question.
    pub reason: String,
    /// Changes of files that people should see. Default: none.
    pub edits: Option<EditPreview>,
}

impl Approval {
    /// An approval without changes to show.
    pub fn new(tool: impl Into<String>, input: JsonText, title: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { tool: tool.into(), input, title: title.into(), reason: reason.into(), edits: None }
    }
}

/// Reason why an act was not approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// The host denied it, or nobody can be asked.
    #[error("{0}")]
    Denied(String),
}

pub(crate) type ApprovalAnswer = Result<(), ApprovalError>;
