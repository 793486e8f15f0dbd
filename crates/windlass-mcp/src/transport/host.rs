//! Transport to a server inside the host.

use super::correlate::answer_to;
use super::intake::Intake;
use super::salvage::read;
use super::{AbortOnDrop, SendError, Sent};
use crate::McpChannel;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use windlass_types::JsonText;

/// Maximum number of messages of the server that wait for the client.
const MAX_PUSHED: usize = 64;

/// Transport that hands messages to an [`McpChannel`], and receives its answers and its own messages.
pub(crate) struct HostTransport {
    channel: Arc<dyn McpChannel>,
    intake: Intake,
    open: HostRequests,
    sent: Sent,
    // Answers are bounded by the requests in flight, so they never wait behind pushed messages.
    answer: mpsc::UnboundedSender<ServerJsonRpcMessage>,
    answers: mpsc::UnboundedReceiver<ServerJsonRpcMessage>,
    pushed: mpsc::Receiver<ServerJsonRpcMessage>,
    _task: AbortOnDrop,
}

/// Requests on their way, each with a sender that cancels it.
#[derive(Debug, Clone, Default)]
struct HostRequests(Arc<Mutex<HashMap<RequestId, oneshot::Sender<()>>>>);

impl HostRequests {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostTransport {
    /// Starts to listen to the channel. Dropping the transport ends that.
    pub(crate) fn new(channel: Arc<dyn McpChannel>, sent: Sent) -> Self {
        let (answer, answers) = mpsc::unbounded_channel();
        let (push, pushed) = mpsc::channel(MAX_PUSHED);
        let intake = Intake::default();
        let listener = tokio::spawn(listen(Arc::clone(&channel), push, intake.clone()));
        let task = AbortOnDrop(listener.abort_handle());
        Self { channel, intake, open: HostRequests::default(), sent, answer, answers, pushed, _task: task }
    }
}

async fn listen(channel: Arc<dyn McpChannel>, push: mpsc::Sender<ServerJsonRpcMessage>, intake: Intake) {
    while let Some(message) = channel.receive().await {
        match read(message.as_str().as_bytes()) {
            Ok(messages) => {
                for message in messages.into_iter().filter(|message| intake.admits(message)) {
                    if push.send(message).await.is_err() {
                        return;
                    }
                }
            }
            Err(problem) => tracing::debug!(problem, "an in-process MCP server sent a text that is no message"),
        }
    }
    // The server still answers requests, but sends no messages of its own any more.
    push.closed().await;
}

impl Transport<RoleClient> for HostTransport {
    type Error = SendError;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        self.intake.answered(&message);
        if let JsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            // The answer is no longer awaited.
            self.open.lock().remove(id);
        }
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let (give_up, given_up) = oneshot::channel();
        if let Some(id) = &request {
            self.open.lock().insert(id.clone(), give_up);
        }
        let (channel, answer, open) = (Arc::clone(&self.channel), self.answer.clone(), self.open.clone());
        let sent = self.sent.clone();
        async move {
            let json = JsonText::of(&message)?;
            let Some(id) = request else {
                channel.send(json).await?;
                return Ok(());
            };
            sent.begin(&id);
            let answered = tokio::select! {
                answered = channel.send(json) => answered,
                // The sender is dropped, never used.
                _ = given_up => return Ok(()),
            };
            open.lock().remove(&id);
            let answered = answered?.ok_or_else(|| SendError::BadAnswer("there is none".to_owned()))?;
            let mut messages = read(answered.as_str().as_bytes()).map_err(SendError::BadAnswer)?;
            let message = messages.pop().ok_or_else(|| SendError::BadAnswer("there is none".to_owned()))?;
            let message = answer_to(&id, message).map_err(SendError::BadAnswer)?;
            answer.send(message).map_err(|_| SendError::Closed)
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        tokio::select! {
            biased;
            answer = self.answers.recv() => answer,
            Some(pushed) = self.pushed.recv() => Some(pushed),
        }
    }

    async fn close(&mut self) -> Result<(), SendError> {
        self.open.lock().clear();
        Ok(())
    }
}
