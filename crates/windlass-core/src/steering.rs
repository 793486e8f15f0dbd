//! Messages that the user sends to an open run.
//!
//! Like every prompt they have to pass the UserPromptSubmit hooks. These are
//! asked at once, about one message after the other, while the run continues.
//! The messages join the conversation at a safe point: behind the results of a
//! batch of calls, or when the run would end. The run waits there until the hooks
//! have answered for all that came before.

use crate::feedback::Feedback;
use crate::session::Session;
use crate::{EffectId, Prompt};
use std::collections::VecDeque;
use windlass_types::{ContentBlock, EntryId, HookEventName, HookOutcome, SteeredFate};

/// The messages that wait for a safe point of a run.
#[derive(Debug, Default)]
pub(crate) struct Steering {
    messages: VecDeque<Message>,
    /// How many of them the run waits for at a safe point: those that had come when it was reached.
    awaited: usize,
}

#[derive(Debug)]
struct Message {
    prompt: Prompt,
    /// Whether the sender wants it back if the run ends first.
    returns: bool,
    review: Review,
    /// What is attached to it.
    attached: Vec<ContentBlock>,
}

/// How far the UserPromptSubmit hooks are with a message.
#[derive(Debug)]
enum Review {
    Due,
    Asked(EffectId),
    /// It may join the conversation, and this context with it.
    Passed(Vec<String>),
}

/// The text of a prompt, as hooks read it.
pub(crate) fn prompt_text(prompt: &Prompt) -> String {
    texts(prompt.content.iter().chain(&prompt.quoted))
}

/// The user's own words in a prompt.
pub(crate) fn own_text(prompt: &Prompt) -> String {
    texts(&prompt.content)
}

fn texts<'a>(blocks: impl IntoIterator<Item = &'a ContentBlock>) -> String {
    let text: Vec<&str> = blocks.into_iter().filter_map(ContentBlock::as_text).collect();
    text.join("\n")
}

impl Steering {
    /// Takes a message for the run.
    pub(crate) fn add(&mut self, prompt: Prompt, returns: bool) {
        self.messages.push_back(Message { prompt, returns, review: Review::Due, attached: Vec::new() });
    }

    /// The sender of a message wants it back.
    pub(crate) fn withdraw(&mut self, session: &mut Session, id: &EntryId) {
        let named = |message: &Message| message.prompt.id.as_ref() == Some(id);
        if let Some(message) = self.messages.iter().position(named).and_then(|at| self.take(session, at)) {
            session.steered(message.prompt.id, SteeredFate::Returned, None);
        }
    }

    /// Takes out a message that does not join the conversation.
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

    /// Forgets all messages.
    pub(crate) fn forget(&mut self, session: &mut Session) {
        while self.take(session, 0).is_some() {}
    }

    /// The run ends: messages are returned to their senders, or become the next prompts, which this returns.
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

    /// Asks the hooks about the next message that has come, unless they are being asked about one.
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

    /// Other hooks listen now: they are asked again, about all messages that have not joined yet.
    pub(crate) fn ask_again(&mut self, session: &mut Session) {
        for message in &mut self.messages {
            if let Review::Asked(effect) = std::mem::replace(&mut message.review, Review::Due) {
                session.cancel(effect);
            }
            message.attached.clear();
        }
    }

    /// Whether hooks are asked about a message by this effect.
    pub(crate) fn waits_for(&self, effect: EffectId) -> bool {
        self.messages.iter().any(|message| matches!(message.review, Review::Asked(asked) if asked == effect))
    }

    /// Takes what is attached to the message that hooks are asked about.
    pub(crate) fn attach(&mut self, effect: EffectId, blocks: Vec<ContentBlock>) {
        let asked = |message: &&mut Message| matches!(message.review, Review::Asked(asked) if asked == effect);
        if let Some(message) = self.messages.iter_mut().find(asked) {
            message.attached.extend(blocks);
        }
    }

    /// Hooks have answered whether a message may join the conversation. Returns why the run is to end, if they want that.
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

    /// A safe point is reached: all messages that have come are awaited there.
    pub(crate) fn halt(&mut self) {
        self.awaited = self.messages.len();
    }

    /// Whether all awaited messages may join.
    pub(crate) fn is_reviewed(&self) -> bool {
        self.messages.iter().take(self.awaited).all(|message| matches!(message.review, Review::Passed(_)))
    }

    /// Takes out the messages that join the conversation at this safe point, each with what the model reads behind it.
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
