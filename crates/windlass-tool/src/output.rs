//! What a tool returns.

use crate::ToolError;
use serde::Serialize;
use windlass_types::{ContentBlock, ContextChange, JsonText, ToolResultContent};

/// What a tool returns when it did what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads.
    pub content: ToolResultContent,
    /// Whether the model should take it as a failure, such as an exit code.
    pub is_error: bool,
    /// The same as data, for hosts and hooks.
    pub structured: Option<JsonText>,
    /// A unified diff of what changed on disk, for people.
    pub diff: Option<String>,
    /// Changes of the session's state, applied in call order.
    pub changes: Vec<ContextChange>,
}

impl ToolOutput {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: ToolResultContent::Text(text.into()), ..Self::default() }
    }

    /// Blocks for the model: text, images, documents.
    pub fn blocks(blocks: Vec<ContentBlock>) -> Self {
        Self { content: ToolResultContent::Blocks(blocks), ..Self::default() }
    }

    /// Adds the same as data.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    pub fn with_structured(mut self, value: &impl Serialize) -> Result<Self, ToolError> {
        self.structured = Some(JsonText::of(value)?);
        Ok(self)
    }

    /// Adds a unified diff of what changed on disk.
    #[must_use]
    pub fn with_diff(mut self, diff: impl Into<String>) -> Self {
        self.diff = Some(diff.into());
        self
    }

    /// Adds a change of the session's state.
    #[must_use]
    pub fn with_change(mut self, change: ContextChange) -> Self {
        self.changes.push(change);
        self
    }

    /// Marks it as a failure for the model.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }
}

/// What a [`Tool`](crate::Tool) may return.
pub trait IntoToolOutput {
    /// Turns it into output.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for Vec<ContentBlock> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::blocks(self))
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("Done."))
    }
}
