//! A2: strict tools that the API refuses are sent without strictness, once and for all.

use std::sync::Arc;

use futures_util::StreamExt;
use windlass_anthropic::Anthropic;
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Message as WireMessage, Reply, WireServer};
use windlass_types::{JsonText, Message, ModelErrorKind, ModelRequest, Thinking, ToolSpec};

const TOO_LARGE: &str = "tools: The compiled grammar is too large, which would cause performance issues.";

fn tool(name: &str) -> Arc<ToolSpec> {
    let mut tool = ToolSpec::new(name, "Does it.", JsonText::parse(r#"{"type":"object"}"#).unwrap());
    tool.strict = true;
    Arc::new(tool)
}

fn request(tools: &[&str]) -> ModelRequest {
    let mut request = ModelRequest::new("claude-opus-5-5", vec![Message::user_text("hi").into()], 1000);
    request.tools = tools.iter().map(|name| tool(name)).collect();
    request
}

fn provider(server: &WireServer) -> Anthropic {
    Anthropic::builder().api_key("k").base_url(server.url()).build().unwrap()
}

async fn read(provider: &Anthropic, request: ModelRequest) -> Result<(), ModelError> {
    let items = provider.stream(Arc::new(request)).await?.collect::<Vec<_>>().await;
    items.into_iter().collect::<Result<Vec<_>, _>>().map(drop)
}

/// Returns `true` for each strict tool of each request.
fn strict(server: &WireServer) -> Vec<Vec<bool>> {
    let tools = |body: serde_json::Value| {
        let tools = body["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["strict"] == true).collect()
    };
    server.requests().iter().map(|sent| tools(sent.json().unwrap())).collect()
}

#[tokio::test]
async fn a2_refused_strictness_is_given_up_once_for_these_tools() {
    for text in [
        TOO_LARGE,
        "Too many strict tools (25). The maximum number of strict tools supported is 20.",
        "Schemas contains too many parameters with union types (17 parameters with type arrays or anyOf).",
        "tools.0.custom.input_schema: For 'integer' type, properties maximum, minimum are not supported",
    ] {
        let server = WireServer::start().await.unwrap();
        let provider = provider(&server);
        server.push(Reply::error(400, "invalid_request_error", text));
        for _ in 0..3 {
            server.push(WireMessage::new().text("ok"));
        }
        read(&provider, request(&["a", "b"])).await.unwrap();
        read(&provider, request(&["a", "b"])).await.unwrap();
        // Another tool is sent unchanged.
        read(&provider, request(&["a", "c"])).await.unwrap();
        assert_eq!(strict(&server), [[true, true], [false, false], [false, false], [false, true]], "{text}");
    }
}

#[tokio::test]
async fn a2_a_second_refusal_is_the_error() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    server.on_request(|_| Reply::error(400, "invalid_request_error", TOO_LARGE));
    let error = read(&provider, request(&["a"])).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::InvalidRequest, 2));
    let error = read(&provider, request(&["a"])).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::InvalidRequest, 3));
}

/// Concurrent requests are refused at the same time: each of them is sent anew.
#[tokio::test]
async fn what_is_refused_is_given_up_by_all_requests_under_way() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    server.on_request(|sent| match sent.json().unwrap() {
        body if body["tools"][0]["strict"] == true => Reply::error(400, "invalid_request_error", TOO_LARGE),
        body if !body["thinking"]["block_binding"].is_null() => {
            let text = "thinking.adaptive.block_binding: Extra inputs are not permitted";
            Reply::error(400, "invalid_request_error", text)
        }
        _ => WireMessage::new().text("ok").into(),
    });
    let both = || {
        let mut request = request(&["a"]);
        request.thinking = Thinking::Adaptive;
        read(&provider, request)
    };
    let all = futures_util::future::join_all((0..8).map(|_| both())).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
}
