//! Compaction of a run's conversation, and the continuation after it.

use super::{Flow, Phase, Run, fails};
use crate::compaction::{AfterCompaction, Compaction, CompactionStep};
use crate::pace::MOST_FAILURES;
use crate::session::Session;
use windlass_context::estimate_blocks;
use windlass_types::{CompactTrigger, Continuation, Outcome, RunFailure, RunFailureKind, Status, TaskInfo};

impl Run {
    /// Shortens results if the next turn would not fit: notes replace old results first, then new results are cut.
    /// Returns `true` if the conversation is still too long and has to be compacted.
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

    /// `true` if compaction can shorten a request that was too long. A lone prompt cannot be compacted.
    pub(super) fn may_compact_overflow(&self, session: &Session) -> bool {
        session.config.auto_compact.enabled && session.state.transcript().len() >= 2 && self.pace.may_shorten()
    }

    /// Begins a compaction.
    pub(super) fn compact(
        &mut self,
        session: &mut Session,
        trigger: CompactTrigger,
        focus: Option<String>,
        follow_up: AfterCompaction,
    ) -> Flow {
        if session.state.transcript().len() < 2 {
            return self.continue_uncompacted(session, follow_up, "There is nothing to compact yet.");
        }
        let mut compaction = Box::new(Compaction::new(session, trigger, focus, follow_up));
        let step = compaction.begin(session);
        self.phase = Phase::Compacting(compaction);
        self.compaction_step(session, step)
    }

    pub(super) fn compaction_step(&mut self, session: &mut Session, step: CompactionStep) -> Flow {
        let Phase::Compacting(compaction) = &self.phase else { return Flow::Continue(()) };
        let (trigger, follow_up) = (compaction.trigger, compaction.then);
        match step {
            CompactionStep::Waits => Flow::Continue(()),
            CompactionStep::Ends(outcome) => Flow::Break(outcome),
            CompactionStep::Done => self.continue_after_compaction(session, follow_up),
            CompactionStep::Forbidden(reason) => self.compaction_failed(session, follow_up, &reason),
            CompactionStep::Failed { why: reason, is_lasting } => {
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
                let exceeds_window = match follow_up {
                    AfterCompaction::SameTurn(_) => true,
                    AfterCompaction::EndOfRun => session.is_over_window(),
                    AfterCompaction::Turn(_) => false,
                };
                if is_lasting && exceeds_window {
                    session.status(Status::CompactionFailed { message: reason });
                    let phase = std::mem::take(&mut self.phase);
                    if let Phase::Compacting(compaction) = phase {
                        self.phase = Phase::Replacing(compaction);
                    }
                    return Flow::Continue(());
                }
                self.compaction_failed(session, follow_up, &reason)
            }
        }
    }

    /// `true` if the conversation may be replaced without a summary after a request was too long. That needs a failed
    /// summary or a single message, and more than a quarter of the token limit outside the prompt. Without the
    /// replacement the session would be unusable.
    pub(super) fn may_replace(&mut self, session: &Session) -> bool {
        let has_one_message = session.state.transcript().len() < 2 && self.pace.may_shorten();
        let (total_tokens, prompt_tokens) =
            (session.state.context_tokens(), estimate_blocks(session.state.last_prompt()));
        let is_enough = total_tokens.saturating_sub(prompt_tokens) > session.context_limit() / 4;
        session.config.auto_compact.enabled && is_enough && (has_one_message || self.pace.may_replace_unsummarized())
    }

    /// Enters the phase that replaces the conversation without a summary, after a request was too long.
    pub(super) fn replace(&mut self, session: &Session, status: Option<u16>) -> Flow {
        let follow_up = AfterCompaction::SameTurn(status);
        self.phase = Phase::Replacing(Box::new(Compaction::new(session, CompactTrigger::Overflow, None, follow_up)));
        Flow::Continue(())
    }

    /// Replaces the conversation with the structured data of the log, and continues the run.
    pub(super) fn replaced(&mut self, session: &mut Session, tasks: &[TaskInfo]) -> Flow {
        let Phase::Replacing(compaction) = std::mem::take(&mut self.phase) else { return Flow::Continue(()) };
        compaction.replace_unsummarized(session, tasks);
        session.notice(
            "No summary of the conversation could be written, so the session continues without one, from what is known as data. \
             The log keeps the conversation."
                .to_owned(),
        );
        self.continue_after_compaction(session, compaction.then)
    }

    fn continue_after_compaction(&mut self, session: &mut Session, follow_up: AfterCompaction) -> Flow {
        let is_looping = self.pace.spins(session.run.turns);
        self.repetition.reset();
        match follow_up {
            AfterCompaction::EndOfRun => Flow::Break(Outcome::Success),
            _ if is_looping => fails(
                RunFailureKind::PromptTooLong,
                "The conversation fills the model's context window again and again, right after it was compacted. \
                 Ask for less at once, or use a model with a larger window.",
            ),
            AfterCompaction::Turn(continuation) => self.call_model(session, continuation),
            AfterCompaction::SameTurn(_) => self.request(session, Continuation::Compacted),
        }
    }

    fn compaction_failed(&mut self, session: &mut Session, follow_up: AfterCompaction, reason: &str) -> Flow {
        session.status(Status::CompactionFailed { message: reason.to_owned() });
        self.continue_uncompacted(session, follow_up, reason)
    }

    /// Continues the run after a compaction that failed or had nothing to do: with the next turn, or with a failure.
    fn continue_uncompacted(&mut self, session: &mut Session, follow_up: AfterCompaction, reason: &str) -> Flow {
        match follow_up {
            AfterCompaction::EndOfRun => fails(RunFailureKind::Compaction, reason),
            AfterCompaction::Turn(continuation) => {
                // The turn may still fit. The next attempt is skipped, because each failed attempt costs a request.
                self.pace.skip_next();
                self.call_model(session, continuation)
            }
            AfterCompaction::SameTurn(status) => {
                let message = format!(
                    "The conversation is too long for the model, and it cannot be compacted: {reason} Begin a new \
                     session, or send less."
                );
                let failure = RunFailure::new(RunFailureKind::PromptTooLong, message).with_status(status);
                Flow::Break(Outcome::Failed(failure))
            }
        }
    }
}
