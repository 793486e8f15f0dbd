//! Turns of a run: model requests, and the consequences of their messages.

use super::{Flow, Phase, Run, SafePoint, fails};
use crate::ModelFailure;
use crate::batch::is_cut;
use crate::compaction::AfterCompaction;
use crate::repetition::CallTrace;
use crate::retry::advice;
use crate::session::{OutputDemand, Session};
use crate::turn::{Turn, TurnStep};
use windlass_context::runtime_text;
use windlass_types::text::sentence;
use windlass_types::{
    CompactTrigger, ContentBlock, Continuation, Interrupted, ModelErrorKind, Outcome, RunFailure, RunFailureKind,
    StopReason, UserEntry,
};

/// Maximum number of consecutive repeats of a request because of a malformed call.
const MAX_MALFORMED_CALLS: u32 = 2;
/// Maximum number of consecutive pauses of the API before the run fails.
const MAX_PAUSES: u32 = 10;

impl Run {
    /// Begins a turn, unless a limit forbids it.
    pub(super) fn call_model(&mut self, session: &mut Session, continuation: Continuation) -> Flow {
        if self.leaves {
            return Flow::Break(Outcome::HandedOver);
        }
        session.drop_media(false);
        if self.is_compaction_due(session) {
            return self.compact(session, CompactTrigger::Auto, None, AfterCompaction::Turn(continuation));
        }
        if let Some(limit) = session.config.limits.max_turns.filter(|limit| session.run.turns >= *limit) {
            return Flow::Break(Outcome::MaxTurns { limit });
        }
        session.run.turns += 1;
        self.request(session, continuation)
    }

    /// Sends the request of a turn.
    pub(super) fn request(&mut self, session: &mut Session, continuation: Continuation) -> Flow {
        session.append_environment();
        session.append_reminders();
        let mut turn = Box::new(Turn::new(continuation));
        let step = turn.send(session);
        self.phase = Phase::Calling(turn);
        self.turn_step(session, step)
    }

    pub(super) fn turn_step(&mut self, session: &mut Session, step: TurnStep) -> Flow {
        match step {
            TurnStep::Waits => Flow::Continue(()),
            TurnStep::Complete(stop_reason) => self.message_complete(session, &stop_reason),
            // Terminates: each time fewer results can be replaced by notes.
            TurnStep::TooLong(_) if self.may_compact_overflow(session) && session.trim_overflow() => {
                self.request(session, Continuation::Compacted)
            }
            // Only once: a compacted conversation that is still too long stays so.
            TurnStep::TooLong(failure) if self.may_compact_overflow(session) => {
                let then = AfterCompaction::SameTurn(failure.status);
                self.compact(session, CompactTrigger::Overflow, None, then)
            }
            TurnStep::TooLong(failure) if self.may_replace(session) => self.replace(session, failure.status),
            TurnStep::TooLong(failure) => give_up(RunFailureKind::PromptTooLong, &failure),
            // Terminates: each time at least a quarter of the rest is dropped.
            TurnStep::Failed(failure)
                if failure.kind == ModelErrorKind::RequestTooLarge && session.drop_media(true) =>
            {
                self.request(session, Continuation::Retry)
            }
            // Some models accept neither a response format nor a forced call.
            TurnStep::Failed(failure)
                if failure.kind == ModelErrorKind::InvalidRequest && session.run.output == OutputDemand::Forced =>
            {
                session.run.output = OutputDemand::Refused;
                self.request(session, Continuation::Retry)
            }
            TurnStep::Failed(failure) => give_up(RunFailureKind::Model(failure.kind), &failure),
            TurnStep::Ends(outcome) => Flow::Break(outcome),
        }
    }

    /// Commits the calls of a complete and stored message.
    pub(super) fn message_complete(&mut self, session: &mut Session, stop_reason: &StopReason) -> Flow {
        self.pace.answered();
        if session.run.output == OutputDemand::Forced {
            session.run.output = OutputDemand::None;
        }
        if !is_cut(stop_reason) {
            self.counts.output_continuations = 0;
        }
        if *stop_reason != StopReason::PauseTurn {
            self.counts.pauses = 0;
        }
        if *stop_reason != StopReason::MalformedToolCall {
            self.counts.malformed_calls = 0;
        }
        let mut batch = self.batch().map(std::mem::take).unwrap_or_default();
        if !batch.is_empty() {
            batch.commit(session);
            self.phase = Phase::Tools(batch);
            return Flow::Continue(());
        }
        match stop_reason {
            StopReason::Refusal | StopReason::ContentFilter => Flow::Break(Outcome::Refused),
            StopReason::MalformedToolCall => self.ask_for_valid_call(session),
            StopReason::PauseTurn => self.continue_paused(session),
            cut if is_cut(cut) => self.continue_output(session),
            _ => self.halt(SafePoint::End),
        }
    }

    /// Asks the model to continue an answer cut by the output limit, a bounded number of times.
    fn continue_output(&mut self, session: &mut Session) -> Flow {
        let allowed = session.config.limits.max_output_continuations;
        let is_output_missing =
            session.config.tools.structured_output.is_some() && session.run.last.structured.is_none();
        if self.counts.output_continuations >= allowed && is_output_missing && self.counts.structured_failures == 0 {
            // The run needs the output, and a model that keeps writing would never produce it.
            return self.demand_output(session);
        }
        if self.counts.output_continuations >= allowed {
            let text = format!(
                "The answer was cut by the output limit {} times in a row. Raise the limit of output tokens, or ask \
                 for less at once.",
                allowed + 1
            );
            return fails(RunFailureKind::OutputLimit, text);
        }
        self.counts.output_continuations += 1;
        self.continue_with(session, runtime_text::CONTINUE.to_owned(), Continuation::MaxOutput)
    }

    /// Continues a turn that the API has paused, a bounded number of times.
    fn continue_paused(&mut self, session: &mut Session) -> Flow {
        if self.counts.pauses >= MAX_PAUSES {
            let text = format!(
                "The API paused the turn {} times in a row without finishing it. Ask for less at once, or try another model.",
                MAX_PAUSES + 1
            );
            return fails(RunFailureKind::OutputLimit, text);
        }
        self.counts.pauses += 1;
        self.continue_with(session, runtime_text::PAUSED.to_owned(), Continuation::PauseTurn)
    }

    /// Asks the model for a malformed call again, a bounded number of times.
    fn ask_for_valid_call(&mut self, session: &mut Session) -> Flow {
        if self.counts.malformed_calls >= MAX_MALFORMED_CALLS {
            let text = format!(
                "The model wrote a tool call that cannot be read {} times in a row. Try another model, or ask for \
                 less at once.",
                MAX_MALFORMED_CALLS + 1
            );
            return fails(RunFailureKind::RepeatedToolFailure, text);
        }
        self.counts.malformed_calls += 1;
        self.continue_with(session, runtime_text::MALFORMED_CALL.to_owned(), Continuation::Retry)
    }

    /// Calls the model again, with a text of the runtime.
    pub(super) fn continue_with(&mut self, session: &mut Session, text: String, continuation: Continuation) -> Flow {
        let entry = session.record_runtime_texts(vec![ContentBlock::text(text)]);
        session.append_unawaited(vec![entry]);
        self.call_model(session, continuation)
    }

    /// Continues after all calls are answered.
    pub(super) fn after_tools(&mut self, session: &mut Session) -> Flow {
        let Phase::Tools(batch) = &mut self.phase else { return Flow::Continue(()) };
        let (all_failed, interrupted) = (batch.all_failed(), batch.is_interrupted());
        let notes = std::mem::take(&mut batch.notes);
        self.feedback.add(notes.feedback);
        let context = session.record_context(&mut self.feedback);
        session.append_unawaited(context.into_iter().collect());
        // A server may have joined meanwhile.
        let instructions = session.record_instructions();
        session.append_unawaited(instructions.into_iter().collect());
        self.counts.failing_turns = if all_failed { self.counts.failing_turns + 1 } else { 0 };
        let failing = self.counts.failing_turns;
        if interrupted {
            return interrupted_with(session, runtime_text::INTERRUPTED_TOOLS, Interrupted::Tools);
        }
        if let Some(reason) = self.feedback.stop.take() {
            return Flow::Break(Outcome::StoppedByHook { reason });
        }
        if matches!(session.run.last.stop_reason, Some(StopReason::Refusal | StopReason::ContentFilter)) {
            return Flow::Break(Outcome::Refused);
        }
        if failing >= session.config.limits.max_failing_turns {
            let text = format!("Every tool call of the last {failing} turns failed, so the run was stopped.");
            return fails(RunFailureKind::RepeatedToolFailure, text);
        }
        self.check_repetition(session, notes.traces)?;
        match notes.output {
            None => self.halt(SafePoint::Tools),
            Some(true) => self.halt(SafePoint::End),
            Some(false) => {
                self.may_ask_for_output(session)?;
                self.halt(SafePoint::Tools)
            }
        }
    }

    /// Reminds the model once it repeats itself, and ends the run if it goes on doing so.
    fn check_repetition(&mut self, session: &mut Session, turn: Vec<CallTrace>) -> Flow {
        let (repeated, limit) = (self.repetition.add(turn), session.config.limits.max_repeated_turns);
        if limit > 0 && repeated >= limit {
            let text = format!(
                "The last {repeated} turns only repeated calls that had been made before with the same results, so the \
                 run was stopped. Tell the model what is missing, or ask for something else."
            );
            return fails(RunFailureKind::NoProgress, text);
        }
        if limit > 0 && repeated == limit.div_ceil(10) {
            let entry = session.record_runtime_texts(vec![ContentBlock::text(runtime_text::REPEATED_CALLS.to_owned())]);
            session.append_unawaited(vec![entry]);
        }
        Flow::Continue(())
    }
}

/// Records the user's interrupt, which the model reads with the next prompt.
pub(super) fn interrupted_with(session: &mut Session, text: &str, during: Interrupted) -> Flow {
    let entry = session.record_user(UserEntry::new(vec![ContentBlock::text(text)]));
    session.append_unawaited(vec![entry]);
    Flow::Break(Outcome::Interrupted { during })
}

fn give_up(kind: RunFailureKind, failure: &ModelFailure) -> Flow {
    let message = match advice(failure.kind) {
        Some(advice) => format!("{} {advice}", sentence(&failure.message)),
        None => failure.message.clone(),
    };
    Flow::Break(Outcome::Failed(RunFailure::new(kind, message).with_status(failure.status)))
}
