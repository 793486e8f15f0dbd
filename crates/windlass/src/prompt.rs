//! What a prompt is made from.

use crate::Error;
use windlass_runtime::Prompt;
use windlass_types::ContentBlock;

/// What a prompt is made from: a text, or content blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptInput {
    pub(crate) blocks: Vec<ContentBlock>,
    /// Whether the words are not the user's own, but those of a file of the project.
    pub(crate) is_expanded: bool,
}

impl From<&str> for PromptInput {
    fn from(text: &str) -> Self {
        Self::from(vec![ContentBlock::text(text)])
    }
}

impl From<String> for PromptInput {
    fn from(text: String) -> Self {
        Self::from(vec![ContentBlock::text(text)])
    }
}

impl From<Vec<ContentBlock>> for PromptInput {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self { blocks, is_expanded: false }
    }
}

impl PromptInput {
    /// The prompt, if it has content that a model accepts.
    pub(crate) fn into_prompt(self) -> Result<Prompt, Error> {
        let empty = self.blocks.iter().all(|block| block.as_text().is_some_and(|text| text.trim().is_empty()));
        if empty {
            return Err(Error::EmptyPrompt);
        }
        let mut prompt = Prompt::new(self.blocks);
        prompt.ignores_keywords = self.is_expanded;
        Ok(prompt)
    }
}
