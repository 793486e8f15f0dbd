//! Provider for a local server, and the traffic between them.

use crate::frames::{answer, end, metadata, start, text};
use futures_util::StreamExt;
use serde_json::Value;
use std::sync::Arc;
use windlass_bedrock::Bedrock;
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::{JsonText, Message, ModelEvent, ModelRequest, StopReason, ToolSpec, Usage};

pub(crate) const KEY: &str = "bedrock-api-key-secret-123";

pub(crate) const NOVA: &str = "us.amazon.nova-pro-v1:0";
pub(crate) const NOVA_2: &str = "global.amazon.nova-2-lite-v1:0";
pub(crate) const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
pub(crate) const OSS: &str = "openai.gpt-oss-120b-1:0";
pub(crate) const LLAMA: &str = "us.meta.llama3-3-70b-instruct-v1:0";

pub(crate) fn provider(server: &WireServer) -> Bedrock {
    Bedrock::builder().region("us-east-1").api_key(KEY).base_url(server.url()).build().unwrap()
}

pub(crate) fn request() -> ModelRequest {
    asking(NOVA, vec![Message::user_text("hi")])
}

pub(crate) fn asking(model: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest::new(model, messages.into_iter().map(Into::into).collect(), 1000)
}

pub(crate) fn tool(name: &str, schema: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(name, format!("does {name}"), JsonText::parse(schema).unwrap()))
}

/// Returns a short answer.
pub(crate) fn ok() -> Reply {
    answer(&[start(), text(0, "ok"), end("end_turn"), metadata()])
}

/// Returns everything that a stream yields, and the error that ends it.
pub(crate) async fn read(provider: &Bedrock, request: ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = match provider.stream(Arc::new(request)).await {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(item) if item.event == ModelEvent::Ping => {}
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
pub(crate) async fn read_reply(reply: Reply) -> (Vec<ModelEvent>, Option<ModelError>) {
    let server = WireServer::start().await.unwrap();
    server.push(reply);
    read(&provider(&server), request()).await
}

pub(crate) async fn read_frames(frames: &[Vec<u8>]) -> (Vec<ModelEvent>, Option<ModelError>) {
    read_reply(answer(frames)).await
}

/// Returns the body of a request.
pub(crate) async fn sent(request: ModelRequest) -> Value {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
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
