//! Prompts that wait for a run of their own.

use crate::Prompt;
use std::collections::VecDeque;

/// Prompts that wait for a run of their own, in processing order.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    queue: VecDeque<Prompt>,
    /// Number of prompts at the front that were sent to a run that has ended.
    deferred: usize,
}

impl Prompts {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// `true` if messages of an ended run wait.
    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred > 0
    }

    pub(crate) fn push(&mut self, prompt: Prompt) {
        self.queue.push_back(prompt);
    }

    /// Inserts a message after those of an ended run.
    pub(crate) fn defer(&mut self, prompt: Prompt) {
        self.queue.insert(self.deferred.min(self.queue.len()), prompt);
        self.deferred += 1;
    }

    /// Inserts messages of an ended run before all others.
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
