//! When a run compacts the conversation, and how it continues then.

use super::{Flow, Phase, Run, fails};
use crate::compaction::{AfterCompaction, Compaction, CompactionStep};
use crate::pace::MOST_FAILURES;
use crate::session::Session;
use windlass_types::{CompactTrigger, Continuation, Outcome, RunFailure, RunFailureKind, Status};

impl Run {
    /// Whether the conversation should be compacted before the next turn.
    pub(super) fn is_compaction_due(&self, session: &Session) -> bool {
        session.config.auto_compact.enabled && self.pace.is_due(session.state.context_tokens(), session.context_limit())
    }

    /// Whether a request that was too long can become shorter: there must be more than the prompt.
    pub(super) fn may_compact_overflow(&self, session: &Session) -> bool {
        session.config.auto_compact.enabled && session.state.transcript().len() >= 2 && self.pace.may_shorten()
    }

    /// Begins a compaction.
    pub(super) fn compact(
        &mut self,
        session: &mut Session,
        trigger: CompactTrigger,
        focus: Option<String>,
        then: AfterCompaction,
    ) -> Flow {
        if session.state.transcript().len() < 2 {
            return self.not_compacted(session, then, "There is nothing to compact yet.");
        }
        let mut compaction = Box::new(Compaction::new(session, trigger, focus, then));
        let step = compaction.begin(session);
        self.phase = Phase::Compacting(compaction);
        self.compaction_step(session, step)
    }

    pub(super) fn compaction_step(&mut self, session: &mut Session, step: CompactionStep) -> Flow {
        let Phase::Compacting(compaction) = &self.phase else { return Flow::Continue(()) };
        let (trigger, then) = (compaction.trigger, compaction.then);
        match step {
            CompactionStep::Waits => Flow::Continue(()),
            CompactionStep::Ends(outcome) => Flow::Break(outcome),
            CompactionStep::Done => self.compacted(session, then),
            CompactionStep::Forbidden(why) => self.compaction_failed(session, then, &why),
            CompactionStep::Failed(why) => {
                if self.pace.failed(trigger, session.state.context_tokens()) {
                    let message = format!(
                        "The conversation could not be compacted {MOST_FAILURES} times. It is not tried again in this \
                         run, which may end when the model's context window is full. Compact it by hand, or begin a \
                         new session."
                    );
                    session.status(Status::Notice { message });
                }
                self.compaction_failed(session, then, &why)
            }
        }
    }

    fn compacted(&mut self, session: &mut Session, then: AfterCompaction) -> Flow {
        let spins = self.pace.spins(session.run.turns);
        match then {
            AfterCompaction::EndOfRun => Flow::Break(Outcome::Success),
            _ if spins => fails(
                RunFailureKind::PromptTooLong,
                "The conversation fills the model's context window again and again, right after it was compacted. \
                 Ask for less at once, or use a model with a larger window.",
            ),
            AfterCompaction::Turn(continuation) => self.call_model(session, continuation),
            AfterCompaction::SameTurn(_) => self.request(session, Continuation::Compacted),
        }
    }

    fn compaction_failed(&mut self, session: &mut Session, then: AfterCompaction, why: &str) -> Flow {
        session.status(Status::CompactionFailed { message: why.to_owned() });
        self.not_compacted(session, then, why)
    }

    /// The conversation stays as it is.
    fn not_compacted(&mut self, session: &mut Session, then: AfterCompaction, why: &str) -> Flow {
        match then {
            AfterCompaction::EndOfRun => fails(RunFailureKind::Compaction, why),
            AfterCompaction::Turn(continuation) => {
                // The turn may still fit. Another try before each turn would cost a call each time.
                self.pace.skip_next();
                self.call_model(session, continuation)
            }
            AfterCompaction::SameTurn(status) => {
                let message = format!(
                    "The conversation is too long for the model, and it cannot be compacted: {why} Begin a new \
                     session, or send less."
                );
                let failure = RunFailure::new(RunFailureKind::PromptTooLong, message).with_status(status);
                Flow::Break(Outcome::Failed(failure))
            }
        }
    }
}
