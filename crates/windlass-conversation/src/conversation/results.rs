//! Results, each given behind a copy of the durable lines of the log.

use super::Conversation;
use crate::calls::CallReference;
use crate::output::{LocalResult, MessageState, Order, Update};
use crate::results::TurnResult;
use windlass_types::{EventKind, Outcome};

impl Conversation {
    /// Gives a result, behind a copy of the log where one is kept.
    pub(super) fn give(&mut self, result: TurnResult) {
        if !self.results.is_copied {
            return self.give_now(result);
        }
        if self.results.results.is_empty() {
            self.copy_log();
        }
        self.results.results.push_back(result);
    }

    /// Orders a copy of the lines of the log that are durable now.
    pub(super) fn copy_log(&mut self) {
        self.results.copies += 1;
        self.order(Order::CopyLog);
    }

    /// Gives the results that have waited for a copy of the log.
    pub(super) fn log_copied(&mut self) {
        self.results.copies = self.results.copies.saturating_sub(1);
        for result in std::mem::take(&mut self.results.results) {
            self.give_now(result);
        }
        self.end_if_closed();
    }

    fn give_now(&mut self, result: TurnResult) {
        match result {
            TurnResult::Run(generation, event) => {
                let finished = match &event.kind {
                    EventKind::RunFinished(result) => {
                        self.questions.shown.forget(&event.agent);
                        let pending = result.pending_questions.iter();
                        let pending =
                            pending.map(|asked| CallReference::of(asked.identity.as_ref(), &asked.tool_use_id));
                        self.questions.pending = pending.collect();
                        Some((is_error(&result.outcome), result.origin))
                    }
                    _ => None,
                };
                self.update(Update::Event(event));
                if let Some((is_error, origin)) = finished {
                    self.finished(generation, is_error, origin);
                }
            }
            TurnResult::Refused(reason, id) => {
                self.update(Update::Refused(reason));
                self.update_message(id.as_deref(), MessageState::Completed);
            }
            TurnResult::Unexpanded(reason, id) => {
                self.update(Update::Refused(reason));
                self.update_message(id.as_deref(), MessageState::Completed);
                self.end_work();
            }
            TurnResult::Local(command, text, id) => {
                let spent = self.session.spent.clone();
                self.update(Update::Local(LocalResult { command, text, spent }));
                self.update_message(id.as_deref(), MessageState::Completed);
                self.end_work();
            }
        }
    }

    /// Gives the result of a prompt that started no run.
    pub(super) fn refuse(&mut self, error: &str, id: Option<String>) {
        self.turns.last_is_error = true;
        self.give(TurnResult::Refused(error.to_owned(), id));
    }

    /// Gives the results of all messages that wait for a session which cannot continue.
    pub(super) fn refuse_waiting(&mut self, error: &str) {
        while let Some(message) = self.turns.queue.pop() {
            self.refuse(error, message.id);
        }
    }
}

/// `true` if the outcome of a run is an error, for which a command exits with 1.
pub fn is_error(outcome: &Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::Success
            | Outcome::Refused
            | Outcome::StoppedByHook { .. }
            | Outcome::PromptBlocked { .. }
            | Outcome::Pending { .. }
    )
}
