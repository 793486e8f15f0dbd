//! Conditions for automatic compactions of a run, and for giving up on them.

use windlass_types::CompactTrigger;

/// Number of failed automatic compactions after which a run tries no more.
pub(crate) const MOST_FAILURES: u32 = 2;
/// Maximum number of consecutive compactions with at most one turn between them.
const MAX_CLOSE_COMPACTIONS: u32 = 3;

/// Compactions of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    /// `true` if the model has written no message since the last compaction.
    unanswered: bool,
    /// Turn of the last compaction, and the number of consecutive ones close together.
    last: Option<u32>,
    consecutive: u32,
    /// Number of failed automatic compactions, and the size of the conversation, in tokens, at the last of them.
    failed: u32,
    failed_at: u64,
    /// `true` since a compaction has failed that would fail again.
    has_no_summary: bool,
}

impl Pace {
    /// `true` if a conversation of this size should be compacted before the next turn. `context` and `limit` are in
    /// tokens; a limit of 0 means unknown.
    pub(crate) fn is_due(&self, context: u64, limit: u64) -> bool {
        // A conversation that has not become shorter would fail again.
        let is_given_up = self.failed >= MOST_FAILURES && context >= self.failed_at;
        limit > 0 && context > limit && !self.unanswered && !is_given_up
    }

    /// `true` if a request that was too long can become shorter: once until the model writes a message.
    pub(crate) fn may_shorten(&self) -> bool {
        !self.unanswered
    }

    /// Records a message of the model.
    pub(crate) fn answered(&mut self) {
        self.unanswered = false;
    }

    /// Records a failed compaction that would fail again.
    pub(crate) fn found_no_summary(&mut self) {
        self.has_no_summary = true;
    }

    /// `true`, once for each failure, if the conversation may be replaced without a summary because none can be
    /// written.
    pub(crate) fn may_replace_unsummarized(&mut self) -> bool {
        std::mem::take(&mut self.has_no_summary)
    }

    /// Stops compacting until the model has written a message.
    pub(crate) fn skip_next(&mut self) {
        self.unanswered = true;
    }

    /// Records a compaction. Returns `true` if the run makes no progress.
    pub(crate) fn spins(&mut self, turn: u32) -> bool {
        let is_close = self.last.is_some_and(|last| turn.saturating_sub(last) <= 1);
        self.consecutive = if is_close { self.consecutive + 1 } else { 1 };
        (self.last, self.unanswered) = (Some(turn), true);
        self.failed = 0;
        self.consecutive > MAX_CLOSE_COMPACTIONS
    }

    /// Records a failed compaction. Returns `true` if it was the last automatic one.
    pub(crate) fn failed(&mut self, trigger: CompactTrigger, context: u64) -> bool {
        if trigger != CompactTrigger::Auto {
            return false;
        }
        self.failed += 1;
        self.failed_at = context;
        self.failed == MOST_FAILURES
    }
}
