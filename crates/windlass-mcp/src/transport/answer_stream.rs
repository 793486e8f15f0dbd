//! Event streams that hold the messages of a server.

use super::correlate::{answer_to, is_stray_error};
use super::execution::with_execution;
use super::intake::is_too_much;
use super::salvage::{UNANSWERED, UNREADABLE, failed, read};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, iter, once};
use rmcp::model::{ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

type StreamEvents = BoxStream<'static, Result<Sse, SseError>>;

/// Words of the library's error for an event that is too large.
const TOO_LARGE: &str = "exceeded the maximum size";

/// Adapts the stream that answers a request. Its errors belong to the request, whatever their id. A stream that ends or
/// breaks without an answer, and that cannot be continued after an event, ends with an error.
pub(super) fn answers(id: &RequestId, events: StreamEvents) -> StreamEvents {
    let (id, progress) = (id.clone(), Arc::new(StreamProgress::default()));
    let end = (id.clone(), Arc::clone(&progress));
    let events = events.flat_map(move |event| iter(of_request(&id, &progress, event)));
    let ending = once(async move { iter(end.1.is_cut().then(|| Ok(cut(&end.0)))) }).flatten();
    events.chain(ending).boxed()
}

/// Adapts a stream that no request waits for, or that continues one.
pub(super) fn messages(events: StreamEvents) -> StreamEvents {
    events.flat_map(|event| iter(event.map_or_else(|error| vec![Err(error)], |event| mended(event, None).0))).boxed()
}

/// Progress of a stream.
#[derive(Debug, Default)]
struct StreamProgress {
    has_answer: AtomicBool,
    has_event_id: AtomicBool,
}

impl StreamProgress {
    fn is_cut(&self) -> bool {
        !self.has_answer.load(Ordering::SeqCst) && !self.has_event_id.load(Ordering::SeqCst)
    }
}

fn of_request(id: &RequestId, progress: &StreamProgress, event: Result<Sse, SseError>) -> Vec<Result<Sse, SseError>> {
    match event {
        Ok(event) => {
            progress.has_event_id.fetch_or(event.id.is_some(), Ordering::SeqCst);
            let (events, has_answer) = mended(event, Some(id));
            progress.has_answer.fetch_or(has_answer, Ordering::SeqCst);
            events
        }
        Err(SseError::Body(problem)) if !problem.to_string().contains(TOO_LARGE) => {
            // The connection broke. The library continues the stream, if possible.
            if progress.is_cut() { Vec::new() } else { vec![Err(SseError::Body(problem))] }
        }
        Err(problem) => {
            progress.has_answer.store(true, Ordering::SeqCst);
            vec![Ok(error_event(id, UNREADABLE, format!("its stream of events cannot be read: {problem}")))]
        }
    }
}

fn cut(id: &RequestId) -> Sse {
    error_event(id, UNANSWERED, "ended its stream of events before the answer".to_owned())
}

fn error_event(id: &RequestId, code: ErrorCode, message: String) -> Sse {
    let error = failed(Some(id.clone()), code, message);
    Sse { data: serde_json::to_string(&error).ok(), ..Sse::default() }
}

/// Splits an event into events with messages that the library reads, and `true` if one of them is an answer. `id` is
/// the request that the stream answers.
fn mended(mut event: Sse, id: Option<&RequestId>) -> (Vec<Result<Sse, SseError>>, bool) {
    let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
    let Some(text) = event.data.take().filter(|text| is_message && !text.trim().is_empty()) else {
        return (vec![Ok(event)], false);
    };
    if !is_too_much(text.as_bytes()) {
        let text = with_execution(&text).map_or_else(|| text.clone(), |message| message.to_string());
        if let Ok(message) = serde_json::from_str::<ServerJsonRpcMessage>(&text)
            && !id.is_some_and(|id| is_stray_error(&message, id))
        {
            event.data = Some(text);
            return (vec![Ok(event)], is_answer(&message));
        }
    }
    let messages = read(text.as_bytes()).unwrap_or_else(|problem| {
        tracing::debug!(problem, "an MCP server sent an event that is no message");
        Vec::new()
    });
    let messages: Vec<_> = messages.into_iter().map(|message| with_request_id(message, id)).collect();
    let has_answer = messages.iter().any(is_answer);
    let last = messages.len().saturating_sub(1);
    let one = |(at, message): (usize, ServerJsonRpcMessage)| {
        // The library takes the id of an event before its message: the last event of a batch keeps it.
        let event_id = event.id.clone().filter(|_| at == last);
        Ok(Sse { event: None, data: serde_json::to_string(&message).ok(), id: event_id, retry: event.retry })
    };
    (messages.into_iter().enumerate().map(one).collect(), has_answer)
}

fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
}

/// Assigns an error without the id of a request to the request that the stream answers.
fn with_request_id(message: ServerJsonRpcMessage, id: Option<&RequestId>) -> ServerJsonRpcMessage {
    match id {
        Some(id) if is_stray_error(&message, id) => answer_to(id, message.clone()).unwrap_or(message),
        _ => message,
    }
}
