//! One message a line.

use super::correlate::is_same;
use super::intake::{Intake, MOST_DEPTH, MOST_VALUES, is_too_much, parse};
use super::{AbortOnDrop, SendError, Sent};
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

/// Longest line of a server.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// Most lines in a row that are no messages.
const MOST_NONSENSE: usize = 10_000;
/// Most messages that wait to be written.
const MOST_WAITING: usize = 1024;

type Ack = oneshot::Sender<std::io::Result<()>>;

/// A line on its way, and the request that it is.
#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    request: Option<RequestId>,
    ack: Ack,
}

/// The requests that are open, for an error without an id.
#[derive(Debug, Clone, Default)]
struct Open(Arc<Mutex<HashSet<RequestId>>>);

impl Open {
    fn lock(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a message that goes out.
    fn note(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.lock().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.lock().remove(id);
                }
            }
            _ => {}
        }
    }

    /// Records an answer. An error without an id is that of the only request there is.
    fn answered(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let mut open = self.lock();
        match message {
            JsonRpcMessage::Response(response) => {
                open.retain(|id| !is_same(id, &response.id));
                JsonRpcMessage::Response(response)
            }
            JsonRpcMessage::Error(mut error) => {
                if error.id.is_none() && open.len() == 1 {
                    error.id = open.iter().next().cloned();
                }
                open.retain(|id| error.id.as_ref().is_none_or(|own| !is_same(id, own)));
                JsonRpcMessage::Error(error)
            }
            other => other,
        }
    }
}

/// A byte stream in each direction.
///
/// Messages go out in the order in which they are sent. Receiving is cancel
/// safe: a task of its own reads, so that no half-read line is lost.
#[derive(Debug)]
pub(crate) struct Lines {
    outgoing: mpsc::Sender<Line>,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    intake: Intake,
    open: Open,
    _tasks: [AbortOnDrop; 2],
}

/// Why a server's output was given up, for its error text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    fn set(&self, fault: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    /// The text, if something was wrong.
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Lines {
    /// Begins to read and write. Dropping the transport ends both.
    pub(crate) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        fault: Fault,
        sent: Sent,
    ) -> Self {
        let (outgoing, to_write) = mpsc::channel(MOST_WAITING);
        // One at a time: a message can be large.
        let (found, incoming) = mpsc::channel(1);
        let intake = Intake::default();
        let open = Open::default();
        let writer = tokio::spawn(write_lines(output, to_write, sent));
        let reader = tokio::spawn(read_lines(input, found, (intake.clone(), open.clone()), fault));
        let tasks = [AbortOnDrop(writer.abort_handle()), AbortOnDrop(reader.abort_handle())];
        Self { outgoing, incoming, intake, open, _tasks: tasks }
    }
}

async fn write_lines(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>, sent: Sent) {
    while let Some(Line { bytes, request, ack }) = lines.recv().await {
        let before = request.map(|id| sent.begin(&id));
        let written = async {
            // If no part of it can be written, none of it was read.
            let first = output.write(&bytes).await;
            if let (Some(before), Ok(0) | Err(_)) = (before, &first) {
                sent.take_back(before);
            }
            let rest = match first? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                first => bytes.get(first..).unwrap_or_default(),
            };
            output.write_all(rest).await?;
            output.flush().await
        };
        // Its sender may be gone.
        let _ = ack.send(written.await);
    }
}

async fn read_lines(
    input: impl AsyncRead + Unpin,
    found: mpsc::Sender<ServerJsonRpcMessage>,
    (intake, open): (Intake, Open),
    fault: Fault,
) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    let mut nonsense = 0_usize;
    loop {
        line.clear();
        match next_line(&mut input, &mut line).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(problem) => return fault.set(problem),
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        // It may be what a call waits for: to leave it out would let that wait for ever.
        if is_too_much(text) {
            let most = format!("{MOST_VALUES} values, or one that is nested more than {MOST_DEPTH} deep");
            return fault.set(format!("it printed a line of more than {most}"));
        }
        match parse(text) {
            Ok(message) => {
                nonsense = 0;
                if intake.admits(&message) && found.send(open.answered(message)).await.is_err() {
                    return;
                }
            }
            Err(problem) => {
                // Many servers print a greeting before they speak.
                let start: String = String::from_utf8_lossy(text).chars().take(120).collect();
                tracing::debug!(problem, start, "a line of an MCP server is not a message");
                nonsense += 1;
                fault.set(format!("it printed a line that is no message ({problem}): {start}"));
                if nonsense > MOST_NONSENSE {
                    return;
                }
            }
        }
        if line.capacity() > 1024 * 1024 {
            line = Vec::new();
        }
    }
}

/// Reads a line of bounded length; false at the end of the input.
async fn next_line(input: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> Result<bool, String> {
    loop {
        let bytes = input.fill_buf().await.map_err(|error| format!("its output cannot be read: {error}"))?;
        if bytes.is_empty() {
            return Ok(!line.is_empty());
        }
        let (part, ended) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (bytes.split_at_checked(end).map_or(bytes, |(line, _)| line), true),
            None => (bytes, false),
        };
        if line.len() + part.len() > LONGEST_LINE {
            return Err(format!("it printed a line of more than {LONGEST_LINE} bytes"));
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(ended);
        input.consume(used);
        if ended {
            return Ok(true);
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = SendError;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        self.intake.answered(&message);
        self.open.note(&message);
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        // Put in line at once: the futures may be polled in any order.
        let queued =
            serde_json::to_vec(&message).map_err(|error| SendError::Json(error.into())).and_then(|mut line| {
                line.push(b'\n');
                let (ack, written) = oneshot::channel();
                match self.outgoing.try_send(Line { bytes: line, request, ack }) {
                    Ok(()) => Ok(written),
                    Err(mpsc::error::TrySendError::Full(_)) => Err(SendError::TooMany),
                    Err(mpsc::error::TrySendError::Closed(_)) => Err(SendError::Closed),
                }
            });
        async move { Ok(queued?.await.map_err(|_| SendError::Closed)??) }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), SendError> {
        self.incoming.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
