//! Questions that outlive the process that asked them: which are open, and which answers count.

mod answers;
mod stored;
#[cfg(test)]
mod tests;
mod token;

pub use answers::{AnswerRefusal, PendingAnswers, StoredAnswer};
pub use stored::{StoredQuestion, questions_below, repair_but_waiting, stored_questions};
pub use token::{TokenSecret, is_token_of, token_hash};

use std::collections::HashSet;
use windlass_types::{Entry, EntryId, EntryKind, PendingQuestion, ToolUseId, WaitingCall};

/// The questions of a conversation that wait for an answer, and the calls whose agents wait for one: a fold over its entries.
///
/// A question is open while its call is one of the last message of the model, has no result, and has not begun. Of several
/// questions about one call the last one counts. A call waits for its agent until it has a result, also when it has begun again:
/// whether the agent waits still is said by its own log ([`repair_but_waiting`]).
#[derive(Debug, Clone, Default)]
pub struct PendingQuestions {
    /// The lines of the last message.
    lines: HashSet<EntryId>,
    /// The calls of it that have begun.
    begun: HashSet<ToolUseId>,
    /// Those that have a result.
    answered: HashSet<ToolUseId>,
    questions: Vec<PendingQuestion>,
    waiting: Vec<WaitingCall>,
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
            EntryKind::AgentWaits(call) => self.wait(call),
            EntryKind::ToolResult(result) => {
                let call = &result.result.tool_use_id;
                self.close(call);
                self.waiting.retain(|waiting| waiting.tool_use_id != *call);
                self.answered.insert(call.clone());
            }
            // It may have run: an answer must not run it once more.
            EntryKind::Intent { tool_use_id, .. } => {
                self.close(tool_use_id);
                self.begun.insert(tool_use_id.clone());
            }
            _ => {}
        }
    }

    fn ask(&mut self, question: &PendingQuestion) {
        let call = &question.tool_use_id;
        // One that waits for its agent is judged anew before it continues.
        let has_begun = self.begun.contains(call) && self.waiting(call).is_none();
        if self.lines.contains(&question.assistant) && !has_begun && !self.answered.contains(call) {
            match self.questions.iter_mut().find(|earlier| earlier.id == question.id) {
                // A new token for it.
                Some(earlier) => earlier.clone_from(question),
                None => {
                    self.questions.retain(|earlier| earlier.tool_use_id != *call);
                    self.questions.push(question.clone());
                }
            }
        }
    }

    /// A call that has begun waits for its agent.
    fn wait(&mut self, waiting: &WaitingCall) {
        let call = &waiting.tool_use_id;
        if self.lines.contains(&waiting.assistant) && self.begun.contains(call) && !self.answered.contains(call) {
            // Of several agents that it has run, the last one counts.
            self.waiting.retain(|earlier| earlier.tool_use_id != *call);
            self.waiting.push(waiting.clone());
        }
    }

    fn close(&mut self, call: &ToolUseId) {
        self.questions.retain(|question| question.tool_use_id != *call);
    }

    /// The question about a call, if one is open.
    pub fn about(&self, call: &ToolUseId) -> Option<&PendingQuestion> {
        self.questions.iter().find(|question| question.tool_use_id == *call)
    }

    /// A call whose agent waits, if this is one.
    pub fn waiting(&self, call: &ToolUseId) -> Option<&WaitingCall> {
        self.waiting.iter().find(|waiting| waiting.tool_use_id == *call)
    }

    /// All questions of this conversation, in the order in which they were asked.
    pub fn iter(&self) -> impl Iterator<Item = &PendingQuestion> {
        self.questions.iter()
    }

    /// The calls whose agents wait for answers, in the order in which they came to wait.
    pub fn waiting_calls(&self) -> impl Iterator<Item = &WaitingCall> {
        self.waiting.iter()
    }

    /// Whether no question is open, and no call waits for its agent.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.waiting.is_empty()
    }
}
