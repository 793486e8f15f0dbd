//! Guarantees of every model provider, kept over a real socket.

use crate::wire::{KEY, MODEL, answer, chunk, last, provider, request};
use serde_json::{Value, json};
use windlass_gemini::Gemini;
use windlass_testkit::provider as kit;
use windlass_testkit::wire::{Dialect, Reply, WireServer};
use windlass_types::ModelErrorKind;

async fn pair() -> (WireServer, Gemini) {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    (server, provider)
}

/// Returns each kind of block, in deltas, without replay data beside blocks, which has no frames.
fn message() -> Vec<Value> {
    vec![
        chunk(json!([{"text": "hm", "thought": true, "thoughtSignature": "c2ln"}])),
        chunk(json!([{"text": "a"}])),
        chunk(json!([{"text": "b"}])),
        last(json!([{"functionCall": {"name": "Read", "args": {"file_path": "/x"}}}]), "STOP"),
    ]
}

#[tokio::test]
async fn answers_and_gives_frames() {
    let (server, provider) = pair().await;
    server.on_request(|_| answer(&message()));
    let answered = kit::answers(&provider, &request()).await.unwrap();
    assert_eq!(answered.text(), "ab");
    assert_eq!(answered.tool_inputs(), [("Read".to_owned(), r#"{"file_path":"/x"}"#.to_owned())]);
    kit::gives_frames(&provider, &request()).await.unwrap();
    kit::survives_cancellation(&provider, &request()).await.unwrap();
    kit::runs_in_parallel(&provider, &vec![request(); 8]).await.unwrap();
}

#[tokio::test]
async fn reports_cuts_at_every_event() {
    let (server, provider) = pair().await;
    let reply = answer(&message());
    for end in reply.event_ends().into_iter().rev().skip(1) {
        server.push(reply.clone().stop_at(end));
        kit::reports_a_cut(&provider, &request()).await.unwrap();
    }
}

#[tokio::test]
async fn fails_once_with_the_right_kind() {
    let (server, provider) = pair().await;
    let body = json!({"error": {"code": 503, "message": format!("overloaded {KEY}"), "status": "UNAVAILABLE"}});
    server.on_request(move |_| Reply::status(503, body.to_string()));
    kit::fails(&provider, &request(), ModelErrorKind::Overloaded, &[KEY]).await.unwrap();
    kit::does_not_retry(&provider, &request(), || server.request_count()).await.unwrap();
}

#[tokio::test]
async fn describes_its_models() {
    let (_server, provider) = pair().await;
    let names = ["flash", "pro", "default", MODEL, "models/gemini-2.5-pro", "gemini-4-neon", "gemma-4-31b-it", "other"];
    kit::describes_models(&provider, &names).unwrap();
    let vertex = Gemini::vertex("p", "global").token("t").build().unwrap();
    kit::describes_models(&vertex, &names).unwrap();
}

#[tokio::test]
async fn keeps_every_promise_over_long_sessions() {
    for model in [MODEL, "gemini-2.5-pro"] {
        let endpoint = kit::Endpoint::new(Dialect::Gemini, model, |url| {
            Gemini::builder().api_key(KEY).base_url(url).build().unwrap()
        });
        kit::all(&endpoint).await.unwrap_or_else(|broken| panic!("{model}\n{broken}"));
    }
}

#[tokio::test]
async fn requests_for_every_generation_of_models_are_valid() {
    for model in ["gemini-2.5-flash", "gemini-3-pro-preview", "gemini-4-neon", "gemma-4-31b-it", "unheard-of"] {
        let endpoint = kit::Endpoint::new(Dialect::Gemini, model, |url| {
            Gemini::builder().api_key(KEY).base_url(url).build().unwrap()
        });
        kit::sends_valid_requests(&endpoint).await.unwrap_or_else(|broken| panic!("{model}\n{broken}"));
    }
}

#[tokio::test]
async fn vertex_keeps_every_promise_over_long_sessions() {
    let endpoint = kit::Endpoint::new(Dialect::Gemini, MODEL, |url| {
        Gemini::vertex("p", "global").token(KEY).base_url(url).build().unwrap()
    });
    // Both services share one decoder.
    kit::all(&endpoint.every(31)).await.unwrap_or_else(|broken| panic!("{broken}"));
}
