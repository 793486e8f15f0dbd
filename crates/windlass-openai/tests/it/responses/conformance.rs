//! Guarantees of every model provider, kept over a real socket.

use super::wire::{Answer, KEY, provider, request};
use windlass_openai::OpenAi;
use windlass_testkit::provider as kit;
use windlass_testkit::wire::{Dialect, Reply, WireServer};
use windlass_types::ModelErrorKind;

async fn pair() -> (WireServer, OpenAi) {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    (server, provider)
}

fn answer() -> Reply {
    Answer::new()
        .reasoning("rs_1", &["first", "second"], Some("gAAA"))
        .text("msg_1", &["a", "b"])
        .call("call_1", "Read", &["{\"file_", "path\":\"/x\"}"])
        .reply()
}

#[tokio::test]
async fn answers_and_gives_frames() {
    let (server, provider) = pair().await;
    server.on_request(|_| answer());
    kit::answers(&provider, &request()).await.unwrap();
    kit::gives_frames(&provider, &request()).await.unwrap();
    kit::survives_cancellation(&provider, &request()).await.unwrap();
    kit::runs_in_parallel(&provider, &vec![request(); 8]).await.unwrap();
}

#[tokio::test]
async fn reports_cuts_at_every_event() {
    let (server, provider) = pair().await;
    let reply = answer();
    for end in reply.event_ends().into_iter().rev().skip(1) {
        server.push(reply.clone().stop_at(end));
        kit::reports_a_cut(&provider, &request()).await.unwrap();
    }
}

#[tokio::test]
async fn fails_once_with_the_right_kind() {
    let (server, provider) = pair().await;
    server.on_request(|_| Reply::error(503, "server_is_overloaded", KEY));
    kit::fails(&provider, &request(), ModelErrorKind::Overloaded, &[KEY]).await.unwrap();
    kit::does_not_retry(&provider, &request(), || server.request_count()).await.unwrap();
}

#[tokio::test]
async fn describes_its_models() {
    let (_server, provider) = pair().await;
    let names = ["default", "gpt-6.2-sol", "gpt-5.4-mini-2026-03-17", "gpt-5-nano", "gpt-4.1", "o3", "unheard-of"];
    kit::describes_models(&provider, &names).unwrap();
}

#[tokio::test]
async fn keeps_every_promise_over_long_sessions() {
    let endpoint = kit::Endpoint::new(Dialect::Responses, "gpt-5.4", |url| {
        OpenAi::builder().api_key(KEY).base_url(format!("{url}/v1")).build().unwrap()
    });
    kit::all(&endpoint).await.unwrap_or_else(|broken| panic!("{broken}"));
}

#[tokio::test]
async fn requests_for_every_generation_of_models_are_valid() {
    for model in ["gpt-6.2-sol", "gpt-5-nano", "gpt-4.1", "o3", "unheard-of"] {
        let endpoint = kit::Endpoint::new(Dialect::Responses, model, |url| {
            OpenAi::builder().api_key(KEY).base_url(format!("{url}/v1")).build().unwrap()
        });
        kit::sends_valid_requests(&endpoint).await.unwrap_or_else(|broken| panic!("{model}\n{broken}"));
    }
}
