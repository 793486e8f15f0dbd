//! Elicitations that are answered by their id.

use crate::{Elicitation, ElicitationAnswer, ElicitationRequest};
use async_trait::async_trait;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{oneshot, watch};
use windlass_types::QuestionId;

/// Open elicitations of servers, for programs that answer later and from another place: a browser, another task. Clones
/// share them. Given to [`McpOptions::with_elicitation`](crate::McpOptions::with_elicitation).
///
/// ```
/// use std::sync::Arc;
/// # mod windlass { pub mod mcp { pub use windlass_mcp::*; } }
/// use windlass::mcp::{McpOptions, McpServers, OpenElicitations};
///
/// let questions = OpenElicitations::new();
/// let servers = McpServers::new(McpOptions::new().with_elicitation(Arc::new(questions.clone())));
/// // Wherever answers come from:
/// for open in questions.list() {
///     println!("{}: {} asks: {}", open.id, open.request.server, open.request.message);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct OpenElicitations(Arc<ElicitationState>);

#[derive(Debug)]
struct ElicitationState {
    open: Mutex<ElicitationQueue>,
    changes: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct ElicitationQueue {
    asked: u64,
    open: Vec<WaitingElicitation>,
}

#[derive(Debug)]
struct WaitingElicitation {
    question: OpenElicitation,
    answer: oneshot::Sender<ElicitationAnswer>,
}

/// Open elicitation of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenElicitation {
    /// Id that an answer names. Unique among the clones of one [`OpenElicitations`].
    pub id: QuestionId,
    /// Question, and the server that asks it.
    pub request: ElicitationRequest,
}

/// Error of an answer to an elicitation that is not open: it was answered or withdrawn already, or was never asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("question {id} of a server is not open: it is answered or withdrawn already, or was never asked")]
#[non_exhaustive]
pub struct ElicitationNotOpen {
    /// Id that was not found.
    pub id: QuestionId,
}

impl OpenElicitations {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self(Arc::new(ElicitationState { open: Mutex::default(), changes: watch::Sender::new(()) }))
    }

    fn lock(&self) -> MutexGuard<'_, ElicitationQueue> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open elicitations, in the order in which they were asked.
    pub fn list(&self) -> Vec<OpenElicitation> {
        self.lock().open.iter().map(|waiting| waiting.question.clone()).collect()
    }

    /// Answers an elicitation. The first answer wins.
    ///
    /// # Errors
    /// Fails if the elicitation is not open.
    pub fn answer(&self, id: &QuestionId, answer: ElicitationAnswer) -> Result<(), ElicitationNotOpen> {
        let waiting = self.close(id).ok_or_else(|| ElicitationNotOpen { id: id.clone() })?;
        waiting.answer.send(answer).map_err(|_| ElicitationNotOpen { id: id.clone() })
    }

    /// Waits until an elicitation is asked, answered or withdrawn. The future sees every change from this call on, also
    /// before it is polled. Cancel safe.
    pub fn changed(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut changes = self.0.changes.subscribe();
        let shared = Arc::clone(&self.0);
        async move {
            // The sender lives as long as this future.
            let _ = changes.changed().await;
            drop(shared);
        }
    }

    fn close(&self, id: &QuestionId) -> Option<WaitingElicitation> {
        let mut state = self.lock();
        let at = state.open.iter().position(|waiting| waiting.question.id == *id)?;
        let waiting = state.open.remove(at);
        drop(state);
        self.0.changes.send_replace(());
        Some(waiting)
    }
}

impl Default for OpenElicitations {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Elicitation for OpenElicitations {
    async fn elicit(&self, request: ElicitationRequest) -> ElicitationAnswer {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut state = self.lock();
            state.asked += 1;
            let id = QuestionId::from(format!("elicitation-{}", state.asked));
            state.open.push(WaitingElicitation { question: OpenElicitation { id: id.clone(), request }, answer });
            id
        };
        self.0.changes.send_replace(());
        let _withdrawn = Withdrawn { questions: self, id };
        answered.await.unwrap_or(ElicitationAnswer::Cancel)
    }
}

/// Guard that closes the elicitation when the server no longer waits for it.
struct Withdrawn<'a> {
    questions: &'a OpenElicitations,
    id: QuestionId,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        self.questions.close(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElicitationKind;

    fn request(message: &str) -> ElicitationRequest {
        let kind = ElicitationKind::Url { url: "https://example.com".into(), id: String::new() };
        ElicitationRequest::new("server", message, kind)
    }

    /// Starts a server that waits for an answer, and returns once its elicitation is open.
    async fn ask(questions: &OpenElicitations) -> tokio::task::JoinHandle<ElicitationAnswer> {
        let (asked, questions) = (questions.changed(), questions.clone());
        let asking = tokio::spawn(async move { questions.elicit(request("Who?")).await });
        asked.await;
        asking
    }

    #[tokio::test]
    async fn a_question_waits_for_an_answer_by_its_id() {
        let questions = OpenElicitations::new();
        let asking = ask(&questions).await;
        let open = questions.list();
        assert_eq!((open.len(), open[0].request.message.as_str()), (1, "Who?"));
        questions.answer(&open[0].id, ElicitationAnswer::Decline).unwrap();
        assert_eq!(asking.await.unwrap(), ElicitationAnswer::Decline);
        assert!(questions.list().is_empty());
        assert_eq!(
            questions.answer(&open[0].id, ElicitationAnswer::Cancel),
            Err(ElicitationNotOpen { id: open[0].id.clone() })
        );
    }

    #[tokio::test]
    async fn a_question_that_is_withdrawn_is_closed() {
        let questions = OpenElicitations::new();
        let asking = ask(&questions).await;
        let closed = questions.changed();
        asking.abort();
        closed.await;
        assert!(questions.list().is_empty());
    }
}
