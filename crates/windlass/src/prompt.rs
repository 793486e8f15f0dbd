//! What a prompt is made from.

use crate::Error;
use windlass_runtime::Prompt;
use windlass_types::ContentBlock;

/// What a prompt is made from: a text, or content blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptInput(pub(crate) Vec<ContentBlock>);

impl From<&str> for PromptInput {
    fn from(text: &str) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}

impl From<String> for PromptInput {
    fn from(text: String) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}

impl From<Vec<ContentBlock>> for PromptInput {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}

impl PromptInput {
    /// The prompt, if it has content that a model accepts.
    pub(crate) fn into_prompt(self) -> Result<Prompt, Error> {
        let empty = self.0.iter().all(|block| block.as_text().is_some_and(|text| text.trim().is_empty()));
        if empty { Err(Error::EmptyPrompt) } else { Ok(Prompt::new(self.0)) }
    }
}
