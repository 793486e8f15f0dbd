//! Permission requests that outlive their process: open requests, and valid answers.

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

/// Permission requests of a conversation that wait for an answer, and calls whose agents wait for one: a fold over its
/// entries.
///
/// A request is open while its call is one of the last message of the model, has no result, and has not begun. Of
/// several requests about one call the last one applies. A call waits for its agent until it has a result, even when it
/// has begun again: the agent's own log decides whether it still waits ([`repair_but_waiting`]).
#[derive(Debug, Clone, Default)]
pub struct PendingQuestions {
    /// Lines of the last message.
    lines: HashSet<EntryId>,
    /// Calls of the last message that have begun.
    begun: HashSet<ToolUseId>,
    /// Calls of the last message that have a result.
    answered: HashSet<ToolUseId>,
    questions: Vec<PendingQuestion>,
    waiting: Vec<WaitingCall>,
}

impl PendingQuestions {
    /// Returns the requests that these entries leave open.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut pending = Self::default();
        for entry in entries {
            pending.apply(entry);
        }
        pending
    }

    /// Applies an entry.
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
            // The call may have run: an answer must not run it once more.
            EntryKind::Intent { tool_use_id, .. } => {
                self.close(tool_use_id);
                self.begun.insert(tool_use_id.clone());
            }
            _ => {}
        }
    }

    fn ask(&mut self, question: &PendingQuestion) {
        let call = &question.tool_use_id;
        // A call that waits for its agent is decided anew before it continues.
        let has_begun = self.begun.contains(call) && self.waiting(call).is_none();
        if self.lines.contains(&question.assistant) && !has_begun && !self.answered.contains(call) {
            match self.questions.iter_mut().find(|earlier| earlier.id == question.id) {
                // A new token of the same request.
                Some(earlier) => earlier.clone_from(question),
                None => {
                    self.questions.retain(|earlier| earlier.tool_use_id != *call);
                    self.questions.push(question.clone());
                }
            }
        }
    }

    /// Records that a begun call waits for its agent.
    fn wait(&mut self, waiting: &WaitingCall) {
        let call = &waiting.tool_use_id;
        if self.lines.contains(&waiting.assistant) && self.begun.contains(call) && !self.answered.contains(call) {
            // Of several agents that the call has run, the last one applies.
            self.waiting.retain(|earlier| earlier.tool_use_id != *call);
            self.waiting.push(waiting.clone());
        }
    }

    fn close(&mut self, call: &ToolUseId) {
        self.questions.retain(|question| question.tool_use_id != *call);
    }

    /// Returns the open request about a call, if any.
    pub fn about(&self, call: &ToolUseId) -> Option<&PendingQuestion> {
        self.questions.iter().find(|question| question.tool_use_id == *call)
    }

    /// Returns the record of a call whose agent waits, if it is one.
    pub fn waiting(&self, call: &ToolUseId) -> Option<&WaitingCall> {
        self.waiting.iter().find(|waiting| waiting.tool_use_id == *call)
    }

    /// Returns all requests of this conversation, in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = &PendingQuestion> {
        self.questions.iter()
    }

    /// Returns the calls whose agents wait for answers, in the order in which they began to wait.
    pub fn waiting_calls(&self) -> impl Iterator<Item = &WaitingCall> {
        self.waiting.iter()
    }

    /// `true` if no request is open, and no call waits for its agent.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.waiting.is_empty()
    }
}
