//! Guarantees of every model provider, kept over a real socket.

use serde_json::json;
use windlass_anthropic::Anthropic;
use windlass_testkit::{
    provider as kit,
    wire::{Dialect, Message as WireMessage, Reply, WireServer},
};
use windlass_types::{Message, ModelErrorKind, ModelRequest};

const KEY: &str = "sk-ant-secret-123";

async fn pair() -> (WireServer, Anthropic) {
    let server = WireServer::start().await.unwrap();
    let provider = Anthropic::builder().api_key(KEY).base_url(server.url()).build().unwrap();
    (server, provider)
}

fn request() -> ModelRequest {
    ModelRequest::new("claude-opus-5-5", vec![Message::user_text("hi").into()], 1000)
}

fn message() -> WireMessage {
    WireMessage::new().thinking("hm", "sig").text_deltas(["a", "b"]).tool_use("t", "Read", json!({"file_path": "/x"}))
}

/// Checks the guarantees at every service: `names` are models, and `secret` must not appear in errors.
pub(crate) async fn keeps_promises(
    server: &WireServer,
    provider: &Anthropic,
    request: &ModelRequest,
    secret: &str,
    names: &[&str],
) {
    let reply = Reply::from(message());
    for end in reply.event_ends().into_iter().rev().skip(1) {
        server.push(reply.clone().stop_at(end));
        kit::reports_a_cut(provider, request).await.unwrap();
    }
    server.on_request(|_| message().into());
    kit::answers(provider, request).await.unwrap();
    kit::gives_frames(provider, request).await.unwrap();
    kit::survives_cancellation(provider, request).await.unwrap();
    kit::runs_in_parallel(provider, &vec![request.clone(); 8]).await.unwrap();
    server.on_request(|_| Reply::error(529, "overloaded_error", "Overloaded"));
    kit::fails(provider, request, ModelErrorKind::Overloaded, &[secret]).await.unwrap();
    kit::does_not_retry(provider, request, || server.request_count()).await.unwrap();
    kit::describes_models(provider, names).unwrap();
}

#[tokio::test]
async fn keeps_the_promises_of_a_provider() {
    let (server, provider) = pair().await;
    let names = ["opus", "sonnet[1m]", "haiku", "claude-sonnet-4-5[1m]", "claude-opus-4-1-20250805", "unheard-of"];
    keeps_promises(&server, &provider, &request(), KEY, &names).await;
}

#[tokio::test]
async fn keeps_every_promise_over_long_sessions() {
    let endpoint = kit::Endpoint::new(Dialect::Messages, "claude-opus-5-5", |url| {
        Anthropic::builder().api_key(KEY).base_url(url).build().unwrap()
    });
    kit::all(&endpoint).await.unwrap_or_else(|broken| panic!("{broken}"));
}

#[tokio::test]
async fn requests_for_every_generation_of_models_are_valid() {
    for model in ["claude-opus-4-6", "claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-1", "unheard-of"] {
        let endpoint = kit::Endpoint::new(Dialect::Messages, model, |url| {
            Anthropic::builder().api_key(KEY).base_url(url).build().unwrap()
        });
        kit::sends_valid_requests(&endpoint).await.unwrap_or_else(|broken| panic!("{model}\n{broken}"));
    }
}
