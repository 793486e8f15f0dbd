//! Messages of the host.

use super::ServerMachine;
use super::io::ServerEffect;
use crate::input::Inbound;
use windlass_conversation::Input as Turn;

impl ServerMachine {
    pub(super) fn host_line(&mut self, message: Inbound) {
        match message {
            Inbound::User(mut message) => {
                if !self.config.replay_user_messages {
                    // The copy would only use memory, because nothing replays it.
                    message.message = None;
                }
                self.pass_to_conversation(Turn::Message(Box::new((*message).into())));
            }
            Inbound::Request { id, subtype, body } => self.request(&id, &subtype, &body),
            Inbound::Response { id, answer } => {
                if self.conversation.awaits_answer(&id) {
                    self.questions.remove(&id);
                    self.emit_effect(ServerEffect::Answer(id.clone(), Ok(answer)));
                    self.pass_to_conversation(Turn::Answered(id));
                } else {
                    tracing::debug!(id, "an answer came that is not waited for");
                }
            }
            // A request is carried out even if its answer is no longer waited for.
            Inbound::Cancel { id } => tracing::debug!(id, "the host no longer waits for an answer"),
            Inbound::Environment(variables) => self.pass_to_conversation(Turn::Environment(variables)),
            Inbound::Other { kind } => tracing::debug!(kind, "a message of this type is left alone"),
        }
    }
}
