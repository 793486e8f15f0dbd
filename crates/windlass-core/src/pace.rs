//! When a run compacts the conversation by itself, and when it stops trying.

use windlass_types::CompactTrigger;

/// Automatic compactions of a run that may fail before no more are tried.
pub(crate) const MOST_FAILURES: u32 = 2;
/// Compactions in a row with no more than one turn between them.
const CLOSE_TOGETHER: u32 = 3;

/// The compactions of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// Whether the model has written no message since the last one.
    unanswered: bool,
    /// The turn of the last one, and how many came close together.
    last: Option<u32>,
    close: u32,
    /// How many automatic ones failed, and the size of the conversation, in tokens, at the last of them.
    failed: u32,
    failed_at: u64,
    /// `true` since one has failed that would fail again.
    has_no_summary: bool,
}

impl Pace {
    /// Whether a conversation of so many tokens should be compacted before the next turn. `limit`: most tokens that it may have,
    /// 0 if that is not known.
    pub(crate) fn is_due(&self, context: u64, limit: u64) -> bool {
        // A conversation that has not become shorter would fail again.
        let is_given_up = self.failed >= MOST_FAILURES && context >= self.failed_at;
        limit > 0 && context > limit && !self.unanswered && !is_given_up
    }

    /// Whether a request that was too long can become shorter: once until the model writes a message.
    pub(crate) fn may_shorten(&self) -> bool {
        !self.unanswered
    }

    /// The model has written a message.
    pub(crate) fn answered(&mut self) {
        self.unanswered = false;
    }

    /// A compaction failed that would fail again.
    pub(crate) fn found_no_summary(&mut self) {
        self.has_no_summary = true;
    }

    /// `true`, once for each failure, if the conversation may be replaced without a summary: none can be made of it.
    pub(crate) fn may_replace_unsummarized(&mut self) -> bool {
        std::mem::take(&mut self.has_no_summary)
    }

    /// Compacts no more until the model has written a message.
    pub(crate) fn skip_next(&mut self) {
        self.unanswered = true;
    }

    /// Counts one. Returns whether the run makes no progress.
    pub(crate) fn spins(&mut self, turn: u32) -> bool {
        let is_close = self.last.is_some_and(|last| turn.saturating_sub(last) <= 1);
        self.close = if is_close { self.close + 1 } else { 1 };
        (self.last, self.unanswered) = (Some(turn), true);
        self.failed = 0;
        self.close > CLOSE_TOGETHER
    }

    /// Counts one that failed. Returns whether it was the last automatic one.
    pub(crate) fn failed(&mut self, trigger: CompactTrigger, context: u64) -> bool {
        if trigger != CompactTrigger::Auto {
            return false;
        }
        self.failed += 1;
        self.failed_at = context;
        self.failed == MOST_FAILURES
    }
}
