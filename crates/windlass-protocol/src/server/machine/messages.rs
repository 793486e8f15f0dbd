//! Messages of the host.

use super::Machine;
use super::io::{Order, SessionOrder};
use crate::input::{Inbound, Priority, UserMessage};
use crate::server::frames::Lifecycle;
use std::collections::BTreeMap;

impl Machine {
    pub(super) fn host_line(&mut self, message: Inbound) {
        match message {
            Inbound::User(message) => {
                let now = message.priority == Priority::Now;
                self.enqueue(*message);
                if now {
                    self.stop_run();
                }
                self.advance();
                self.offer_waiting();
            }
            Inbound::Request { id, subtype, body } => self.request(&id, &subtype, &body),
            Inbound::Response { id, answer } => {
                let asked = self.questions.open_permissions();
                if self.questions.answered(&id) {
                    self.order(Order::Answer(id, Ok(answer)));
                    self.say_asking(asked);
                } else {
                    tracing::debug!(id, "an answer came that is not waited for");
                }
            }
            // An order is carried out whether its answer is waited for or not.
            Inbound::Cancel { id } => tracing::debug!(id, "the host no longer waits for an answer"),
            Inbound::Environment(variables) => self.renew_environment(variables),
            Inbound::Other { kind } => tracing::debug!(kind, "a message of this type is left alone"),
        }
    }

    /// Lets a message wait for its turn, or reports why it cannot have one.
    fn enqueue(&mut self, mut message: UserMessage) {
        if !self.config.replay_user_messages {
            // It would be kept twice, images and all.
            message.message = None;
        }
        let uuid = message.uuid.clone();
        let in_turn = self.turns.has_run() || self.turns.is_busy();
        match self.turns.queue.push(message, in_turn) {
            Ok(()) => self.say_lifecycle(uuid.as_deref(), Lifecycle::Queued),
            Err(error) => self.refuse(&error, uuid),
        }
    }

    /// Takes variables that replace those of the environment.
    pub(super) fn renew_environment(&mut self, variables: BTreeMap<String, String>) {
        self.order_session(SessionOrder::Environment(variables.clone()));
        self.wishes.environment.extend(variables);
    }

    /// Stops the run that continues, if one does.
    pub(super) fn stop_run(&mut self) {
        // What is no run yet is stopped as soon as it is one.
        self.turns.stopped |= self.turns.is_busy();
        if !self.turns.has_run() {
            return;
        }
        self.turns.stopping = true;
        // Questions are withdrawn before the run is reported stopped.
        self.withdraw_questions();
        self.order_session(SessionOrder::Interrupt);
    }
}
