//! Compaction of a run's conversation, and the continuation after it.

use super::{Flow, Phase, Run, fails};
use crate::compaction::{AfterCompaction, Compaction, CompactionStep};
use crate::pace::MOST_FAILURES;
use crate::session::Session;
use windlass_context::estimate_blocks;
use windlass_types::{CompactTrigger, Continuation, Outcome, RunFailure, RunFailureKind, Status, TaskInfo};

impl Run {
    /// Shortens the conversation if the next turn needs that: by notes for old results, then by cutting new ones.
    /// Returns `true` if it should be compacted all the same.
    pub(super) fn is_compaction_due(&self, session: &mut Session) -> bool {
        let is_due = |session: &Session| {
            let size = session.turn_size().most();
            session.config.auto_compact.enabled && self.pace.is_due(size, session.context_limit())
        };
        if !is_due(session) {
            session.fit_results(false);
            return false;
        }
        if session.trim_results() {
            return false;
        }
        session.fit_results(true);
        is_due(session)
    }

    /// `true` if a request that was too long can become shorter: there must be more than the prompt.
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
            CompactionStep::Failed { why, is_lasting } => {
                if is_lasting {
                    self.pace.found_no_summary();
                }
                if self.pace.failed(trigger, session.turn_size().most()) {
                    let message = format!(
                        "The conversation could not be compacted {MOST_FAILURES} times. It is not tried again in this \
                         run, which may end when the model's context window is full. Compact it by hand, or begin a \
                         new session."
                    );
                    session.status(Status::Notice { message });
                }
                let is_over = match then {
                    AfterCompaction::SameTurn(_) => true,
                    AfterCompaction::EndOfRun => session.is_over_window(),
                    AfterCompaction::Turn(_) => false,
                };
                if is_lasting && is_over {
                    session.status(Status::CompactionFailed { message: why });
                    let phase = std::mem::take(&mut self.phase);
                    if let Phase::Compacting(compaction) = phase {
                        self.phase = Phase::Replacing(compaction);
                    }
                    return Flow::Continue(());
                }
                self.compaction_failed(session, then, &why)
            }
        }
    }

    /// `true` if the conversation of a request that was too long may be replaced without a summary: none can be
    /// written, and most of it is not the prompt. The session would be unusable otherwise.
    pub(super) fn may_replace(&mut self, session: &Session) -> bool {
        let has_one_message = session.state.transcript().len() < 2 && self.pace.may_shorten();
        let (all, prompt) = (session.state.context_tokens(), estimate_blocks(session.state.last_prompt()));
        let is_enough = all.saturating_sub(prompt) > session.context_limit() / 4;
        session.config.auto_compact.enabled && is_enough && (has_one_message || self.pace.may_replace_unsummarized())
    }

    /// Replaces the conversation of a request that was too long without a summary.
    pub(super) fn replace(&mut self, session: &Session, status: Option<u16>) -> Flow {
        let then = AfterCompaction::SameTurn(status);
        self.phase = Phase::Replacing(Box::new(Compaction::new(session, CompactTrigger::Overflow, None, then)));
        Flow::Continue(())
    }

    /// Replaces the conversation with the structured data of the log.
    pub(super) fn replaced(&mut self, session: &mut Session, tasks: &[TaskInfo]) -> Flow {
        let Phase::Replacing(compaction) = std::mem::take(&mut self.phase) else { return Flow::Continue(()) };
        compaction.replace_unsummarized(session, tasks);
        session.notice(
            "No summary of the conversation could be written, so the session continues without one, from what is known as data. \
             The log keeps the conversation."
                .to_owned(),
        );
        self.compacted(session, compaction.then)
    }

    fn compacted(&mut self, session: &mut Session, then: AfterCompaction) -> Flow {
        let spins = self.pace.spins(session.run.turns);
        self.repetition.reset();
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

    /// Continues without a compaction.
    fn not_compacted(&mut self, session: &mut Session, then: AfterCompaction, why: &str) -> Flow {
        match then {
            AfterCompaction::EndOfRun => fails(RunFailureKind::Compaction, why),
            AfterCompaction::Turn(continuation) => {
                // The turn may still fit. Another attempt before each turn would cost a request each time.
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
