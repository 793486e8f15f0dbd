//! Line transport: one message per line.

use super::correlate::OpenRequests;
use super::intake::Intake;
use super::salvage::{read, unreadable};
use super::{AbortOnDrop, SendError, Sent};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

/// Maximum length of a line of a server, in bytes.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of bytes that are skipped of a line that is too long.
const MAX_SKIPPED_BYTES: usize = 4 * MAX_LINE_BYTES;
/// Maximum number of consecutive lines that are no messages.
const MAX_INVALID_LINES: usize = 10_000;
/// Maximum number of messages that wait to be written.
const MAX_WAITING_MESSAGES: usize = 1024;

type Ack = oneshot::Sender<std::io::Result<()>>;

/// Outgoing line, and the id if it is a request.
#[derive(Debug)]
struct OutgoingLine {
    bytes: Vec<u8>,
    request: Option<RequestId>,
    ack: Ack,
}

/// Transport over a byte stream in each direction.
///
/// Messages go out in the order in which they are sent. Receiving is cancel safe: a task of its own reads, so that no
/// half-read line is lost.
#[derive(Debug)]
pub(crate) struct LineTransport {
    outgoing: mpsc::Sender<OutgoingLine>,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    intake: Intake,
    open: OpenRequests,
    _tasks: [AbortOnDrop; 2],
}

/// Faults in the output of a server, for error texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineFault(Arc<Mutex<OutputFault>>);

#[derive(Debug, Clone, Default)]
struct OutputFault {
    /// Latest fault, with words of the server.
    text: Option<String>,
    /// Reason why reading ended, without words of the server.
    ending: Option<String>,
}

impl LineFault {
    fn lock(&self) -> MutexGuard<'_, OutputFault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a line that is skipped.
    fn note(&self, text: String) {
        self.lock().text = Some(text);
    }

    /// Records the reason why reading ended.
    fn end(&self, reason: String) {
        let mut fault = self.lock();
        fault.text = Some(reason.clone());
        fault.ending = Some(reason);
    }

    /// Returns the reason why reading ended, without words of the server.
    pub(crate) fn ending(&self) -> Option<String> {
        self.lock().ending.clone()
    }

    /// Returns the latest fault, if any.
    pub(crate) fn get(&self) -> Option<String> {
        self.lock().text.clone()
    }
}

impl LineTransport {
    /// Starts to read and write. Dropping the transport ends both.
    pub(crate) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        fault: LineFault,
        sent: Sent,
    ) -> Self {
        let (outgoing, to_write) = mpsc::channel(MAX_WAITING_MESSAGES);
        // One at a time: a message can be large.
        let (found, incoming) = mpsc::channel(1);
        let intake = Intake::default();
        let open = OpenRequests::default();
        let writer = tokio::spawn(write_lines(output, to_write, sent));
        let reader = tokio::spawn(read_lines(input, found, (intake.clone(), open.clone()), fault));
        let tasks = [AbortOnDrop(writer.abort_handle()), AbortOnDrop(reader.abort_handle())];
        Self { outgoing, incoming, intake, open, _tasks: tasks }
    }
}

async fn write_lines(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<OutgoingLine>, sent: Sent) {
    while let Some(OutgoingLine { bytes, request, ack }) = lines.recv().await {
        let before = request.map(|id| sent.begin(&id));
        let written = async {
            // If no part can be written, the server has read nothing.
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
        // The sender of the message may have dropped its receiver.
        let _ = ack.send(written.await);
    }
}

async fn read_lines(
    input: impl AsyncRead + Unpin,
    found: mpsc::Sender<ServerJsonRpcMessage>,
    (intake, open): (Intake, OpenRequests),
    fault: LineFault,
) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    let mut nonsense = 0_usize;
    loop {
        line.clear();
        let messages = match next_line(&mut input, &mut line).await {
            Ok(ReadLine::End) => return,
            Ok(ReadLine::Whole) if line.trim_ascii().is_empty() => continue,
            Ok(ReadLine::Whole) => read(line.trim_ascii()),
            Ok(ReadLine::TooLong) => {
                let reason = format!("it printed a line of more than {MAX_LINE_BYTES} bytes");
                match unreadable(&line, reason.clone()) {
                    Ok(messages) if pass_over(&mut input).await => Ok(messages),
                    // A call may wait for this line: it would never end if the line were skipped.
                    _ => return fault.end(reason),
                }
            }
            Err(error) => return fault.end(format!("its output cannot be read: {error}")),
        };
        match messages {
            Ok(messages) => {
                nonsense = 0;
                for message in messages.into_iter().filter(|message| intake.admits(message)) {
                    if found.send(open.answered(message)).await.is_err() {
                        return;
                    }
                }
            }
            Err(problem) => {
                // Many servers print a greeting before they speak.
                let start: String = String::from_utf8_lossy(line.trim_ascii()).chars().take(120).collect();
                tracing::debug!(problem, start, "a line of an MCP server is not a message");
                nonsense += 1;
                fault.note(format!("it printed a line that is no message ({problem}): {start}"));
                if nonsense > MAX_INVALID_LINES {
                    return fault.end(format!("it printed more than {MAX_INVALID_LINES} lines that are no messages"));
                }
            }
        }
        if line.capacity() > 1024 * 1024 {
            line = Vec::new();
        }
    }
}

/// Line read from the output of a server.
enum ReadLine {
    Whole,
    /// The line is longer than allowed; more of it comes.
    TooLong,
    /// The output has ended.
    End,
}

/// Reads a line of bounded length.
async fn next_line(input: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> std::io::Result<ReadLine> {
    loop {
        let bytes = input.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(if line.is_empty() { ReadLine::End } else { ReadLine::Whole });
        }
        let (part, has_end) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (bytes.split_at_checked(end).map_or(bytes, |(line, _)| line), true),
            None => (bytes, false),
        };
        if line.len() + part.len() > MAX_LINE_BYTES {
            return Ok(ReadLine::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(has_end);
        input.consume(used);
        if has_end {
            return Ok(ReadLine::Whole);
        }
    }
}

/// Skips the rest of a line that is too long. `false` if its end does not come.
async fn pass_over(input: &mut (impl AsyncBufReadExt + Unpin)) -> bool {
    let mut passed = 0_usize;
    while passed < MAX_SKIPPED_BYTES {
        let Ok(bytes) = input.fill_buf().await else { return false };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(bytes.len(), |end| end + 1);
        input.consume(used);
        passed = passed.saturating_add(used);
        if end.is_some() || used == 0 {
            return true;
        }
    }
    false
}

impl Transport<RoleClient> for LineTransport {
    type Error = SendError;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        self.intake.answered(&message);
        self.open.note(&message);
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        // Queued at once: the futures may be polled in any order.
        let queued =
            serde_json::to_vec(&message).map_err(|error| SendError::Json(error.into())).and_then(|mut line| {
                line.push(b'\n');
                let (ack, written) = oneshot::channel();
                match self.outgoing.try_send(OutgoingLine { bytes: line, request, ack }) {
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
