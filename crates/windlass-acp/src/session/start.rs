//! The beginning of a session: its request, its history and its answer.

use super::{SessionInput, SessionTask, opened};
use crate::agent::{AcpAgent, AcpSession, AcpStart};
use crate::error::AcpError;
use crate::rpc::{self, RequestId};
use crate::v1::client::ClientAbilities;
use crate::v1::history::History;
use crate::v1::settings::Settings;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use windlass_tool::Ids;
use windlass_types::EntryId;

/// Parts of a session task.
pub(crate) struct SessionStart {
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) cwd: PathBuf,
    pub(crate) inbox: mpsc::Receiver<SessionInput>,
    pub(crate) out: mpsc::Sender<Vec<u8>>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) client: ClientAbilities,
    /// Ends with the task.
    pub(crate) alive: watch::Sender<()>,
    /// Task of an open session with the same id, which ends before this one begins.
    pub(crate) before: Option<watch::Receiver<()>>,
}

/// Request that a session begins with.
pub(crate) struct Beginning {
    pub(crate) request: RequestId,
    pub(crate) session: AcpSession,
}

impl SessionStart {
    /// Begins the session, answers the request, and works until the session is closed.
    pub(crate) async fn run<A: AcpAgent>(mut self, agent: Arc<A>, beginning: Beginning) {
        if let Some(mut before) = self.before.take() {
            // The message fails when that task has ended.
            while before.changed().await.is_ok() {}
        }
        let Beginning { request, session } = beginning;
        let start = session.start;
        let mut conversation = match agent.begin(session).await {
            Ok(conversation) => conversation,
            Err(error) => return self.fail(&request, error).await,
        };
        if start == AcpStart::Load
            && let Err(error) = self.replay(&*agent).await
        {
            conversation.close().await;
            return self.fail(&request, error).await;
        }
        let id = (start == AcpStart::New).then_some(self.id.as_str());
        let result = opened(&Settings::of(&conversation), id);
        self.send(&rpc::answer(&request, &Ok(result))).await;
        // Kept until the end of the task.
        let _alive = std::mem::replace(&mut self.alive, watch::Sender::new(()));
        SessionTask::new(self, conversation).run().await;
    }

    /// Shows the whole history.
    async fn replay<A: AcpAgent>(&self, agent: &A) -> Result<(), AcpError> {
        let mut history = History::default();
        for entry in agent.history(&self.id).await? {
            let message = EntryId::from_bits(self.ids.bits()).to_string();
            for update in history.updates(&entry, &message, &self.cwd) {
                self.send_update(update).await;
            }
        }
        Ok(())
    }

    async fn send_update(&self, update: Value) {
        let params = json!({ "sessionId": self.id, "update": update });
        self.send(&rpc::notification("session/update", &params)).await;
    }

    async fn send(&self, message: &Value) {
        // The message fails when the client is gone, and then the task ends.
        let _ = self.out.send(rpc::line(message)).await;
    }

    /// Answers with the reason why there is no session, also those who send requests to it.
    async fn fail(mut self, request: &RequestId, error: AcpError) {
        self.send(&rpc::answer(request, &Err(error))).await;
        self.inbox.close();
        while let Some(input) = self.inbox.recv().await {
            let (SessionInput::Prompt(request, _)
            | SessionInput::Mode(request, _)
            | SessionInput::Option(request, ..)
            | SessionInput::Close(Some(request))) = input
            else {
                continue;
            };
            let error = AcpError::not_found(format!("the session {} is not open", self.id));
            self.send(&rpc::answer(&request, &Err(error))).await;
        }
    }
}
