//! The questions of a session that can be answered by their id, those of all its agents.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use windlass_session::{SessionStore, StoredQuestion};
use windlass_types::{
    AgentPath, Behavior, Decision, DecisionReason, PermissionAnswer, PermissionRequest, QuestionId, ToolUse, ToolUseId,
};

/// A question that could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No question with this id is open: another answer came first, the call was stopped, or the id is wrong.
    #[error("question {id} is not open: it is answered or withdrawn already, or was never asked in this session")]
    NotOpen {
        /// Id of the question.
        id: QuestionId,
    },
    /// The run that asked has ended and was not continued yet.
    #[error("question {id} waits for its run: call `continue_run`, then answer it")]
    NotContinued {
        /// The id.
        id: QuestionId,
    },
}

/// The open questions of a session, as one of its agents sees them. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenQuestions {
    open: Arc<Mutex<Vec<Open>>>,
    /// Questions that the last run left open. Empty while a run is in progress.
    pending: Arc<Mutex<Vec<PermissionRequest>>>,
    /// The asking agent.
    agent: AgentPath,
}

#[derive(Debug)]
struct Open {
    request: PermissionRequest,
    answer: oneshot::Sender<PermissionAnswer>,
}

impl OpenQuestions {
    /// Returns the same questions, for an agent that this tool use starts.
    pub(crate) fn of_agent(&self, spawned_by: ToolUseId) -> Self {
        let (open, pending) = (Arc::clone(&self.open), Arc::clone(&self.pending));
        Self { open, pending, agent: self.agent.child(spawned_by) }
    }

    /// The path of the asking agent.
    pub(crate) fn agent(&self) -> &AgentPath {
        &self.agent
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a question. It can be answered until the returned value is dropped.
    pub(crate) fn open(&self, request: &PermissionRequest) -> OpenQuestion {
        let (answer, answered) = oneshot::channel();
        let id = request.id.clone();
        let mut request = request.clone();
        request.agent.clone_from(&self.agent);
        self.lock().push(Open { request, answer });
        OpenQuestion { id, all: self.clone(), answered }
    }

    /// Replaces the questions that the last run of the main agent left open. Agents below it name theirs in its result.
    pub(crate) fn leave_pending(&self, questions: Vec<PermissionRequest>) {
        if self.agent.is_main() {
            *self.lock_pending() = questions;
        }
    }

    fn lock_pending(&self) -> MutexGuard<'_, Vec<PermissionRequest>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open questions, in the order in which they were asked.
    pub(crate) fn list(&self) -> Vec<PermissionRequest> {
        let mut questions = self.lock_pending().clone();
        questions.extend(self.lock().iter().map(|open| open.request.clone()));
        questions
    }

    /// Answers a question. Only the first answer is accepted.
    pub(crate) fn answer(&self, id: &QuestionId, answer: PermissionAnswer) -> Result<(), AnswerError> {
        let Some(open) = self.close(id) else {
            let id = id.clone();
            let is_pending = self.lock_pending().iter().any(|request| request.id == id);
            return Err(if is_pending { AnswerError::NotContinued { id } } else { AnswerError::NotOpen { id } });
        };
        open.answer.send(answer).map_err(|_| AnswerError::NotOpen { id: id.clone() })
    }

    fn close(&self, id: &QuestionId) -> Option<Open> {
        let mut open = self.lock();
        let index = open.iter().position(|open| open.request.id == *id)?;
        Some(open.remove(index))
    }
}

/// The requests of stored questions, but for those that another process has answered.
pub(crate) async fn unanswered(store: &dyn SessionStore, questions: &[StoredQuestion]) -> Vec<PermissionRequest> {
    let mut open = Vec::new();
    for stored in questions {
        let answer = match store.answers() {
            Some(answers) => answers.answer_to(&stored.key, &stored.question.id).await.ok().flatten(),
            None => None,
        };
        // An answer that does not count changes nothing.
        if answer.is_none_or(|answer| answer.check(&stored.key, &stored.question).is_err()) {
            open.push(request_of(stored));
        }
    }
    open
}

/// The request that a stored question was asked with, as far as the log keeps it.
fn request_of(stored: &StoredQuestion) -> PermissionRequest {
    let question = &stored.question;
    let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "It was asked before.");
    let call = ToolUse::new(question.tool_use_id.clone(), question.tool.clone(), stored.input.clone());
    let mut request = PermissionRequest::new(call, question.title.clone(), decision, question.digest.clone());
    request.id.clone_from(&question.id);
    request.impact.clone_from(&question.impact);
    (request.agent, request.identity) = (stored.agent.clone(), stored.identity.clone());
    request
}

/// A question that is open until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    id: QuestionId,
    all: OpenQuestions,
    answered: oneshot::Receiver<PermissionAnswer>,
}

impl OpenQuestion {
    /// Returns a closer for use in another task.
    pub(crate) fn closer(&self) -> QuestionCloser {
        QuestionCloser { id: self.id.clone(), all: self.all.clone() }
    }

    /// Waits for the answer.
    pub(crate) async fn answered(&mut self) -> PermissionAnswer {
        match (&mut self.answered).await {
            Ok(answer) => answer,
            // An open question is closed by its answer or by dropping this.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Closes one question, so that no handle answers it any more.
#[derive(Debug)]
pub(crate) struct QuestionCloser {
    id: QuestionId,
    all: OpenQuestions,
}

impl QuestionCloser {
    /// Closes the question. `false` if it was closed already: a handle has answered it.
    pub(crate) fn close(&self) -> bool {
        self.all.close(&self.id).is_some()
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.all.close(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::{CallDigest, JsonText};

    fn request(id: &str) -> PermissionRequest {
        let decision = Decision::new(Behavior::Ask, DecisionReason::Default, "?");
        let call = ToolUse::new(id, "Bash", JsonText::parse("{}").unwrap());
        PermissionRequest::new(call, "ls".into(), decision, CallDigest::new("0"))
    }

    #[tokio::test]
    async fn the_first_answer_counts_and_a_second_one_is_an_error() {
        let questions = OpenQuestions::default();
        let mut open = questions.open(&request("a"));
        let id = QuestionId::from("a");
        assert_eq!(questions.list().len(), 1);
        questions.answer(&id, PermissionAnswer::allow()).unwrap();
        assert!(questions.list().is_empty(), "an answered question is not open");
        assert_eq!(questions.answer(&id, PermissionAnswer::deny("no")), Err(AnswerError::NotOpen { id: id.clone() }));
        assert_eq!(open.answered().await, PermissionAnswer::allow());
    }

    #[test]
    fn a_question_that_is_withdrawn_is_not_open() {
        let questions = OpenQuestions::default();
        let open = questions.open(&request("a"));
        let other = questions.open(&request("b"));
        drop(open);
        assert_eq!(questions.list().iter().map(|open| open.id.as_str().to_owned()).collect::<Vec<_>>(), ["b"]);
        assert!(questions.answer(&"a".into(), PermissionAnswer::allow()).is_err());
        drop(other);
    }

    #[test]
    fn questions_of_agents_name_the_agent() {
        let questions = OpenQuestions::default();
        let agent = questions.of_agent("spawn".into()).of_agent("inner".into());
        let _open = agent.open(&request("a"));
        assert_eq!(questions.list()[0].agent.to_string(), "spawn/inner");
    }
}
