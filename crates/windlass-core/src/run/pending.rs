//! Runs that wait for answers: their end, and their continuation.

use super::opening::INVALID;
use super::{Flow, Phase, Run, fails};
use crate::batch::Batch;
use crate::session::Session;
use windlass_types::{Outcome, RunScope};

impl Run {
    /// Ends the run while only calls with open permission requests are left.
    pub(super) fn suspended(&mut self, session: &mut Session) -> Flow {
        let Some(batch) = self.batch() else { return Flow::Continue(()) };
        let asked = batch.open_questions();
        let notes = std::mem::take(&mut batch.notes);
        self.feedback.add(notes.feedback);
        let context = session.record_context(&mut self.feedback);
        session.append_unawaited(context.into_iter().collect());
        let questions = asked.iter().map(|request| request.id.clone()).collect();
        session.run.questions = asked;
        Flow::Break(Outcome::Pending { questions })
    }

    /// Decides the calls anew whose permission requests an earlier run left open.
    pub(super) fn continue_calls(&mut self, session: &mut Session) -> Flow {
        let batch = Batch::continued(session);
        if batch.is_empty() {
            return fails(INVALID, "There is nothing to continue: no question of this session waits for an answer.");
        }
        let mut scope = RunScope::default();
        let open = session.state.pending_questions();
        let of_questions = open.iter().map(|question| (&question.denied, &question.skills));
        for (denied, skills) in of_questions.chain(open.waiting_calls().map(|call| (&call.denied, &call.skills))) {
            scope.deny.extend(denied.iter().cloned());
            scope.skills.extend(skills.iter().cloned());
        }
        if let Err(error) = session.begin_scope(scope) {
            return fails(INVALID, format!("The run cannot be continued: {error}"));
        }
        session.prompt = session.state.last_prompt_id().cloned();
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
