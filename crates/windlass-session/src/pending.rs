//! Questions that outlive the process that asked them: which are open, and which answers count.

mod answers;
#[cfg(test)]
mod tests;
mod token;

pub use answers::{AnswerRefusal, PendingAnswers, StoredAnswer};
pub use token::{TokenSecret, is_token_of, token_hash};

use std::collections::HashSet;
use windlass_types::{Entry, EntryId, EntryKind, PendingQuestion, ToolUseId};

/// The questions of a conversation that wait for an answer: a fold over its entries.
///
/// A question is open while its call is one of the last message of the model, has no result, and has not begun. Of several
/// questions about one call the last one counts.
#[derive(Debug, Clone, Default)]
pub struct PendingQuestions {
    /// The lines of the last message.
    lines: HashSet<EntryId>,
    /// The calls of it that have a result, or have begun.
    settled: HashSet<ToolUseId>,
    questions: Vec<PendingQuestion>,
}

impl PendingQuestions {
    /// The questions that these entries leave open.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut pending = Self::default();
        for entry in entries {
            pending.apply(entry);
        }
        pending
    }

    /// Takes an entry.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::Assistant(message) => {
                *self = Self::default();
                self.lines = message.block_ids.iter().chain([&entry.id]).cloned().collect();
            }
            EntryKind::Compacted(_) => *self = Self::default(),
            EntryKind::Question(question) => self.ask(question),
            EntryKind::ToolResult(result) => self.settle(&result.result.tool_use_id),
            // It may have run: an answer must not run it once more.
            EntryKind::Intent { tool_use_id, .. } => self.settle(tool_use_id),
            _ => {}
        }
    }

    fn ask(&mut self, question: &PendingQuestion) {
        if self.lines.contains(&question.assistant) && !self.settled.contains(&question.tool_use_id) {
            self.questions.retain(|earlier| earlier.tool_use_id != question.tool_use_id);
            self.questions.push(question.clone());
        }
    }

    fn settle(&mut self, call: &ToolUseId) {
        self.questions.retain(|question| question.tool_use_id != *call);
        self.settled.insert(call.clone());
    }

    /// The question about a call, if one is open.
    pub fn about(&self, call: &ToolUseId) -> Option<&PendingQuestion> {
        self.questions.iter().find(|question| question.tool_use_id == *call)
    }

    /// All of them, in the order in which they were asked.
    pub fn iter(&self) -> impl Iterator<Item = &PendingQuestion> {
        self.questions.iter()
    }

    /// Whether no question is open.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }
}
