//! Messages that the user sends to an open run.
//!
//! Like every prompt they have to pass the UserPromptSubmit hooks. The hooks run at once, for one message after the
//! other, while the run continues. The messages join the conversation at a safe point: after the results of a batch of
//! calls, or when the run would end. The run waits there until the hooks have answered for all earlier messages.

use crate::feedback::Feedback;
use crate::session::Session;
use crate::{EffectId, Prompt};
use std::collections::VecDeque;
use windlass_types::{ContentBlock, EntryId, HookEventName, HookOutcome, SteeredFate};

/// Messages that wait for a safe point of a run.
#[derive(Debug, Default)]
pub(crate) struct Steering {
    messages: VecDeque<Message>,
    /// Number of messages that the run waits for at a safe point: those that had arrived when it was reached.
    awaited: usize,
}

#[derive(Debug)]
struct Message {
    prompt: Prompt,
    /// `true` if the sender wants the message back if the run ends first.
    returns: bool,
    review: Review,
    /// Attachments of the message.
    attached: Vec<ContentBlock>,
}

/// Progress of the UserPromptSubmit hooks for a message.
#[derive(Debug)]
enum Review {
    Due,
    Asked(EffectId),
    /// Passed: the message may join the conversation, with this context.
    Passed(Vec<String>),
}

/// Returns the text of a prompt for hooks.
pub(crate) fn prompt_text(prompt: &Prompt) -> String {
    let quoted = prompt.quoted.iter().map(|quotation| quotation.text.as_str());
    let text: Vec<&str> = prompt.content.iter().filter_map(ContentBlock::as_text).chain(quoted).collect();
    text.join("\n")
}

/// Returns the user's own words in a prompt.
pub(crate) fn own_text(prompt: &Prompt) -> String {
    let text: Vec<&str> = prompt.content.iter().filter_map(ContentBlock::as_text).collect();
    text.join("\n")
}

impl Steering {
    /// `true` if no message waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Queues a message for the run.
    pub(crate) fn add(&mut self, prompt: Prompt, returns: bool) {
        self.messages.push_back(Message { prompt, returns, review: Review::Due, attached: Vec::new() });
    }

    /// Returns a message to its sender on request.
    pub(crate) fn withdraw(&mut self, session: &mut Session, id: &EntryId) {
        let named = |message: &Message| message.prompt.id.as_ref() == Some(id);
        if let Some(message) = self.messages.iter().position(named).and_then(|at| self.take(session, at)) {
            session.steered(message.prompt.id, SteeredFate::Returned, None);
        }
    }

    /// Removes a message that does not join the conversation.
    fn take(&mut self, session: &mut Session, at: usize) -> Option<Message> {
        let message = self.messages.remove(at)?;
        if let Review::Asked(effect) = message.review {
            session.cancel(effect);
        }
        if at < self.awaited {
            self.awaited -= 1;
        }
        Some(message)
    }

    /// Discards all messages.
    pub(crate) fn forget(&mut self, session: &mut Session) {
        while self.take(session, 0).is_some() {}
    }

    /// Ends the run: returns messages to their senders, or returns those that become the next prompts.
    pub(crate) fn defer(&mut self, session: &mut Session) -> Vec<Prompt> {
        let mut deferred = Vec::new();
        while let Some(message) = self.take(session, 0) {
            let fate = if message.returns { SteeredFate::Returned } else { SteeredFate::Deferred };
            session.steered(message.prompt.id.clone(), fate, None);
            if !message.returns {
                deferred.push(message.prompt);
            }
        }
        deferred
    }

    /// Runs the hooks for the next message, unless they are running for one.
    pub(crate) fn ask(&mut self, session: &mut Session) {
        if self.messages.iter().any(|message| matches!(message.review, Review::Asked(_))) {
            return;
        }
        let reviews = session.reviews_prompts();
        for message in self.messages.iter_mut().filter(|message| matches!(message.review, Review::Due)) {
            if reviews {
                message.review = Review::Asked(session.review_prompt(&message.prompt, false));
                return;
            }
            message.review = Review::Passed(Vec::new());
        }
    }

    /// Runs the changed hooks again, for all messages that have not joined yet.
    pub(crate) fn ask_again(&mut self, session: &mut Session) {
        for message in &mut self.messages {
            if let Review::Asked(effect) = std::mem::replace(&mut message.review, Review::Due) {
                session.cancel(effect);
            }
            message.attached.clear();
        }
    }

    /// `true` if this effect runs hooks for a message.
    pub(crate) fn waits_for(&self, effect: EffectId) -> bool {
        self.messages.iter().any(|message| matches!(message.review, Review::Asked(asked) if asked == effect))
    }

    /// Stores the attachments of the message that hooks are asked about.
    pub(crate) fn attach(&mut self, effect: EffectId, blocks: Vec<ContentBlock>) {
        let asked = |message: &&mut Message| matches!(message.review, Review::Asked(asked) if asked == effect);
        if let Some(message) = self.messages.iter_mut().find(asked) {
            message.attached.extend(blocks);
        }
    }

    /// Handles the outcome of hooks for a message. Returns the reason to end the run, if they want that.
    pub(crate) fn hooked(&mut self, session: &mut Session, effect: EffectId, outcome: HookOutcome) -> Option<String> {
        session.hooks_ran(HookEventName::UserPromptSubmit, None, &outcome);
        let asked = |message: &Message| matches!(message.review, Review::Asked(asked) if asked == effect);
        let at = self.messages.iter().position(asked)?;
        if let Some(message) = self.messages.get_mut(at) {
            message.review = Review::Passed(outcome.additional_context);
        }
        let refused = outcome.block.map(|block| block.reason).or_else(|| outcome.stop.clone());
        if let Some(reason) = refused
            && let Some(message) = self.take(session, at)
        {
            session.steered(message.prompt.id, SteeredFate::Blocked { reason }, None);
        }
        outcome.stop
    }

    /// Begins to wait at a safe point for all messages that have arrived.
    pub(crate) fn halt(&mut self) {
        self.awaited = self.messages.len();
    }

    /// `true` if all awaited messages may join.
    pub(crate) fn is_reviewed(&self) -> bool {
        self.messages.iter().take(self.awaited).all(|message| matches!(message.review, Review::Passed(_)))
    }

    /// Removes the messages that join the conversation at this safe point, each with the texts after it.
    pub(crate) fn join(&mut self) -> Vec<(Prompt, Feedback)> {
        let joining = self.messages.drain(..self.awaited.min(self.messages.len()));
        let joining = joining.map(|Message { prompt, review, attached, .. }| match review {
            Review::Passed(context) => (prompt, Feedback { context, attached, stop: None }),
            Review::Due | Review::Asked(_) => (prompt, Feedback::default()),
        });
        self.awaited = 0;
        joining.collect()
    }
}
