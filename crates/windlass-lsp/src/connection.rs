//! Connection to a running server: requests with their answers, and messages that the server sends on its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::published::Published;
use crate::wire::{Decoder, encode};

/// Maximum number of messages that wait to be written.
const MOST_WAITING: usize = 64;
/// Maximum number of requests that wait for an answer.
const MOST_PENDING: usize = 64;
/// JSON-RPC code of an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// Reason why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The server answered with an error.
    Refused(String),
    /// The answer took too long.
    TimedOut,
    /// The connection has ended.
    Closed,
}

/// Connection to a running server. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct LanguageConnection {
    shared: Arc<LanguageConnectionState>,
    tasks: [AbortHandle; 2],
}

#[derive(Debug)]
struct LanguageConnectionState {
    pending: Mutex<HashMap<i64, oneshot::Sender<Result<Value, String>>>>,
    next: AtomicI64,
    outgoing: mpsc::Sender<Vec<u8>>,
    published: Published,
    /// Settings that the server reads.
    settings: Value,
    /// Reason of the end, once the connection has ended.
    ended: watch::Sender<Option<String>>,
}

impl LanguageConnection {
    /// Opens a connection over the standard streams of a server.
    pub(crate) fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        settings: Value,
    ) -> Self {
        let (outgoing, waiting) = mpsc::channel(MOST_WAITING);
        let shared = Arc::new(LanguageConnectionState {
            pending: Mutex::default(),
            next: AtomicI64::new(1),
            outgoing,
            published: Published::default(),
            settings,
            ended: watch::Sender::new(None),
        });
        let write = tokio::spawn(write(writer, waiting)).abort_handle();
        let reading = Arc::clone(&shared);
        let read = tokio::spawn(async move {
            let why = reading.read(reader).await;
            reading.end(why);
        });
        Self { shared, tasks: [write, read.abort_handle()] }
    }

    /// Returns the diagnostics that the server has published.
    pub(crate) fn published(&self) -> &Published {
        &self.shared.published
    }

    /// Returns the reason of the end, if the connection has ended.
    pub(crate) fn ended(&self) -> Option<String> {
        self.shared.ended.borrow().clone()
    }

    /// Sends a request and waits for its answer. Cancel safe: the server is asked to cancel an abandoned request.
    pub(crate) async fn request(&self, method: &str, params: Value, limit: Duration) -> Result<Value, NoAnswer> {
        let (sender, answer) = oneshot::channel();
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut pending = self.shared.pending();
            if self.ended().is_some() || pending.len() >= MOST_PENDING {
                return Err(NoAnswer::Closed);
            }
            pending.insert(id, sender);
        }
        let open = OpenRequest { shared: &self.shared, id };
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answered = async {
            self.shared.outgoing.send(encode(&message)).await.map_err(|_| NoAnswer::Closed)?;
            answer.await.map_err(|_| NoAnswer::Closed)?.map_err(NoAnswer::Refused)
        };
        let answered = timeout(limit, answered).await.unwrap_or(Err(NoAnswer::TimedOut));
        if !matches!(answered, Err(NoAnswer::TimedOut)) {
            open.forget();
        }
        answered
    }

    /// Sends a notification. Waits while the server does not read.
    pub(crate) async fn notify(&self, method: &str, params: Value) -> Result<(), NoAnswer> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.shared.outgoing.send(encode(&message)).await.map_err(|_| NoAnswer::Closed)
    }
}

impl Drop for LanguageConnection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.shared.end("the connection was closed".to_owned());
    }
}

/// Guard of a request that waits for its answer. Dropping it cancels the request at the server.
struct OpenRequest<'a> {
    shared: &'a LanguageConnectionState,
    id: i64,
}

impl OpenRequest<'_> {
    /// Disarms the guard of an answered request.
    fn forget(self) {
        self.shared.pending().remove(&self.id);
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if self.shared.pending().remove(&self.id).is_some() {
            let message = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": self.id } });
            // A server that does not read misses nothing.
            let _ = self.shared.outgoing.try_send(encode(&message));
        }
    }
}

impl LanguageConnectionState {
    fn pending(&self) -> std::sync::MutexGuard<'_, HashMap<i64, oneshot::Sender<Result<Value, String>>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection: no pending request is answered any more.
    fn end(&self, why: String) {
        self.ended.send_modify(|ended| {
            ended.get_or_insert(why);
        });
        self.pending().clear();
    }

    /// Reads until the stream ends, and returns the reason.
    async fn read(&self, mut reader: impl AsyncRead + Unpin) -> String {
        let (mut decoder, mut bytes) = (Decoder::default(), vec![0; 64 * 1024]);
        loop {
            match reader.read(&mut bytes).await {
                Ok(0) => return "it ended".to_owned(),
                Ok(count) => decoder.push(bytes.get(..count).unwrap_or_default()),
                Err(error) => return format!("its output cannot be read: {error}"),
            }
            loop {
                match decoder.next() {
                    Ok(Some(message)) => self.take(message),
                    Ok(None) => break,
                    Err(error) => return error.to_string(),
                }
            }
        }
    }

    fn take(&self, mut message: Value) {
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let id = message.get("id").cloned().filter(|id| !id.is_null());
        match (method, id) {
            (Some(method), Some(id)) => self.answer(&method, &id, message.get("params")),
            (Some(method), None) if method == "textDocument/publishDiagnostics" => {
                self.published.note(message.get("params").unwrap_or(&Value::Null));
            }
            (None, Some(id)) => {
                let Some(waiting) = id.as_i64().and_then(|id| self.pending().remove(&id)) else { return };
                let error = message.get("error").map(|error| {
                    error.get("message").and_then(Value::as_str).unwrap_or("an error without a message").to_owned()
                });
                let result = message.get_mut("result").map(Value::take).unwrap_or_default();
                // Fails if no caller waits any more.
                let _ = waiting.send(error.map_or(Ok(result), Err));
            }
            _ => {}
        }
    }

    /// Answers a request of the server. Unsupported methods are refused.
    fn answer(&self, method: &str, id: &Value, params: Option<&Value>) {
        let result = match method {
            "workspace/configuration" => {
                let items = params.and_then(|params| params.get("items")).and_then(Value::as_array);
                let of = |item: &Value| section(&self.settings, item.get("section").and_then(Value::as_str));
                Some(Value::Array(items.into_iter().flatten().take(MOST_WAITING).map(of).collect()))
            }
            "client/registerCapability" | "client/unregisterCapability" | "window/workDoneProgress/create" => {
                Some(Value::Null)
            }
            "workspace/applyEdit" => Some(json!({ "applied": false })),
            _ => None,
        };
        let message = match result {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => {
                let error = json!({ "code": METHOD_NOT_FOUND, "message": "this client does not offer it" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        // Waiting here would block the reading of answers.
        let _ = self.outgoing.try_send(encode(&message));
    }
}

/// Returns the part of the settings with a dotted name; all of them without a name.
fn section(settings: &Value, name: Option<&str>) -> Value {
    let mut found = Some(settings);
    for part in name.into_iter().flat_map(|name| name.split('.')).filter(|part| !part.is_empty()) {
        found = found.and_then(|settings| settings.get(part));
    }
    found.cloned().unwrap_or_default()
}

/// Writes the queued messages until the server accepts no more.
async fn write(mut writer: impl AsyncWrite + Unpin, mut waiting: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = waiting.recv().await {
        let written = async {
            writer.write_all(&bytes).await?;
            writer.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
