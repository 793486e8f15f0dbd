//! What a user says to a session.

use crate::{ContentBlock, EntryId, PromptPart, RunScope};

/// What a prompt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PromptKind {
    /// The model answers it.
    #[default]
    Query,
    /// It joins the conversation, and the run ends with an empty success.
    Note,
    /// The conversation is replaced by a summary that cares for it.
    Compact,
    /// The calls whose questions were left open are judged anew, with the answers that came meanwhile, and the run
    /// continues. It has no content.
    Continue,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Prompt {
    /// The blocks. They may be empty only if it has [parts](Self::parts) or [quoted blocks](Self::quoted), or
    /// [continues](PromptKind::Continue) a run.
    pub content: Vec<ContentBlock>,
    /// Blocks behind the content whose words are not the user's, such as piped input: no command, mention or keyword in
    /// them counts.
    pub quoted: Vec<ContentBlock>,
    /// What it is for.
    pub kind: PromptKind,
    /// The id that its entry in the log gets, if it is a UUID that the log does
    /// not know yet; else the machine makes one.
    pub id: Option<EntryId>,
    /// Whether its words are not the user's own, so that none of them asks for more thought.
    pub ignores_keywords: bool,
    /// What its run may do and which model it calls, if that differs from the session.
    pub scope: RunScope,
    /// What is put together, when the run begins, to a text in front of the blocks.
    pub parts: Vec<PromptPart>,
}

impl Prompt {
    /// A prompt of these blocks.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self { content, ..Self::default() }
    }

    /// Something that the model reads with the next prompt, and does not answer now.
    pub fn note(content: Vec<ContentBlock>) -> Self {
        Self { content, kind: PromptKind::Note, ..Self::default() }
    }

    /// Replaces the conversation by a summary of it. The text, if there is one,
    /// says what the summary should care for.
    pub fn compact(focus: impl Into<String>) -> Self {
        Self { content: vec![ContentBlock::text(focus)], kind: PromptKind::Compact, ..Self::default() }
    }

    /// Continues the run that waits for answers ([`Outcome::Pending`](crate::Outcome::Pending)): its open calls are judged
    /// anew. Where none waits, the run fails.
    pub fn continue_run() -> Self {
        Self { kind: PromptKind::Continue, ..Self::default() }
    }

    /// Names its entry in the log, as hosts do that refer to their prompts later.
    #[must_use]
    pub fn with_id(mut self, id: EntryId) -> Self {
        self.id = Some(id);
        self
    }

    /// Marks its words as not the user's own, such as those of a command from a file: none of them asks for more thought.
    #[must_use]
    pub fn ignoring_keywords(mut self) -> Self {
        self.ignores_keywords = true;
        self
    }

    /// Adds a text behind its content whose words are not the user's: no command, mention or keyword in it counts.
    #[must_use]
    pub fn with_quoted(mut self, text: impl Into<String>) -> Self {
        self.quoted.push(ContentBlock::text(text));
        self
    }

    /// Sets what its run may do and which model it calls.
    #[must_use]
    pub fn within(mut self, scope: RunScope) -> Self {
        self.scope = scope;
        self
    }

    /// Adds what is put together, when the run begins, to a text in front of the blocks.
    #[must_use]
    pub fn with_parts(mut self, parts: impl IntoIterator<Item = PromptPart>) -> Self {
        self.parts.extend(parts);
        self
    }

    /// A prompt of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::new(blocks)
    }
}
