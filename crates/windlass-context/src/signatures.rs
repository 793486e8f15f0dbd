//! Which model signed which reasoning: no other model can read it.

use crate::model_id::is_same_model;
use std::collections::HashMap;
use windlass_types::{ContentBlock, Message, Role, SharedMessage};

/// Which model signed which reasoning, and what another model can read therefore.
#[derive(Debug, Default)]
pub struct Signatures {
    signed_by: HashMap<String, String>,
    /// The models that signed anything.
    signers: Vec<String>,
}

impl Signatures {
    /// Notes what a message of a model has signed.
    pub fn note(&mut self, content: &[ContentBlock], model: &str) {
        for signature in content.iter().filter_map(signature) {
            self.signed_by.insert(signature.to_owned(), model.to_owned());
            if !self.signers.iter().any(|signer| signer == model) {
                self.signers.push(model.to_owned());
            }
        }
    }

    /// The messages without reasoning that another model signed.
    pub fn readable(&self, messages: Vec<SharedMessage>, model: &str) -> Vec<SharedMessage> {
        if self.signers.iter().all(|signer| is_same_model(signer, model)) {
            return messages;
        }
        messages.into_iter().filter_map(|message| self.readable_by(model, message)).collect()
    }

    fn readable_by(&self, model: &str, message: SharedMessage) -> Option<SharedMessage> {
        let foreign = |block: &ContentBlock| {
            signature(block)
                .and_then(|signature| self.signed_by.get(signature))
                .is_some_and(|signer| !is_same_model(signer, model))
        };
        if message.role != Role::Assistant || !message.content.iter().any(foreign) {
            return Some(message);
        }
        let content: Vec<ContentBlock> = message.content.iter().filter(|block| !foreign(block)).cloned().collect();
        (!content.is_empty()).then(|| Message::assistant(content).into())
    }
}

/// What identifies a block of reasoning.
fn signature(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Thinking { signature, .. } => Some(signature),
        ContentBlock::RedactedThinking { data } => Some(data),
        _ => None,
    }
}
