//! Further results of hooks, beside the answer to their event.

use windlass_types::ContentBlock;

/// Further results of hooks, beside the answer to their event.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    /// Texts for the model, sent with the next texts of the runtime.
    pub(crate) context: Vec<String>,
    /// Attachments of the driver to a prompt, placed after the context.
    pub(crate) attached: Vec<ContentBlock>,
    /// Reason to end the run at its next safe point.
    pub(crate) stop: Option<String>,
}

impl Feedback {
    /// Notes the reason to end the run, unless there is one already.
    pub(crate) fn stop(&mut self, reason: Option<String>) {
        if self.stop.is_none() {
            self.stop = reason;
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.context.extend(other.context);
        self.attached.extend(other.attached);
        self.stop(other.stop);
    }
}
