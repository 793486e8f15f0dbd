//! Questions for a person: each is shown behind the call that it is about.

use super::Conversation;
use crate::output::{Order, SessionState, Unanswered, Update};
use crate::questions::Question;

impl Conversation {
    /// Puts a question to the person.
    pub(super) fn ask(&mut self, question: Question) {
        if self.questions.is_closed() {
            return self.order(Order::Unanswered(question.id, Unanswered::Gone));
        }
        let open_before = self.questions.open_permissions();
        // A call that no run makes is never shown.
        let may_wait = self.is_at_work();
        if let Some(id) = self.questions.ask(question, may_wait) {
            self.update(Update::Question(id));
        }
        self.update_asking(open_before);
    }

    /// Removes a question that was answered.
    pub(super) fn answered(&mut self, id: &str) {
        let open_before = self.questions.open_permissions();
        self.questions.answered(id);
        self.update_asking(open_before);
    }

    /// Takes back a question that its asker withdraws.
    pub(super) fn withdrawn(&mut self, id: &str) {
        let open_before = self.questions.open_permissions();
        if self.questions.withdrawn(id) {
            self.update(Update::QuestionWithdrawn(id.to_owned()));
        }
        self.update_asking(open_before);
    }

    /// Shows the questions whose calls were shown; all of them, when no run is left that could show one.
    pub(super) fn release_questions(&mut self) {
        if !self.questions.holds() {
            return;
        }
        let (asked, at_work) = (self.questions.open_permissions(), self.is_at_work());
        for id in self.questions.release(!at_work) {
            self.update(Update::Question(id));
        }
        self.update_asking(asked);
    }

    /// Takes back the questions of tasks that are stopped with the run.
    pub(super) fn withdraw_questions(&mut self) {
        let withdrawn = self.questions.withdraw();
        for (id, was_shown) in &withdrawn {
            if *was_shown {
                self.update(Update::QuestionWithdrawn(id.clone()));
            }
        }
        for (id, _) in withdrawn {
            self.order(Order::Unanswered(id, Unanswered::Withdrawn));
        }
    }

    /// Ends the open questions: nobody is left to answer.
    pub(super) fn close_questions(&mut self) {
        for id in self.questions.close() {
            self.order(Order::Unanswered(id, Unanswered::Gone));
        }
    }

    /// Reports if the session begins or ends to wait for a person. `before` is the number of questions before.
    pub(super) fn update_asking(&mut self, before: usize) {
        let waits = self.questions.open_permissions() > 0;
        if waits != (before > 0) && self.is_at_work() {
            self.update(Update::State(if waits { SessionState::RequiresAction } else { SessionState::Running }));
        }
    }
}
