//! Requests on the wire, and the setup of a provider.

use std::{collections::HashMap, sync::Arc};

use futures_util::StreamExt;
use serde_json::json;
use windlass_anthropic::Anthropic;
use windlass_model::{Catalogue, DEFAULT_MODEL, ModelError, ModelOverride, ModelProvider};
use windlass_testkit::wire::{Message as WireMessage, RecordedRequest, Reply, WireServer};
use windlass_types::{Api, ContentBlock, Message, ModelErrorKind, ModelRequest, NanoUsd, SharedMessage, Thinking};

fn request() -> ModelRequest {
    ModelRequest::new("claude-opus-5-5", vec![Message::user_text("hi").into()], 1000)
}

fn from(variables: &[(&str, &str)]) -> Result<Anthropic, ModelError> {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    Anthropic::from_lookup(|name| variables.get(name).map(|value| (*value).to_owned()))
}

/// Returns the request of a provider with these variables.
async fn sent(variables: &[(&str, &str)], request: ModelRequest) -> RecordedRequest {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    let url = server.url();
    let mut all = vec![("ANTHROPIC_BASE_URL", url.as_str())];
    all.extend(variables);
    let stream = from(&all).unwrap().stream(Arc::new(request)).await.unwrap();
    assert!(stream.collect::<Vec<_>>().await.iter().all(Result::is_ok));
    server.requests().remove(0)
}

/// Only the server knows how large the window of a model is that it has loaded.
#[tokio::test]
async fn a_server_of_the_user_is_asked_for_its_window() {
    let server = WireServer::start().await.unwrap();
    let url = server.url();
    let provider = || from(&[("ANTHROPIC_API_KEY", "sk-1"), ("ANTHROPIC_BASE_URL", &url)]).unwrap();
    let asked = provider();
    let before = asked.model_info("gemma");
    server.push(Reply::status(200, r#"{"object":"list","data":[{"id":"gemma","meta":{"n_ctx":12288}}]}"#));
    for _ in 0..2 {
        asked.prepare("gemma").await;
    }
    let sent = server.requests();
    assert_eq!(sent.len(), 1, "it is asked once");
    assert_eq!((sent[0].method.as_str(), sent[0].path.as_str()), ("GET", "/v1/models"));
    assert_eq!(sent[0].header("x-api-key"), Some("sk-1"));
    let info = asked.model_info("gemma");
    assert_eq!((info.context_window, info.max_output_tokens, info.window_from_server), (12_288, 6_144, true));
    // Models of the vendor have the windows of the table, whatever the server has loaded.
    for model in ["opus", "claude-opus-9"] {
        asked.prepare(model).await;
        assert!(server.request_count() == 1 && !asked.model_info(&asked.resolve_model(model)).window_from_server);
    }
    // Servers that do not say it change nothing.
    for reply in
        [Reply::status(500, "no"), Reply::status(200, "<html>"), Reply::status(200, r#"{"data":[{"id":"m"}]}"#)]
    {
        let silent = provider();
        server.push(reply);
        silent.prepare("gemma").await;
        assert_eq!(silent.model_info("gemma"), before);
    }
    assert_eq!(server.request_count(), 4);
}

#[tokio::test]
async fn posts_to_the_messages_endpoint_with_the_headers_of_the_api() {
    let sent = sent(&[("ANTHROPIC_API_KEY", "sk-1\n")], request()).await;
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/messages"));
    for (name, value) in [
        ("x-api-key", Some("sk-1")),
        ("authorization", None),
        ("anthropic-version", Some("2023-06-01")),
        ("anthropic-beta", None),
        ("content-type", Some("application/json")),
        ("accept-encoding", Some("identity")),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
    assert_eq!(sent.json().unwrap()["stream"], json!(true));
}

#[tokio::test]
async fn a_token_goes_before_a_key_and_settings_add_up() {
    let mut request = request();
    request.model = "claude-sonnet-4-5[1m]".into();
    request.betas = vec!["b".into(), "c".into()];
    let sent = sent(
        &[
            ("ANTHROPIC_API_KEY", "sk-1"),
            ("ANTHROPIC_AUTH_TOKEN", "token"),
            ("ANTHROPIC_BETAS", "a, b,"),
            ("ANTHROPIC_CUSTOM_HEADERS", "X-Team: one two\n\nuser-agent: mine\r\nanthropic-beta: z"),
        ],
        request,
    )
    .await;
    assert_eq!(sent.header("authorization"), Some("Bearer token"));
    assert_eq!(sent.header("x-api-key"), None);
    assert_eq!(sent.header("anthropic-beta"), Some("z,a,b,c,context-1m-2025-08-07,interleaved-thinking-2025-05-14"));
    assert_eq!(sent.header("x-team"), Some("one two"));
    assert_eq!(sent.header("user-agent"), Some("mine"));
    assert_eq!(sent.json().unwrap()["model"], "claude-sonnet-4-5");
}

#[test]
fn set_ups_that_cannot_work_say_what_to_do() {
    let key = ("ANTHROPIC_API_KEY", "sk-secret-1");
    for (variables, kind, says) in [
        (vec![], ModelErrorKind::Authentication, "ANTHROPIC_API_KEY"),
        (vec![("ANTHROPIC_API_KEY", " ")], ModelErrorKind::Authentication, "ANTHROPIC_API_KEY"),
        (vec![("ANTHROPIC_API_KEY", "sk\u{1}secret-1")], ModelErrorKind::Configuration, "key"),
        (vec![key, ("ANTHROPIC_BASE_URL", "localhost")], ModelErrorKind::Configuration, "base URL"),
        (vec![key, ("ANTHROPIC_CUSTOM_HEADERS", "nonsense")], ModelErrorKind::Configuration, "nonsense"),
        (vec![key, ("ANTHROPIC_CUSTOM_HEADERS", "a b: secret-1")], ModelErrorKind::Configuration, "a b"),
        (vec![key, ("ANTHROPIC_CUSTOM_HEADERS", "Host: secret-1")], ModelErrorKind::Configuration, "Host"),
    ] {
        let error = from(&variables).unwrap_err();
        assert_eq!(error.kind, kind, "{variables:?}");
        assert!(error.message.contains(says), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret-1"));
    }
}

#[test]
fn nothing_shows_the_key() {
    let builder = Anthropic::builder().api_key("sk-secret-1").header("cookie", "sk-secret-2");
    assert!(!format!("{builder:?}").contains("sk-secret"));
    assert!(!format!("{:?}", builder.build().unwrap()).contains("sk-secret"));
}

#[tokio::test]
async fn a_message_is_written_once_for_all_requests() {
    let server = WireServer::start().await.unwrap();
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build().unwrap();
    let first = SharedMessage::from(Message::user_text("first"));
    let text = first.json();
    let mut messages = vec![first.clone()];
    for turn in 0..3 {
        server.push(WireMessage::new().text("ok"));
        let request = ModelRequest::new("m", messages.clone(), 10);
        let stream = provider.stream(Arc::new(request)).await.unwrap();
        assert_eq!(stream.collect::<Vec<_>>().await.len(), 7);
        messages.push(Message::assistant(vec![ContentBlock::text("ok")]).into());
        messages.push(Message::user_text(format!("more {turn}")).into());
    }
    assert!(std::ptr::eq(text, messages[0].json()));
    let bodies = server.requests();
    let kept = bodies[1].body.len();
    let without_markers = |at: usize| {
        String::from_utf8_lossy(&bodies[at].body).replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
    };
    let (prefix, _) = without_markers(1).split_once("],\"max_tokens\"").map(|(a, b)| (a.to_owned(), b.len())).unwrap();
    assert!(without_markers(2).starts_with(&prefix) && kept > prefix.len());
}

#[tokio::test]
async fn turns_share_one_connection() {
    let server = WireServer::start_on_thread().unwrap();
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build().unwrap();
    for _ in 0..20 {
        server.push(WireMessage::new().text("ok"));
        let mut stream = provider.stream(Arc::new(request())).await.unwrap();
        // Like the loop: stops at the last item and drops the stream.
        while !matches!(stream.next().await, Some(Ok(item)) if item.event == windlass_types::ModelEvent::MessageStop) {}
        drop(stream);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
    assert!(server.connections() <= 2, "{} connections", server.connections());
}

#[tokio::test]
async fn counts_tokens() {
    let server = WireServer::start().await.unwrap();
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build().unwrap();
    server.push(Reply::json(&json!({"input_tokens": 2095})));
    assert_eq!(provider.count_tokens(Arc::new(request())).await.unwrap(), 2095);
    assert_eq!(server.requests()[0].path, "/v1/messages/count_tokens");
    assert!(server.requests()[0].json().unwrap().get("max_tokens").is_none());

    server.push(Reply::json(&json!({"input_tokens": "many"})));
    assert_eq!(provider.count_tokens(Arc::new(request())).await.unwrap_err().kind, ModelErrorKind::Protocol);
    server.push(Reply::error(404, "not_found_error", "no such endpoint"));
    assert_eq!(provider.count_tokens(Arc::new(request())).await.unwrap_err().kind, ModelErrorKind::NotFound);
}

/// A1: the treatment of bound reasoning is set if the model supports that, and only with reasoning.
#[tokio::test]
async fn the_control_of_bound_reasoning_comes_with_its_beta() {
    for (model, thinking, controlled) in [
        ("claude-fable-5-1", Thinking::Adaptive, true),
        ("claude-fable-5-1", Thinking::Off, false),
        ("claude-opus-4-6", Thinking::Adaptive, false),
    ] {
        let mut request = request();
        (request.model, request.thinking) = (model.to_owned(), thinking);
        let sent = sent(&[("ANTHROPIC_API_KEY", "k")], request).await;
        let beta = sent.header("anthropic-beta").is_some_and(|betas| betas.contains("thinking-binding-controls"));
        let member = !sent.json().unwrap()["thinking"]["block_binding"].is_null();
        assert_eq!((beta, member), (controlled, controlled), "{model} {thinking:?}");
    }
}

/// Some gateways do not know the controls of newer models: they are not sent again.
#[tokio::test]
async fn an_endpoint_that_refuses_the_controls_is_asked_without_them() {
    let server = WireServer::start().await.unwrap();
    let text = "thinking.adaptive.block_binding: Extra inputs are not permitted";
    server.push(Reply::error(400, "invalid_request_error", text));
    server.push(Reply::from(WireMessage::new().text("hi")));
    server.push(Reply::from(WireMessage::new().text("hi")));
    let provider = Anthropic::builder().api_key("k").base_url(server.url()).build().unwrap();
    let mut request = request();
    request.thinking = Thinking::Adaptive;
    for _ in 0..2 {
        let stream = provider.stream(Arc::new(request.clone())).await.unwrap();
        assert!(stream.count().await > 0);
    }
    let sent = server.requests();
    let controlled: Vec<bool> =
        sent.iter().map(|sent| !sent.json().unwrap()["thinking"]["block_binding"].is_null()).collect();
    assert_eq!(controlled, [true, false, false]);
    assert!(sent[1].header("anthropic-beta").is_none_or(|betas| !betas.contains("thinking-binding")));
}

#[test]
fn models_are_those_of_the_catalogue() {
    let provider = Anthropic::new("k").unwrap();
    for (name, id) in [
        ("default", DEFAULT_MODEL),
        ("sonnet", "claude-sonnet-5-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"),
        ("my-gateway/model", "my-gateway/model"),
    ] {
        assert_eq!(provider.resolve_model(name), id);
        let mut info = Catalogue::new().info(id);
        info.api = Api::new("anthropic", Api::MESSAGES);
        info.web_search = id.starts_with("claude-").then_some(NanoUsd::new(10_000_000));
        assert_eq!(provider.model_info(id), info, "{id}");
    }

    let mut window = ModelOverride::new();
    window.context_window = Some(50_000);
    let catalogue = Catalogue::new().with_alias("mine", "my-gateway/model").with_override("my-gateway/", window);
    let provider = Anthropic::builder().api_key("k").catalogue(catalogue).build().unwrap();
    assert_eq!(provider.resolve_model("mine"), "my-gateway/model");
    assert_eq!(provider.model_info("my-gateway/model").context_window, 50_000);
}
