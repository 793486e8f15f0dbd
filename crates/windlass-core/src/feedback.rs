//! What hooks want beside an answer to the question that they were asked.

use windlass_types::ContentBlock;

/// What hooks want beside an answer to the question that they were asked.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    /// What the model is to read, with the next texts of the runtime.
    pub(crate) context: Vec<String>,
    /// What the driver attaches to a prompt, behind the context.
    pub(crate) attached: Vec<ContentBlock>,
    /// Why the run ends at its next safe point.
    pub(crate) stop: Option<String>,
}

impl Feedback {
    /// Notes that the run is to end, unless there is a reason already.
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
