//! Every error class of the API, with bodies of its shape.

use std::time::Duration;

use super::wire::{Answer, KEY, answered, provider, read, reply, request};
use serde_json::json;
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::{ErrorClass, ModelErrorKind, ModelEvent};

async fn refused(reply: Reply) -> ModelError {
    answered(reply).await.1.unwrap()
}

fn failure(status: u16, code: &str, text: &str) -> Reply {
    let body = json!({"error": {"message": text, "type": "invalid_request_error", "param": null, "code": code}});
    Reply::status(status, body.to_string()).header("content-type", "application/json").header("x-request-id", "req_1")
}

#[tokio::test]
async fn each_answer_has_its_class() {
    use ModelErrorKind as Kind;
    let cases = [
        (400, "invalid_value", "Invalid 'input[1].id': 'x'.", Kind::InvalidRequest),
        (400, "context_length_exceeded", "Your input exceeds the context window of this model.", Kind::PromptTooLong),
        (401, "invalid_api_key", "Incorrect API key provided.", Kind::Authentication),
        (403, "", "Your organization must be verified.", Kind::PermissionDenied),
        (404, "model_not_found", "The model `gpt-9` does not exist.", Kind::NotFound),
        (400, "invalid_encrypted_content", "The encrypted content gAAA could not be verified.", Kind::ReplayRejected),
        (
            400,
            "",
            "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
            Kind::ReplayRejected,
        ),
        (
            404,
            "",
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
            Kind::ReplayRejected,
        ),
        (429, "rate_limit_exceeded", "Rate limit reached for gpt-5. Please try again in 6s.", Kind::RateLimited),
        (429, "insufficient_quota", "You exceeded your current quota.", Kind::Billing),
        (500, "server_error", "The server had an error.", Kind::Server),
        (503, "", "The engine is currently overloaded.", Kind::Overloaded),
        (504, "", "gateway timeout", Kind::Timeout),
    ];
    for (status, code, text, expected) in cases {
        let error = refused(failure(status, code, text)).await;
        assert_eq!(error.kind, expected, "{status} {text}");
        assert_eq!((error.status, error.request_id.as_deref()), (Some(status), Some("req_1")));
        assert!(error.message.contains(text), "{}", error.message);
    }
}

#[tokio::test]
async fn waits_are_passed_on() {
    let limited = || failure(429, "rate_limit_exceeded", "Please try again in 6s.");
    assert_eq!(refused(limited()).await.retry_after, Some(Duration::from_secs(6)));
    assert_eq!(refused(limited().header("retry-after-ms", "250")).await.retry_after, Some(Duration::from_millis(250)));
    assert_eq!(refused(limited().header("x-should-retry", "false")).await.should_retry, Some(false));
}

#[tokio::test]
async fn b7_failures_inside_a_200_have_the_class_of_their_code() {
    use ModelErrorKind as Kind;
    for (code, expected) in [
        ("server_error", Kind::Server),
        ("rate_limit_exceeded", Kind::RateLimited),
        ("context_length_exceeded", Kind::PromptTooLong),
        ("insufficient_quota", Kind::Billing),
        ("invalid_prompt", Kind::InvalidRequest),
        ("server_is_overloaded", Kind::Overloaded),
        ("bio_policy", Kind::InvalidRequest),
        ("image_too_large", Kind::InvalidRequest),
        ("later_code", Kind::Server),
    ] {
        let text = format!("it broke {KEY}");
        let detail = json!({"code": code, "message": text});
        let events = [
            Answer::new().text("msg_1", &["a"]).ended("failed", &json!({"error": detail})),
            Answer::new().push(json!({"type": "error", "code": code, "message": text, "param": null})).events,
            Answer::new().push(json!({"type": "error", "error": detail})).events,
            vec![json!({"type": "error", "error": detail})],
        ];
        for events in events {
            let (_, error) = answered(reply(&events)).await;
            let error = error.unwrap();
            assert_eq!((error.kind, error.status), (expected, None), "{events:?}");
            assert_eq!(error.request_id.as_deref(), Some("req_1"));
            assert!(error.message.contains("it broke [redacted]"), "{error}");
        }
    }
    let (_, error) = answered(reply(&Answer::new().ended("failed", &json!({})))).await;
    assert_eq!(error.unwrap().kind, Kind::Server);
}

#[tokio::test]
async fn answers_that_are_no_stream() {
    let page = Reply::status(200, "<html>").header("content-type", "text/html");
    let error = refused(page).await;
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Protocol, true));
    assert!(error.message.contains("OPENAI_BASE_URL"), "{error}");

    let whole = Answer::new().text("msg_1", &["a"]).end("completed", &json!({}))["response"].clone();
    let error = refused(Reply::json(&whole)).await;
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Protocol, false));
    assert!(error.message.contains("not an event stream"), "{error}");

    let hidden = Reply::json(&json!({"error": {"code": "server_is_overloaded", "message": "later"}}));
    assert_eq!(refused(hidden).await.kind, ModelErrorKind::Overloaded);

    let html = refused(Reply::status(502, "<html>\n<body>502 Bad Gateway</body>\n</html>\n")).await;
    assert!(html.message.ends_with("(502): <html> <body>502 Bad Gateway</body> </html>"), "{html}");
    let moved = refused(Reply::status(307, "").header("location", "http://elsewhere/")).await;
    assert_eq!(moved.kind, ModelErrorKind::Configuration);
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_shown() {
    let error = refused(failure(401, "invalid_api_key", &format!("Incorrect API key provided: {KEY}."))).await;
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert!(error.message.contains("check OPENAI_API_KEY"));
}

#[tokio::test]
async fn a_closed_port_is_a_connection_error() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    drop(server);
    tokio::task::yield_now().await;
    let (_, error) = read(&provider, &request()).await;
    let error = error.unwrap();
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Connection, true));
    assert_eq!(provider.count_tokens(request().into()).await.unwrap_err().kind, ModelErrorKind::Connection);
}

#[tokio::test]
async fn broken_streams_are_errors_of_the_protocol() {
    let added = |place: usize, kind: &str| json!({"type": "response.output_item.added", "output_index": place, "item": {"id": format!("i_{place}"), "type": kind}});
    let text = |place: usize| json!({"type": "response.output_text.delta", "output_index": place, "content_index": 0, "delta": "a"});
    let done = |place: usize, item: &serde_json::Value| json!({"type": "response.output_item.done", "output_index": place, "item": item});
    let call = json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "Read", "arguments": "{}"});
    let cases = [
        vec![json!({"type": "response.output_text.delta", "output_index": 0})],
        vec![json!({"type": "response.output_text.delta", "output_index": 0, "delta": 5})],
        vec![json!({"type": "response.output_item.added", "output_index": 0})],
        vec![json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "x"}})],
        vec![json!({"type": "response.output_item.added", "output_index": 0, "item": "x"})],
        vec![json!({"type": "response.output_item.added", "output_index": -1, "item": {"type": "message"}})],
        vec![json!({"type": "response.completed"})],
        vec![json!({"type": "response.completed", "response": 1})],
        vec![added(0, "message"), added(0, "message")],
        vec![added(0, "reasoning"), text(0)],
        vec![added(0, "message"), done(0, &json!({"type": "reasoning"}))],
        vec![done(0, &json!({"type": "message", "content": []})), text(0)],
        vec![done(0, &json!({"type": "message"})), done(0, &json!({"type": "message"}))],
        vec![json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{"})],
        vec![done(0, &json!({"type": "function_call", "call_id": "call_1", "arguments": "{}"}))],
        vec![
            json!({"type": "response.output_item.added", "output_index": 0, "item": call}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "function_call", "call_id": "call_2", "name": "Read", "arguments": "{}"}}),
        ],
        vec![json!([1])],
    ];
    for more in cases {
        let mut events = Answer::new().events;
        events.extend(more.clone());
        let (events, error) = answered(reply(&events)).await;
        let error = error.unwrap_or_else(|| panic!("{more:?} is no error"));
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{more:?}: {error}");
        assert_eq!(error.kind.class(), ErrorClass::Transient);
        assert!(!events.contains(&ModelEvent::MessageStop));
    }
    for garbage in ["data: {\n\n", "data: nonsense\n\n", "data: \"x\"\n\n"] {
        assert_eq!(refused(Reply::stream_bytes(garbage)).await.kind, ModelErrorKind::Protocol, "{garbage}");
    }
    let early = [text(0)];
    assert_eq!(answered(reply(&early)).await.1.unwrap().kind, ModelErrorKind::Protocol);
}
