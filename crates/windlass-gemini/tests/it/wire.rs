//! Answers in the streaming form of the API, and a provider for a local server.

use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_gemini::Gemini;
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Event, Reply, WireServer};
use windlass_types::{JsonText, Message, ModelEvent, ModelRequest, StopReason, ToolSpec, Usage};

pub(crate) const KEY: &str = "AIza-secret-123";

pub(crate) const MODEL: &str = "gemini-3.8-flash";

pub(crate) fn provider(server: &WireServer) -> Gemini {
    Gemini::builder().api_key(KEY).base_url(server.url()).build().unwrap()
}

pub(crate) fn request() -> ModelRequest {
    asking(MODEL, vec![Message::user_text("hi")])
}

pub(crate) fn asking(model: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest::new(model, messages.into_iter().map(Into::into).collect(), 1000)
}

pub(crate) fn tool(name: &str, schema: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(name, format!("does {name}"), JsonText::parse(schema).unwrap()))
}

/// Returns a chunk with these parts.
pub(crate) fn chunk(parts: Value) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "totalTokenCount": 100,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}]},
        "modelVersion": "gemini-3.8-flash-001",
        "responseId": "resp_1",
    })
}

/// Returns a last chunk with these parts.
pub(crate) fn last(parts: Value, reason: &str) -> Value {
    let mut last = chunk(parts);
    last["candidates"][0]["finishReason"] = reason.into();
    last["usageMetadata"] = json!({"promptTokenCount": 100, "cachedContentTokenCount": 40,
        "candidatesTokenCount": 7, "thoughtsTokenCount": 20, "totalTokenCount": 127});
    last
}

pub(crate) fn answer(chunks: &[Value]) -> Reply {
    Reply::events(chunks.iter().map(|chunk| Event::named("message", chunk.to_string())).collect())
}

/// Returns everything that a stream yields, and the error that ends it.
pub(crate) async fn read(provider: &Gemini, request: ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = match provider.stream(Arc::new(request)).await {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(item) => events.push(item.event),
            Err(error) => {
                assert!(stream.next().await.is_none());
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Returns the events and the error of one answer.
pub(crate) async fn read_chunks(chunks: &[Value]) -> (Vec<ModelEvent>, Option<ModelError>) {
    let server = WireServer::start().await.unwrap();
    server.push(answer(chunks));
    read(&provider(&server), request()).await
}

/// Returns the body of a request.
pub(crate) async fn sent(request: ModelRequest) -> Value {
    let server = WireServer::start().await.unwrap();
    server.push(answer(&[last(json!([{"text": "ok"}]), "STOP")]));
    let (_, error) = read(&provider(&server), request).await;
    assert!(error.is_none(), "{error:?}");
    server.requests().remove(0).json().unwrap()
}

pub(crate) fn is_complete(events: &[ModelEvent]) -> bool {
    events.contains(&ModelEvent::MessageStop)
}

pub(crate) fn ending(events: &[ModelEvent]) -> Option<(StopReason, Usage)> {
    events.iter().find_map(|event| match event {
        ModelEvent::MessageDelta { stop_reason: Some(reason), usage } => Some((reason.clone(), *usage)),
        _ => None,
    })
}
