//! Hooks that run when all calls of a message are answered.

use super::Batch;
use super::call::{Call, Settled, Stage};
use crate::EffectId;
use crate::session::Session;
use windlass_types::hook::event::{BatchCall, PostToolBatch};
use windlass_types::{HookEventName, HookOutcome, JsonText};

/// State of the hooks that are asked about all calls.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Review {
    /// Not yet.
    #[default]
    Due,
    /// Being asked.
    Asking(EffectId),
    /// Answered, or not asked any more.
    Over,
}

impl Review {
    pub(super) fn waits_for(self, effect: EffectId) -> bool {
        self == Self::Asking(effect)
    }

    /// Discards an awaited answer.
    pub(super) fn forget(self, session: &mut Session) {
        if let Self::Asking(effect) = self {
            session.cancel(effect);
        }
    }
}

impl Batch {
    /// `true` while hooks are being asked about all calls.
    pub(super) fn is_reviewed(&self) -> bool {
        matches!(self.review, Review::Asking(_))
    }

    /// Asks the hooks about all calls once these are answered.
    pub(super) fn ask_about_all(&mut self, session: &mut Session) {
        let listens = || session.config.listens(HookEventName::PostToolBatch, None);
        // The calls of a prompt are in no message.
        let is_due = self.review == Review::Due && self.is_done() && !self.interrupted;
        if is_due && self.calls.iter().any(|call| !call.of_prompt) && listens() {
            let tool_calls = self.calls.iter().filter(|call| call.made.is_none()).map(answered).collect();
            self.review = Review::Asking(session.run_hooks(PostToolBatch { tool_calls }));
        }
    }

    /// Handles the outcome of the hooks. A hook that blocks ends the run.
    pub(super) fn reviewed(&mut self, session: &mut Session, outcome: &HookOutcome) {
        self.review = Review::Over;
        session.hooks_ran(HookEventName::PostToolBatch, None, outcome);
        let block = outcome.block.as_ref().map(|block| block.reason.clone());
        self.notes.feedback.context.extend(outcome.additional_context.iter().cloned());
        self.notes.feedback.stop(outcome.stop.clone().or(block));
    }

    /// Cancels the hooks: the user stopped the run.
    pub(super) fn end_review(&mut self, session: &mut Session) {
        std::mem::replace(&mut self.review, Review::Over).forget(session);
    }
}

/// Returns a call as hooks see it.
fn answered(call: &Call) -> BatchCall {
    let given = match &call.stage {
        Stage::Settled(Settled { given, .. }) => given.as_ref(),
        _ => None,
    };
    BatchCall {
        tool_name: call.original.name.clone(),
        tool_input: call.input.clone(),
        tool_use_id: call.original.id.clone(),
        tool_response: given.and_then(|given| JsonText::of(given).ok()),
    }
}
