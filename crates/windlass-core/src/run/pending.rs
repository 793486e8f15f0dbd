//! Runs that wait for answers, or were cut: their end, and their continuation.

use super::opening::INVALID;
use super::{Flow, Phase, Run, SafePoint, fails};
use crate::batch::Batch;
use crate::session::Session;
use windlass_types::{EntryKind, Outcome, RunFailureKind, RunScope};

/// Maximum number of times that a run is resumed without progress.
const MAX_RESUMES: u32 = 3;

impl Run {
    /// Ends the run while only calls with open permission requests are left.
    pub(super) fn suspended(&mut self, session: &mut Session) -> Flow {
        let Some(batch) = self.batch() else { return Flow::Continue(()) };
        let requests = batch.open_questions();
        let notes = std::mem::take(&mut batch.notes);
        self.feedback.add(notes.feedback);
        let context = session.record_context(&mut self.feedback);
        session.append_unawaited(context.into_iter().collect());
        let questions = requests.iter().map(|request| request.id.clone()).collect();
        session.run.questions = requests;
        Flow::Break(Outcome::Pending { questions })
    }

    /// Continues the last run where the log ends: its waiting calls are decided anew, or the model is called.
    pub(super) fn continue_run(&mut self, session: &mut Session) -> Flow {
        let (batch, open) = (Batch::continued(session), session.state.last_run().open());
        if batch.is_empty() && open.is_none() && self.steering.is_empty() {
            let text = "There is nothing to continue: the last run of this session has ended, and no question of it waits for \
                        an answer.";
            return fails(INVALID, text);
        }
        if let (Some(run), Some(of)) = (session.run.id.clone(), session.state.last_run().id().cloned()) {
            let turns = open.as_ref().map_or(0, |open| open.turns);
            let entry = session.record(None, EntryKind::RunResumed { run, of, turns });
            session.append(vec![entry]);
        }
        session.prompt = session.state.last_prompt_id().cloned();
        if !batch.is_empty() {
            return self.continue_calls(session, batch);
        }
        // Messages that an earlier opening accepted are there, or else a run to continue.
        let Some(open) = open else { return self.halt(SafePoint::Resumed) };
        if open.resumes >= MAX_RESUMES {
            let text = format!(
                "The run was resumed {MAX_RESUMES} times without a message of the model or a result, so it is set aside. Send \
                 a new prompt to go on."
            );
            return fails(RunFailureKind::NoProgress, text);
        }
        session.run.turns = open.turns;
        let Some(stop_reason) = open.answered else { return self.halt(SafePoint::Resumed) };
        session.run.last.text = session.state.last_answer();
        session.run.last.stop_reason = Some(stop_reason.clone());
        self.message_complete(session, &stop_reason)
    }

    /// Decides the calls anew whose permission requests an earlier run left open.
    fn continue_calls(&mut self, session: &mut Session, batch: Batch) -> Flow {
        let mut scope = RunScope::default();
        let open = session.state.pending_questions();
        let question_scopes = open.iter().map(|question| (&question.denied, &question.skills));
        for (denied, skills) in question_scopes.chain(open.waiting_calls().map(|call| (&call.denied, &call.skills))) {
            scope.deny.extend(denied.iter().cloned());
            scope.skills.extend(skills.iter().cloned());
        }
        if let Err(error) = session.begin_scope(scope) {
            return fails(INVALID, format!("The run cannot be continued: {error}"));
        }
        self.phase = Phase::Tools(batch);
        Flow::Continue(())
    }

    /// Answers waiting calls as not approved: the user sends something else in place of answers.
    pub(super) fn withdraw_questions(&mut self, session: &mut Session) {
        if session.state.transcript().has_open_calls() {
            Batch::continued(session).withdraw(session);
        }
    }
}
