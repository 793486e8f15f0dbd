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
    /// Number of messages at the front of the queue that had arrived when the run reached its safe point.
    awaited_count: usize,
}

#[derive(Debug)]
struct Message {
    prompt: Prompt,
    /// `true` if the message goes back to its sender when the run ends before the message joins.
    is_returnable: bool,
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

/// Returns the text of a prompt as hooks receive it: the user's words and the quotations.
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
    pub(crate) fn add(&mut self, prompt: Prompt, is_returnable: bool) {
        self.messages.push_back(Message { prompt, is_returnable, review: Review::Due, attached: Vec::new() });
    }

    /// Returns a message to its sender on request.
    pub(crate) fn withdraw(&mut self, session: &mut Session, id: &EntryId) {
        let has_id = |message: &Message| message.prompt.id.as_ref() == Some(id);
        if let Some(message) =
            self.messages.iter().position(has_id).and_then(|index| self.remove_message(session, index))
        {
            session.steered(message.prompt.id, SteeredFate::Returned, None);
        }
    }

    /// Removes a message that does not join the conversation.
    fn remove_message(&mut self, session: &mut Session, index: usize) -> Option<Message> {
        let message = self.messages.remove(index)?;
        if let Review::Asked(effect) = message.review {
            session.cancel(effect);
        }
        if index < self.awaited_count {
            self.awaited_count -= 1;
        }
        Some(message)
    }

    /// Discards all messages.
    pub(crate) fn forget(&mut self, session: &mut Session) {
        while self.remove_message(session, 0).is_some() {}
    }

    /// Empties the queue at the end of the run. Returns the messages that become the next prompts; the others return to
    /// their senders.
    pub(crate) fn defer(&mut self, session: &mut Session) -> Vec<Prompt> {
        let mut deferred = Vec::new();
        while let Some(message) = self.remove_message(session, 0) {
            let fate = if message.is_returnable { SteeredFate::Returned } else { SteeredFate::Deferred };
            session.steered(message.prompt.id.clone(), fate, None);
            if !message.is_returnable {
                deferred.push(message.prompt);
            }
        }
        deferred
    }

    /// Starts the hooks for the next unreviewed message, unless they are running for one.
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

    /// Marks all waiting messages for review again, because the hooks have changed.
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

    /// Adds attachments to the message whose hooks run as this effect.
    pub(crate) fn attach(&mut self, effect: EffectId, blocks: Vec<ContentBlock>) {
        let is_in_review = |message: &&mut Message| matches!(message.review, Review::Asked(asked) if asked == effect);
        if let Some(message) = self.messages.iter_mut().find(is_in_review) {
            message.attached.extend(blocks);
        }
    }

    /// Handles the outcome of a message's hooks. Returns the reason if a hook wants to end the run.
    pub(crate) fn hooked(&mut self, session: &mut Session, effect: EffectId, outcome: HookOutcome) -> Option<String> {
        session.hooks_ran(HookEventName::UserPromptSubmit, None, &outcome);
        let is_in_review = |message: &Message| matches!(message.review, Review::Asked(asked) if asked == effect);
        let index = self.messages.iter().position(is_in_review)?;
        if let Some(message) = self.messages.get_mut(index) {
            message.review = Review::Passed(outcome.additional_context);
        }
        let refusal = outcome.block.map(|block| block.reason).or_else(|| outcome.stop.clone());
        if let Some(reason) = refusal
            && let Some(message) = self.remove_message(session, index)
        {
            session.steered(message.prompt.id, SteeredFate::Blocked { reason }, None);
        }
        outcome.stop
    }

    /// Marks all messages that have arrived as awaited: the run waits for their reviews.
    pub(crate) fn halt(&mut self) {
        self.awaited_count = self.messages.len();
    }

    /// `true` if all awaited messages may join.
    pub(crate) fn is_reviewed(&self) -> bool {
        self.messages.iter().take(self.awaited_count).all(|message| matches!(message.review, Review::Passed(_)))
    }

    /// Removes the awaited messages, and returns each with the texts that follow it.
    pub(crate) fn join(&mut self) -> Vec<(Prompt, Feedback)> {
        let joining = self.messages.drain(..self.awaited_count.min(self.messages.len()));
        let joining = joining.map(|Message { prompt, review, attached, .. }| match review {
            Review::Passed(context) => (prompt, Feedback { context, attached, stop: None }),
            Review::Due | Review::Asked(_) => (prompt, Feedback::default()),
        });
        self.awaited_count = 0;
        joining.collect()
    }
}
