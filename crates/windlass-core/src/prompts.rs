//! The prompts that wait for a run of their own.

use crate::Prompt;
use std::collections::VecDeque;

/// The prompts that wait for a run of their own, in the order in which they are taken.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    queue: VecDeque<Prompt>,
    /// How many of them were sent to a run that has ended: the first ones.
    deferred: usize,
}

impl Prompts {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether messages of a run that has ended wait.
    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred > 0
    }

    pub(crate) fn push(&mut self, prompt: Prompt) {
        self.queue.push_back(prompt);
    }

    /// Adds a message behind those of a run that has ended.
    pub(crate) fn defer(&mut self, prompt: Prompt) {
        self.queue.insert(self.deferred.min(self.queue.len()), prompt);
        self.deferred += 1;
    }

    /// Adds messages of a run that has ended, before all others.
    pub(crate) fn defer_first(&mut self, prompts: Vec<Prompt>) {
        self.deferred += prompts.len();
        for prompt in prompts.into_iter().rev() {
            self.queue.push_front(prompt);
        }
    }

    pub(crate) fn next(&mut self) -> Option<Prompt> {
        self.deferred = self.deferred.saturating_sub(1);
        self.queue.pop_front()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
