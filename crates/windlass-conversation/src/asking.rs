//! Questions of sessions for the person of a conversation.

use crate::calls::{Asker, CallReference};
use crate::output::Unanswered;
use crate::questions::Question;
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_permission::CanUseTool;
use windlass_tool::Ids;
use windlass_types::{EntryId, PermissionAnswer, PermissionRequest};

/// Time that a stopped run has to drop the task of a question that it withdrew. The task is dropped long before.
const WITHDRAWN: Duration = Duration::from_secs(2);

/// The person of a [`LiveConversation`](crate::LiveConversation) as the one who answers questions about tool calls. Cheap
/// to clone.
///
/// A question is shown by [`Update::Question`](crate::Update::Question) behind its call. It is denied if nobody is left to
/// answer it.
#[derive(Clone)]
pub struct ConversationAsker {
    questions: mpsc::UnboundedSender<Asked>,
    ids: Arc<dyn Ids>,
}

/// A message of an asker.
pub(crate) enum Asked {
    Question(Question, Box<PermissionRequest>, oneshot::Sender<Result<PermissionAnswer, Unanswered>>),
    /// The task that asked is gone.
    Dropped(String),
}

impl fmt::Debug for ConversationAsker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationAsker").finish_non_exhaustive()
    }
}

impl ConversationAsker {
    pub(crate) fn new(ids: Arc<dyn Ids>) -> (Self, mpsc::UnboundedReceiver<Asked>) {
        let (questions, asked) = mpsc::unbounded_channel();
        (Self { questions, ids }, asked)
    }
}

#[async_trait]
impl CanUseTool for ConversationAsker {
    async fn can_use_tool(&self, request: PermissionRequest) -> PermissionAnswer {
        let asker = request.identity.as_ref().map_or(Asker::Run, |agent| Asker::Agent(agent.id.clone()));
        // A question of another id than its call is shown without the call.
        let about = (request.id.as_str() != request.tool_use_id.as_str())
            .then(|| CallReference::of(request.identity.as_ref(), &request.tool_use_id));
        let id = EntryId::from_bits(self.ids.bits()).to_string();
        let question = Question::new(id.clone(), asker, about, true);
        let (answer, answered) = oneshot::channel();
        let mut open = OpenQuestion { asker: self, id: Some(id) };
        let unanswered = match self.questions.send(Asked::Question(question, Box::new(request), answer)) {
            Ok(()) => match answered.await {
                Ok(Ok(answer)) => {
                    open.id = None;
                    return answer;
                }
                Ok(Err(unanswered)) => unanswered,
                Err(_) => Unanswered::Gone,
            },
            Err(_) => Unanswered::Gone,
        };
        if unanswered == Unanswered::Withdrawn {
            // The session stops this task; an answer before that would be a made-up one.
            tokio::time::sleep(WITHDRAWN).await;
        }
        PermissionAnswer::deny("Nobody was there to answer the question, so the call was denied.")
    }
}

/// A question that is withdrawn when it is dropped without an answer.
struct OpenQuestion<'a> {
    asker: &'a ConversationAsker,
    id: Option<String>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            // The message fails when the conversation is gone, with all its questions.
            let _ = self.asker.questions.send(Asked::Dropped(id));
        }
    }
}
