//! Requests of hooks, permissions and MCP servers to the host, through the pump, which writes each of them into the one
//! stream of all frames.

use super::frames::McpServerNews;
use crate::channel::frames::RequestFrame;
use crate::channel::requests::{AskError, HostResponse};
use crate::line;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_conversation::{Asker, CallReference, Question};
use windlass_tool::Ids;
use windlass_types::{EntryId, JsonText};

/// Wait after a stopped run has withdrawn a request. The session drops the task of the request long before the end of
/// the wait.
const WITHDRAWAL_WAIT: Duration = Duration::from_secs(2);

/// A request to the pump.
#[derive(Debug)]
pub(crate) enum PumpMessage {
    /// A request to the host, and its line.
    Question(Question, Vec<u8>, oneshot::Sender<Result<HostResponse, AskError>>),
    /// A receiver waits for a message of an in-process MCP server, under an id.
    Receive { server: String, receiver: String, message: oneshot::Sender<JsonText> },
    /// A request is withdrawn, or a message is no longer waited for.
    Dropped(String),
    /// Messages of an in-process MCP server are requested.
    Listen(String),
    /// A message of an in-process MCP server did not reach its receiver.
    Undelivered { server: String, message: JsonText },
    /// A report about an MCP server for the host.
    McpServer(McpServerNews),
}

/// Sender of requests to the host. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HostRequests {
    pump: mpsc::UnboundedSender<PumpMessage>,
    ids: Arc<dyn Ids>,
}

impl fmt::Debug for HostRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").finish_non_exhaustive()
    }
}

/// Sender and time limit of a request; without a limit it waits for ever.
#[derive(Debug)]
pub(crate) struct RequestSender {
    pub(crate) asker: Asker,
    /// Call whose frame precedes the request.
    pub(crate) about: Option<CallReference>,
    /// `true` for a permission request.
    pub(crate) is_permission: bool,
    pub(crate) limit: Option<Duration>,
}

impl RequestSender {
    /// A request that is about no call, and has no limit.
    pub(crate) fn of(asker: Asker) -> Self {
        Self { asker, about: None, is_permission: false, limit: None }
    }
}

impl HostRequests {
    pub(crate) fn new(pump: mpsc::UnboundedSender<PumpMessage>, ids: Arc<dyn Ids>) -> Self {
        Self { pump, ids }
    }

    fn id(&self) -> String {
        EntryId::from_bits(self.ids.bits()).to_string()
    }

    /// Sends a request to the host and waits for the answer.
    ///
    /// Cancel safe: a request whose future is dropped is withdrawn.
    pub(crate) async fn ask(&self, ask: RequestSender, body: &impl Serialize) -> Result<Option<JsonText>, AskError> {
        let RequestSender { asker, about, is_permission, limit } = ask;
        let id = self.id();
        let mut line = Vec::new();
        let request = RequestFrame { kind: "control_request", request_id: &id, request: body };
        if !line::push(&mut line, &request) {
            return Err(AskError::TooLong);
        }
        let (answer, answered) = oneshot::channel();
        let question = Question::new(id.clone(), asker, about, is_permission);
        self.pump.send(PumpMessage::Question(question, line, answer)).map_err(|_| AskError::Gone)?;
        let mut pending_request = PendingRequest { requests: self, id: Some(id) };
        let wait = async { answered.await.unwrap_or(Err(AskError::Gone)) };
        let answered = match limit {
            Some(limit) => tokio::time::timeout(limit, wait).await.unwrap_or(Err(AskError::TimedOut(limit))),
            None => wait.await,
        };
        match &answered {
            Ok(_) => pending_request.id = None,
            // The session stops this task. An answer before that would be invented.
            Err(AskError::Withdrawn) => tokio::time::sleep(WITHDRAWAL_WAIT).await,
            Err(_) => {}
        }
        answered?.map_err(AskError::Refused)
    }

    /// Requests the unsolicited messages of an in-process MCP server.
    pub(crate) fn listen(&self, server: &str) {
        // Fails when the server of the host has ended, and then no message comes.
        let _ = self.pump.send(PumpMessage::Listen(server.to_owned()));
    }

    /// Waits for an unsolicited message; `None` when none will come any more. Cancel safe.
    pub(crate) async fn receive(&self, server: &str) -> Option<JsonText> {
        let (sender, message) = oneshot::channel();
        let receiver = self.id();
        let server = server.to_owned();
        let pump_message = PumpMessage::Receive { server: server.clone(), receiver: receiver.clone(), message: sender };
        self.pump.send(pump_message).ok()?;
        let mut receiving = Receiving { requests: self, server, receiver, message: Some(message) };
        let received = receiving.message.as_mut()?.await;
        receiving.message = None;
        received.ok()
    }

    /// Reports the status of an MCP server to the host.
    pub(crate) fn report(&self, news: McpServerNews) {
        self.send(PumpMessage::McpServer(news));
    }

    fn send(&self, message: PumpMessage) {
        // Fails when the pump is gone.
        let _ = self.pump.send(message);
    }
}

/// A request that is withdrawn when it is dropped without an answer.
struct PendingRequest<'a> {
    requests: &'a HostRequests,
    id: Option<String>,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.requests.send(PumpMessage::Dropped(id));
        }
    }
}

/// A wait for a message that returns the message when it is dropped with it.
struct Receiving<'a> {
    requests: &'a HostRequests,
    server: String,
    receiver: String,
    message: Option<oneshot::Receiver<JsonText>>,
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let Some(mut message) = self.message.take() else { return };
        message.close();
        self.requests.send(match message.try_recv() {
            Ok(message) => PumpMessage::Undelivered { server: std::mem::take(&mut self.server), message },
            Err(_) => PumpMessage::Dropped(std::mem::take(&mut self.receiver)),
        });
    }
}
