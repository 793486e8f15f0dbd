//! Reader of the other side's messages.

use super::answers::CallbackTasks;
use super::error::ClientError;
use super::handle::ClientState;
use super::inbox::LineInbox;
use crate::input::{Control, LineError, LineReader};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::io::AsyncRead;
use windlass_types::{JsonError, JsonText};

/// Fields of a line that are needed at once.
#[derive(Deserialize)]
struct LineHead<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// Reads to the end of the stream, or until a line is not a message.
///
/// Control traffic is handled at once; messages wait to be read, and when too many do, this waits as well.
pub(super) async fn read(
    input: impl AsyncRead + Unpin,
    state: Arc<ClientState>,
    callbacks: CallbackTasks,
    mut inbox: LineInbox,
) {
    if let Err(error) = read_lines(input, &state, &callbacks, &mut inbox).await {
        state.end_with(error);
    }
    // From here on, no request gets an answer.
    state.requests.close();
}

async fn read_lines(
    input: impl AsyncRead + Unpin,
    state: &ClientState,
    callbacks: &CallbackTasks,
    inbox: &mut LineInbox,
) -> Result<(), ClientError> {
    let mut lines = LineReader::new(input, state.max_line);
    loop {
        let line = match lines.next().await {
            Ok(Some(line)) => line.to_vec(),
            Ok(None) => return Ok(()),
            Err(LineError::TooLong { limit }) => return Err(ClientError::TooLong { limit }),
            Err(LineError::Io(error)) => return Err(ClientError::Io(error)),
        };
        if line.trim_ascii_start().first() != Some(&b'{') {
            if !line.trim_ascii().is_empty() {
                tracing::warn!(line = %start_of(&line), "a line that is no message is left alone");
            }
            continue;
        }
        match handle_line(&line, state, callbacks, inbox).await {
            Ok(()) => {}
            // The writer ended in the middle of the line. Its end is reported elsewhere.
            Err(_) if lines.is_broken_off() => return Ok(()),
            Err(error) => {
                return Err(ClientError::Malformed { problem: error.to_string(), start: start_of(&line) });
            }
        }
    }
}

async fn handle_line(
    line: &[u8],
    state: &ClientState,
    callbacks: &CallbackTasks,
    inbox: &mut LineInbox,
) -> Result<(), JsonError> {
    let head: LineHead<'_> = serde_json::from_slice(line)?;
    let kind = head.kind.unwrap_or_default();
    match Control::parse(&kind, line)? {
        Some(Control::Response { id, answer }) => state.requests.answer(&id, answer),
        Some(Control::Request { id, subtype, body }) => callbacks.take(id, subtype, body).await,
        Some(Control::Cancel { id }) => callbacks.cancel(&id),
        None if kind == "keep_alive" => {}
        None => {
            if kind == "result" {
                state.in_turn.store(false, Ordering::Relaxed);
                state.last_is_error.store(head.is_error == Some(true), Ordering::Relaxed);
            }
            inbox.put(serde_json::from_slice::<JsonText>(line)?).await;
        }
    }
    Ok(())
}

fn start_of(line: &[u8]) -> String {
    let start = line.get(..line.len().min(320)).unwrap_or_default();
    String::from_utf8_lossy(start).chars().take(80).collect()
}
