//! HTTP with server-sent events: the transport of the revision 2024-11-05.
//!
//! The server sends everything over one stream, whose first event names the address to which the client posts its
//! messages.

use super::authorized::{is_refusal, respond};
use super::correlate::OpenRequests;
use super::events::{EventReader, ServerSentEvent};
use super::http::Address;
use super::intake::Intake;
use super::salvage::{read, unreadable};
use super::{AbortOnDrop, SendError, Sent};
use crate::greeting::GreetingFailure;
use crate::text::chain;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use windlass_http::Bytes;
use windlass_mcp_auth::Authorizer;

/// Maximum size of an event of a server, in bytes.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum time for the response to a posted message. The result of the request comes over the stream.
const POSTED: Duration = Duration::from_secs(60);
/// Maximum number of events before the first relevant one.
const MAX_EARLIER_EVENTS: usize = 100;

/// Stream of events, and the address for messages.
#[derive(Debug)]
pub(crate) struct SseTransport {
    client: reqwest::Client,
    headers: HeaderMap,
    authorizer: Option<Arc<Authorizer>>,
    messages: Url,
    intake: Intake,
    open: OpenRequests,
    sent: Sent,
    incoming: mpsc::Receiver<ServerJsonRpcMessage>,
    _reader: AbortOnDrop,
}

impl SseTransport {
    /// Opens the stream and waits for the address.
    pub(crate) async fn open(address: Address, sent: Sent) -> Result<Self, GreetingFailure> {
        let Address { url, client, headers, authorizer } = address;
        let get = || client.get(url.clone()).headers(headers.clone()).header(ACCEPT, "text/event-stream");
        let asked = respond(authorizer.as_ref(), get).await;
        let response = asked.map_err(|error| match error.is_connect() {
            true => GreetingFailure::Unreached(chain(&error)),
            false => GreetingFailure::Failed(chain(&error)),
        })?;
        let mut stream =
            SseStream { response: accepted(response)?, events: EventReader::new(MAX_EVENT_BYTES), found: Vec::new() };
        let messages = message_address(&url, &mut stream).await?;
        let (found, incoming) = mpsc::channel(1);
        let (intake, open) = (Intake::default(), OpenRequests::default());
        let reader = tokio::spawn(pass_on(stream, found, (intake.clone(), open.clone())));
        let _reader = AbortOnDrop(reader.abort_handle());
        Ok(Self { client, headers, authorizer, messages, intake, open, sent, incoming, _reader })
    }
}

/// Checks that a response is a stream of events.
fn accepted(response: Response) -> Result<Response, GreetingFailure> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match response.status() {
        status if is_refusal(status) => Err(GreetingFailure::NeedsAuth),
        status if !status.is_success() => Err(GreetingFailure::Failed(format!("it answered with the status {status}"))),
        _ if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") => {
            Err(GreetingFailure::Failed("it did not answer with a stream of events".to_owned()))
        }
        _ => Ok(response),
    }
}

#[derive(Debug)]
struct SseStream {
    response: Response,
    events: EventReader,
    /// Events that have been read, the next one at the end.
    found: Vec<ServerSentEvent>,
}

impl SseStream {
    /// Returns the next event; `None` at the end of the stream.
    async fn next(&mut self) -> Result<Option<ServerSentEvent>, String> {
        loop {
            if let Some(event) = self.found.pop() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.response.chunk().await.map_err(|error| chain(&error))? else { return Ok(None) };
            self.found = self.events.take(&chunk);
            self.found.reverse();
        }
    }
}

/// Returns the address to which messages are posted: on the same server, because headers with secrets are sent along.
async fn message_address(url: &Url, stream: &mut SseStream) -> Result<Url, GreetingFailure> {
    for _ in 0..MAX_EARLIER_EVENTS {
        let event = stream.next().await.map_err(GreetingFailure::Failed)?;
        let Some(event) = event else { return Err(GreetingFailure::Failed("it closed the connection".to_owned())) };
        if event.kind == "endpoint" {
            let messages = url.join(event.data.trim()).map_err(|_| "its address for messages is not valid".to_owned());
            let messages = messages.map_err(GreetingFailure::Failed)?;
            if messages.origin() != url.origin() {
                return Err(GreetingFailure::Failed("its address for messages is one of another server".to_owned()));
            }
            return Ok(messages);
        }
    }
    Err(GreetingFailure::Failed("it did not say where messages are posted".to_owned()))
}

/// Passes on messages until the stream ends.
async fn pass_on(
    mut stream: SseStream,
    found: mpsc::Sender<ServerJsonRpcMessage>,
    (intake, open): (Intake, OpenRequests),
) {
    loop {
        let event = match stream.next().await {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(problem) => return tracing::debug!(problem, "the stream of an MCP server ended"),
        };
        if !matches!(event.kind.as_str(), "" | "message") {
            continue;
        }
        let too_large = || format!("it holds more than {MAX_EVENT_BYTES} bytes");
        let messages = match event.is_too_large {
            true => unreadable(event.data.as_bytes(), too_large()),
            false => read(event.data.as_bytes()),
        };
        match messages {
            Ok(messages) => {
                for message in messages.into_iter().filter(|message| intake.admits(message)) {
                    if found.send(open.answered(message)).await.is_err() {
                        return;
                    }
                }
            }
            Err(problem) => tracing::debug!(problem, "an MCP server sent an event that is no message"),
        }
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = SendError;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        self.intake.answered(&message);
        self.open.note(&message);
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let address = (self.client.clone(), self.messages.clone(), self.headers.clone());
        let (sent, authorizer) = (self.sent.clone(), self.authorizer.clone());
        async move {
            let body = serde_json::to_vec(&message).map_err(|error| SendError::Write(error.into()))?;
            if let Some(id) = &request {
                sent.begin(id);
            }
            let body = Bytes::from(body);
            let (client, messages, headers) = address;
            let post = || {
                let post = client.post(messages.clone()).headers(headers.clone());
                post.header(CONTENT_TYPE, "application/json").body(body.clone())
            };
            let posted = timeout(POSTED, respond(authorizer.as_ref(), post)).await.map_err(|_| SendError::NoStatus)?;
            let posted = posted.map_err(SendError::Http)?;
            match posted.status() {
                status if status.is_success() => Ok(()),
                status if is_refusal(status) => Err(SendError::LacksRights),
                status => Err(SendError::Status(status.to_string())),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), SendError> {
        Ok(())
    }
}
