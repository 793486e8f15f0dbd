//! Messages of people and hosts.

use windlass_types::{ContentBlock, JsonText, Quotation};

/// A message of a person or a host that becomes a prompt.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "presenters make it")]
pub struct Message {
    /// Blocks of the prompt, or the reason why they cannot be one. A message without usable content is answered by
    /// [`Update::Refused`](crate::Update::Refused).
    pub content: Result<Vec<ContentBlock>, String>,
    /// Words of others behind the blocks. Default: none.
    pub quoted: Vec<Quotation>,
    /// Id that the sender gave it. Updates of its state name it; a message without an id has none.
    pub id: Option<String>,
    /// Place among the messages that wait.
    pub priority: Priority,
    /// `true` if the model is to answer. Otherwise it joins the conversation as a note. Default: `true`.
    pub wants_answer: bool,
    /// `true` if none of its text is a slash command, a mention or a keyword. Default: `false`.
    pub is_verbatim: bool,
    /// Bytes that it takes up while it waits. The queue is bounded by their sum.
    pub size: usize,
    /// Message as it came, handed back by [`Update::Taken`](crate::Update::Taken) for presenters that repeat it.
    pub original: Option<JsonText>,
}

impl Message {
    /// A message with these blocks, without an id, that waits its turn and is answered.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        let size = content.iter().map(|block| block.as_text().map_or(1024, str::len)).sum();
        Self {
            content: Ok(content),
            quoted: Vec::new(),
            id: None,
            priority: Priority::default(),
            wants_answer: true,
            is_verbatim: false,
            size,
            original: None,
        }
    }

    /// A message with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }
}

/// Place of a message among those that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "three places in a queue")]
pub enum Priority {
    /// First, and the current run is stopped.
    Now,
    /// Before those of [`Later`](Self::Later). While a run continues, the message joins it at its next safe point.
    Next,
    /// Last.
    #[default]
    Later,
}
