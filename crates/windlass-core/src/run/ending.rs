//! End of a run: safe points, Stop hooks, the structured output, and interrupts by the user.

use super::turns::interrupted_with;
use super::{Flow, Phase, Run, SafePoint};
use crate::compaction::AfterCompaction;
use crate::session::{OutputDemand, Session};
use windlass_context::{foreign_text, runtime_text};
use windlass_types::{Continuation, HookOutcome, Interrupted, Outcome, Status, SteeredFate};

impl Run {
    /// Waits at a safe point for hooks about messages of the user, which may join the conversation here.
    pub(super) fn halt(&mut self, at: SafePoint) -> Flow {
        self.phase = Phase::Halted(at);
        self.steering.halt();
        Flow::Continue(())
    }

    /// Continues from a safe point.
    pub(super) fn leave_safe_point(&mut self, session: &mut Session) -> Flow {
        if self.leaves {
            return Flow::Break(Outcome::HandedOver);
        }
        if let Some(reason) = self.feedback.stop.take() {
            return Flow::Break(Outcome::StoppedByHook { reason });
        }
        let at = match &mut self.phase {
            Phase::Halted(at) => std::mem::replace(at, SafePoint::End),
            _ => return Flow::Continue(()),
        };
        let joined = self.join(session, matches!(at, SafePoint::Tools | SafePoint::Resumed));
        match at {
            SafePoint::Tools if !joined => self.call_model(session, Continuation::ToolResults),
            SafePoint::Resumed if session.state.transcript().is_ready() => {
                self.call_model(session, Continuation::Resumed)
            }
            // Hooks kept out all messages that waited.
            SafePoint::Resumed => Flow::Break(Outcome::Success),
            _ if joined => {
                self.repetition.reset();
                self.call_model(session, Continuation::Steered)
            }
            SafePoint::Stopping(outcome) => self.may_stop(session, *outcome),
            SafePoint::Tools | SafePoint::End => self.ask_to_stop(session),
        }
    }

    /// Records the messages that arrived during the run, and the ends of background tasks. Returns `true` if the model
    /// has to answer any of it. Ends that do not justify another request are left out, unless one follows anyway.
    fn join(&mut self, session: &mut Session, call_follows: bool) -> bool {
        let news = if call_follows { session.record_news() } else { session.record_urgent_news() };
        let mut entries: Vec<_> = news.into_iter().collect();
        let mut joined = Vec::new();
        for (prompt, feedback) in self.steering.join() {
            self.feedback.add(feedback);
            let id = prompt.id.clone();
            let (entry, unqueued) = session.record_prompt(prompt);
            joined.push((id, entry.id.clone()));
            entries.push(entry);
            entries.extend(unqueued);
        }
        if joined.is_empty() {
            let any = !entries.is_empty();
            session.append_unawaited(entries);
            return any && session.state.transcript().is_ready();
        }
        entries.extend(session.record_context(&mut self.feedback));
        let append = session.append(entries);
        for (id, entry) in joined {
            session.steered(id, SteeredFate::Joined { entry }, Some(append));
        }
        session.state.transcript().is_ready()
    }

    /// Runs the Stop hooks, or ends the run: the model is done, and no message of the user waits.
    fn ask_to_stop(&mut self, session: &mut Session) -> Flow {
        if session.config.tools.structured_output.is_some() && session.run.last.structured.is_none() {
            return self.demand_output(session);
        }
        let stopping = session.stopping(self.counts.stop_continuations > 0);
        if !session.config.listens(stopping.event(), None) {
            return Flow::Break(Outcome::Success);
        }
        self.phase = Phase::Stopping(session.run_hooks(stopping));
        Flow::Continue(())
    }

    /// Demands the structured output from the next turn.
    pub(super) fn demand_output(&mut self, session: &mut Session) -> Flow {
        self.may_ask_for_output(session)?;
        if session.run.output != OutputDemand::Refused {
            session.run.output = OutputDemand::Forced;
        }
        self.continue_with(session, runtime_text::OUTPUT_MISSING.to_owned(), Continuation::StructuredOutput)
    }

    /// Counts a turn without the structured output; the run ends after the last one.
    pub(super) fn may_ask_for_output(&mut self, session: &Session) -> Flow {
        self.counts.structured_failures = self.counts.structured_failures.saturating_add(1);
        let attempts = self.counts.structured_failures;
        if attempts > session.config.limits.max_structured_output_retries {
            return Flow::Break(Outcome::NoStructuredOutput { attempts });
        }
        Flow::Continue(())
    }

    /// Handles the outcome of Stop hooks.
    pub(super) fn stop_hooks_answered(&mut self, session: &mut Session, outcome: HookOutcome) -> Flow {
        let event = session.stopping(self.counts.stop_continuations > 0).event();
        session.hooks_ran(event, None, &outcome);
        self.halt(SafePoint::Stopping(Box::new(outcome)))
    }

    /// Ends the run, unless hooks want it to continue.
    fn may_stop(&mut self, session: &mut Session, outcome: HookOutcome) -> Flow {
        let allowed = session.config.limits.max_stop_continuations;
        match (outcome.stop, outcome.block) {
            (Some(reason), _) => Flow::Break(Outcome::StoppedByHook { reason }),
            (None, Some(block)) if self.counts.stop_continuations < allowed => {
                self.counts.stop_continuations += 1;
                let text = format!("{}\n{}", runtime_text::STOP_FEEDBACK, foreign_text(&block.reason));
                self.continue_with(session, text, Continuation::StopHook)
            }
            (None, Some(_)) => {
                session.notice(format!(
                    "a Stop hook wants the run to continue, but hooks had it continue {allowed} times already, which is the \
                     most (`max_stop_continuations`): it ends here"
                ));
                Flow::Break(Outcome::Success)
            }
            (None, None) => Flow::Break(Outcome::Success),
        }
    }

    /// Stops the run on behalf of the user, in any phase.
    pub(crate) fn interrupt(&mut self, session: &mut Session) -> Flow {
        // SessionStart hooks that have not answered are asked again with the next prompt.
        session.opened &= !matches!(self.phase, Phase::Opening(..));
        match &mut self.phase {
            Phase::Tools(batch) => {
                batch.interrupt(session);
                return Flow::Continue(());
            }
            Phase::Joining(parts) => {
                parts.batch.interrupt(session);
                return Flow::Continue(());
            }
            Phase::Calling(turn) => turn.interrupt(session),
            _ => self.abandon(session),
        }
        match &self.phase {
            Phase::Beginning | Phase::Opening(..) | Phase::Submitting(..) => {
                return Flow::Break(Outcome::Interrupted { during: Interrupted::Starting });
            }
            Phase::Compacting(compaction) => {
                session.status(Status::CompactionFailed { message: "It was stopped.".to_owned() });
                if compaction.then == AfterCompaction::EndOfRun {
                    return Flow::Break(Outcome::Interrupted { during: Interrupted::Streaming });
                }
            }
            Phase::Calling(_)
            | Phase::Replacing(_)
            | Phase::Tools(_)
            | Phase::Joining(_)
            | Phase::Halted(_)
            | Phase::Stopping(_) => {}
        }
        interrupted_with(session, runtime_text::INTERRUPTED, Interrupted::Streaming)
    }

    /// Leaves the run without an end, at once or at its next safe point.
    pub(crate) fn hand_over(&mut self, session: &mut Session) -> Flow {
        self.leaves = true;
        match &mut self.phase {
            // Calls of a message are settled first.
            Phase::Tools(_) => return Flow::Continue(()),
            // A prompt that is not in the conversation yet waits like others; one whose calls run cannot.
            Phase::Opening(_, prompt) | Phase::Submitting(_, prompt) => session.store_queued(prompt),
            Phase::Joining(_) => return self.interrupt(session),
            Phase::Calling(turn) => turn.interrupt(session),
            _ => {}
        }
        self.abandon(session);
        Flow::Break(Outcome::HandedOver)
    }

    /// Abandons the run after a store failure, or when it is left at once: all answers are ignored. The usage of an
    /// open model request is booked.
    pub(crate) fn forsake(&mut self, session: &mut Session) {
        if let Some(batch) = self.batch() {
            batch.forget(session);
        }
        self.abandon(session);
        self.steering.forget(session);
    }

    /// Abandons the effect that the phase waits for.
    fn abandon(&mut self, session: &mut Session) {
        match &mut self.phase {
            Phase::Opening(effect, _) | Phase::Submitting(effect, _) | Phase::Stopping(effect) => {
                session.cancel(*effect);
            }
            Phase::Calling(turn) => turn.call.abandon(session),
            Phase::Compacting(compaction) => compaction.interrupt(session),
            Phase::Beginning | Phase::Replacing(_) | Phase::Tools(_) | Phase::Joining(_) | Phase::Halted(_) => {}
        }
    }
}
