//! Ends of runs and sessions: with a result, by command, or because of a store failure.

use super::{Activity, Machine};
use crate::run::Flow;
use crate::session::{Session, duration_ms};
use crate::{EffectId, Output, StoreFailure};
use std::time::Duration;
use windlass_types::{EntryKind, EventKind, Outcome, RunFailure, RunFailureKind, RunRecord, RunResult};

/// Maximum silence of the log of a closed session. Unacknowledged entries may be lost then.
const LOG_TIMEOUT: Duration = Duration::from_secs(30);

impl Machine {
    /// Ends the run: its record becomes durable, then the host gets the result.
    pub(super) fn finish(&mut self, outcome: Outcome) {
        let session = &mut self.session;
        let is_handed_over = outcome == Outcome::HandedOver;
        match &mut self.activity {
            Activity::Running(run) if is_handed_over => run.steering.forget(session),
            Activity::Running(run) => self.prompts.defer_first(run.steering.defer(session)),
            _ => {}
        }
        if !is_handed_over {
            let asked = session.run.asked.take();
            session.drop_queued(asked.as_ref());
        }
        let mut result = result(session, outcome);
        let tally = &mut session.run;
        result.text = std::mem::take(&mut tally.last.text);
        result.duration_api_ms = tally.api_ms;
        result.stop_reason = tally.last.stop_reason.take();
        result.permission_denials = std::mem::take(&mut tally.denials);
        result.pending_questions = std::mem::take(&mut tally.questions);
        result.structured_output = tally.last.structured.take();
        result.model_usage.clone_from(session.state.model_usage());
        if is_handed_over {
            // The log has no end of the run, and everything before is durable.
            let append = session.append(Vec::new());
            session.event(EventKind::RunFinished(result), Some(append));
        } else if let Some(run) = session.run.id.clone() {
            let name = outcome_name(&result.outcome);
            let record = RunRecord::new(run, name, result.turns, result.cost, result.model_usage.clone());
            let entry = session.record(None, EntryKind::RunFinished(record));
            let append = session.append(vec![entry]);
            session.event(EventKind::RunFinished(result), Some(append));
        }
        session.run.is_open = false;
        session.end_scope();
        self.activity = Activity::Idle;
    }

    /// Stops the run on behalf of the user.
    pub(super) fn interrupt(&mut self) -> Flow {
        self.report_silence();
        self.session.unread.news.hold();
        let Activity::Running(run) = &mut self.activity else { return Flow::Continue(()) };
        run.interrupt(&mut self.session)
    }

    /// Begins to close the session: stops the run first.
    pub(super) fn order_close(&mut self) -> Flow {
        self.closing = true;
        if self.handing_over {
            return Flow::Continue(());
        }
        self.prompts.clear();
        self.session.drop_all_queued();
        if let Activity::Running(run) = &mut self.activity {
            run.steering.forget(&mut self.session);
        }
        self.interrupt()
    }

    /// Begins to close the session without an end of its run, which another opening continues. The run leaves at its next
    /// safe point.
    pub(super) fn hand_over(&mut self) -> Flow {
        (self.closing, self.handing_over) = (true, true);
        self.prompts.clear();
        let Activity::Running(run) = &mut self.activity else { return Flow::Continue(()) };
        run.hand_over(&mut self.session)
    }

    /// Leaves the run where it is: running calls are stopped, and their outcome is unknown to whoever continues it.
    pub(super) fn hand_over_now(&mut self) {
        if self.handing_over
            && let Activity::Running(run) = &mut self.activity
        {
            run.forsake(&mut self.session);
            self.finish(Outcome::HandedOver);
        }
    }

    /// Makes all remaining entries durable.
    pub(super) fn closed(&mut self) {
        self.activity = Activity::Closed;
        let record = self.session.state.spending().unrecorded();
        let record = record.map(|record| self.session.record(None, EntryKind::RunFinished(record)));
        // A durable append, empty or not: when it is answered, everything before it is durable.
        self.final_append = Some(self.session.append(record.into_iter().collect()));
    }

    /// Handles the answer to an append.
    pub(super) fn appended(&mut self, append: EffectId, result: Result<(), StoreFailure>) {
        self.session.out.heard();
        self.session.out.saved(append);
        match result {
            Ok(()) if !self.session.out.durable(append) => {}
            Ok(()) => {
                if let Activity::Running(run) = &mut self.activity {
                    run.appended(&mut self.session, append);
                }
                if self.final_append == Some(append) {
                    self.session.out.last(Output::Closed);
                }
            }
            Err(failure) => self.broken(failure),
        }
    }

    /// Handles the silence of the log. The host is told before all events that wait for the log; a session that is
    /// being closed ends.
    pub(super) fn log_is_silent(&mut self, silence: Duration) {
        let is_ending = match &self.activity {
            Activity::Rewinding(_) => self.closing,
            activity => matches!(activity, Activity::Closed),
        };
        if is_ending && silence >= LOG_TIMEOUT {
            return self.unanswered(silence);
        }
        if self.session.out.silent_for(silence) {
            self.report_silence();
        }
    }

    /// Ends a closed session whose host does not wait for the log any longer.
    pub(super) fn give_up_log(&mut self, waited: Duration) {
        if self.closing && !self.session.out.unsaved().is_empty() {
            self.unanswered(waited);
        }
    }

    fn unanswered(&mut self, silence: Duration) {
        let unsaved = self.session.out.unsaved();
        self.broken(StoreFailure::unanswered(silence, &unsaved));
    }

    fn report_silence(&mut self) {
        let run = &self.session.run;
        let turn = if run.is_open { run.turns } else { 0 };
        let run = run.id.clone().map(|run| (run, turn));
        self.session.out.report_silence(run);
    }

    /// Handles a store failure: entries that are not durable must not be reported as stored, and no effect may begin.
    pub(super) fn broken(&mut self, failure: StoreFailure) {
        let session = &mut self.session;
        match std::mem::replace(&mut self.activity, Activity::Closed) {
            Activity::Running(mut run) => run.forsake(session),
            Activity::Rewinding(effect) | Activity::Closing(effect) => session.cancel(effect),
            Activity::Idle | Activity::Closed => {}
        }
        session.out.forget_unacknowledged(&failure.message);
        if session.run.is_open {
            let outcome = Outcome::Failed(RunFailure::new(RunFailureKind::Store, failure.message.clone()));
            let result = result(session, outcome);
            session.event(EventKind::RunFinished(result), None);
            session.run.is_open = false;
        }
        self.prompts.clear();
        self.tasks = crate::tasks::Tasks::default();
        session.out.last(Output::Broken(failure));
    }
}

/// Returns a result with the fields common to all run results.
fn result(session: &Session, outcome: Outcome) -> RunResult {
    let tally = &session.run;
    let mut result = RunResult::new(outcome, session.config.ids.session_id.clone());
    result.origin = tally.origin;
    result.turns = tally.turns;
    result.duration_ms = duration_ms(session.now, tally.started);
    result.usage = tally.usage;
    result.cost = session.state.cost();
    result
}

/// Returns the outcome's name in the log and on the wire.
fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Success | Outcome::Refused | Outcome::PromptBlocked { .. } | Outcome::StoppedByHook { .. } => {
            "success"
        }
        Outcome::Pending { .. } => "tool_deferred",
        Outcome::MaxTurns { .. } => "error_max_turns",
        Outcome::MaxBudget { .. } => "error_max_budget_usd",
        Outcome::NoStructuredOutput { .. } => "error_max_structured_output_retries",
        _ => "error_during_execution",
    }
}
