//! Input for prompts.

use crate::error::Error;
use windlass_runtime::{Prompt, PromptKind};
use windlass_types::ContentBlock;

/// Input for a prompt: a text, content blocks, or a whole [`Prompt`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptInput(pub(crate) Prompt);

impl From<&str> for PromptInput {
    fn from(text: &str) -> Self {
        Self(Prompt::text(text))
    }
}

impl From<String> for PromptInput {
    fn from(text: String) -> Self {
        Self(Prompt::text(text))
    }
}

impl From<Vec<ContentBlock>> for PromptInput {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(Prompt::new(blocks))
    }
}

impl From<Prompt> for PromptInput {
    fn from(prompt: Prompt) -> Self {
        Self(prompt)
    }
}

impl PromptInput {
    /// Continues a waiting run of a resumed session, see [`Prompt::continue_run`].
    pub fn continue_run() -> Self {
        Self(Prompt::continue_run())
    }

    /// `true` if the input has no text and continues a run.
    pub(crate) fn continues_run(&self) -> bool {
        self.0.kind == PromptKind::Continue
    }

    /// The prompt, if it has content that a model accepts.
    pub(crate) fn into_prompt(self) -> Result<Prompt, Error> {
        if self.continues_run() {
            return Ok(self.0);
        }
        let empty = |block: &ContentBlock| block.as_text().is_some_and(|text| text.trim().is_empty());
        let quoted = self.0.quoted.iter().all(|quotation| quotation.text.trim().is_empty());
        if self.0.parts.is_empty() && self.0.content.iter().all(empty) && quoted {
            return Err(Error::EmptyPrompt);
        }
        Ok(self.0)
    }
}
