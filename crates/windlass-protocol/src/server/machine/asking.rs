//! Questions to the host: each is written behind the frame of the call that it is about.

use super::Machine;
use super::io::Order;
use super::questions::Question;
use crate::channel::requests::AskError;
use windlass_types::JsonText;

impl Machine {
    /// Puts a question to the host.
    pub(super) fn ask(&mut self, question: Question) {
        if self.questions.is_closed() {
            return self.order(Order::Answer(question.id, Err(AskError::Gone)));
        }
        let asked = self.questions.open_permissions();
        // A call that no run makes has no frame.
        let may_wait = self.is_at_work();
        if let Some(line) = self.questions.ask(question, may_wait) {
            self.send(line);
        }
        self.say_asking(asked);
    }

    /// A question is withdrawn, or a message is no longer waited for.
    pub(super) fn dropped(&mut self, id: &str) {
        self.inboxes.dropped(id);
        let asked = self.questions.open_permissions();
        let lines = self.questions.dropped(id);
        self.send(lines);
        self.say_asking(asked);
    }

    /// Questions follow whose calls the host has been shown now; all of them, when no run is left that could show one.
    pub(super) fn release_questions(&mut self) {
        if !self.questions.holds() {
            return;
        }
        let (asked, at_work) = (self.questions.open_permissions(), self.is_at_work());
        let lines = self.questions.release(!at_work);
        self.send(lines);
        self.say_asking(asked);
    }

    /// Takes back the questions of tasks that are stopped with the run.
    pub(super) fn withdraw_questions(&mut self) {
        let (withdrawn, lines) = self.questions.withdraw();
        self.send(lines);
        for id in withdrawn {
            self.order(Order::Answer(id, Err(AskError::Withdrawn)));
        }
    }

    /// The host answers no more: open questions end.
    pub(super) fn close_questions(&mut self) {
        for id in self.questions.close() {
            self.order(Order::Answer(id, Err(AskError::Gone)));
        }
    }

    /// Reports whether the session waits for a person, if that has changed. `before` is how many questions were open.
    pub(super) fn say_asking(&mut self, before: usize) {
        let waits = self.questions.open_permissions() > 0;
        if waits != (before > 0) && self.is_at_work() {
            self.say_state(if waits { "requires_action" } else { "running" });
        }
    }

    /// Hands a message of an in-process MCP server over.
    pub(super) fn deliver(&mut self, server: &str, next: Option<(String, JsonText)>) {
        if let Some((receiver, message)) = next {
            self.order(Order::Deliver { server: server.to_owned(), receiver, message });
        }
    }
}
