//! Every error class of the API, with bodies of its shape.

use std::{sync::Arc, time::Duration};

use windlass_anthropic::Anthropic;
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Event, Gate, Message as WireMessage, Reply, WireServer};
use windlass_types::{Message, ModelErrorKind, ModelRequest, RateLimit, RateLimitKind, RateLimitStatus};

const KEY: &str = "sk-ant-secret-123";

fn provider(server: &WireServer) -> Anthropic {
    Anthropic::builder().api_key(KEY).base_url(server.url()).build().unwrap()
}

fn request() -> Arc<ModelRequest> {
    Arc::new(ModelRequest::new("claude-opus-5-5", vec![Message::user_text("hi").into()], 1000))
}

async fn refused(reply: Reply) -> ModelError {
    let server = WireServer::start().await.unwrap();
    server.push(reply);
    provider(&server).stream(request()).await.err().unwrap()
}

#[tokio::test]
async fn each_answer_has_its_class() {
    use ModelErrorKind as Kind;
    let cases = [
        (400, "invalid_request_error", "messages.1.content: Field required", Kind::InvalidRequest),
        (400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum", Kind::PromptTooLong),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
            Kind::PromptTooLong,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
            Kind::Billing,
        ),
        (
            400,
            "invalid_request_error",
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            Kind::Billing,
        ),
        (
            400,
            "invalid_request_error",
            "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5",
            Kind::InvalidRequest,
        ),
        (401, "authentication_error", "invalid x-api-key", Kind::Authentication),
        (402, "billing_error", "There is an issue with your billing or payment information.", Kind::Billing),
        (
            403,
            "permission_error",
            "Your API key does not have permission to use the specified resource.",
            Kind::PermissionDenied,
        ),
        (404, "not_found_error", "model: claude-opus-9", Kind::NotFound),
        (408, "timeout_error", "Request timed out", Kind::Timeout),
        (413, "request_too_large", "Request exceeds the maximum size", Kind::RequestTooLarge),
        (413, "invalid_request_error", "Prompt is too long", Kind::PromptTooLong),
        (422, "invalid_request_error", "unprocessable", Kind::InvalidRequest),
        (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 80,000 input tokens per minute. Please reduce the prompt length.",
            Kind::RateLimited,
        ),
        (
            429,
            "rate_limit_error",
            "Number of request tokens has exceeded your per-minute rate limit",
            Kind::RateLimited,
        ),
        (429, "rate_limit_error", "Extra usage is required for long context requests.", Kind::Billing),
        (500, "api_error", "Internal server error", Kind::Server),
        (502, "api_error", "bad gateway", Kind::Server),
        (503, "api_error", "unavailable", Kind::Overloaded),
        (504, "timeout_error", "Request timed out", Kind::Timeout),
        (529, "overloaded_error", "Overloaded", Kind::Overloaded),
        (500, "overloaded_error", "Overloaded", Kind::Overloaded),
        (418, "later_error", "new", Kind::InvalidRequest),
    ];
    for (status, kind, text, expected) in cases {
        let error = refused(Reply::error(status, kind, text)).await;
        assert_eq!(error.kind, expected, "{status} {text}");
        assert_eq!(error.status, Some(status));
        assert_eq!(error.request_id.as_deref(), Some("req_wire"));
        assert!(error.message.contains(text), "{}", error.message);
        assert!(!error.message.contains('\n'));
    }
}

#[tokio::test]
async fn answers_that_are_not_of_the_api() {
    let html = "<html>\n<body>502 Bad Gateway</body>\n</html>\n";
    let error = refused(Reply::status(502, html)).await;
    assert_eq!(error.kind, ModelErrorKind::Server);
    assert!(error.message.ends_with("(502): <html> <body>502 Bad Gateway</body> </html>"), "{error}");

    assert_eq!(refused(Reply::status(529, "")).await.kind, ModelErrorKind::Overloaded);
    let long = refused(Reply::status(403, "x".repeat(1 << 20))).await.message;
    assert!(long.ends_with("xx…") && long.len() < 700, "{long}");
    let moved = refused(Reply::status(307, "").header("location", "http://elsewhere/")).await;
    assert_eq!(moved.kind, ModelErrorKind::Configuration);

    let page = Reply::status(200, "<html>").header("content-type", "text/html");
    assert_eq!(refused(page).await.kind, ModelErrorKind::Protocol);
    let hidden = Reply::error(200, "overloaded_error", "Overloaded");
    assert_eq!(refused(hidden).await.kind, ModelErrorKind::Overloaded);
}

#[tokio::test]
async fn waits_are_passed_on_and_capped() {
    let limited = || Reply::error(429, "rate_limit_error", "slow down");
    assert_eq!(refused(limited()).await.retry_after, None);
    assert_eq!(refused(limited().header("retry-after", "7")).await.retry_after, Some(Duration::from_secs(7)));
    let date = limited()
        .header("date", "Sat, 21 Nov 2026 12:00:00 GMT")
        .header("retry-after", "Sat, 21 Nov 2026 12:00:30 GMT");
    assert_eq!(refused(date).await.retry_after, Some(Duration::from_secs(30)));
    let hours = refused(limited().header("retry-after", "18000")).await;
    assert_eq!(hours.retry_after, Some(Duration::from_secs(18_000)));
    let forever = refused(limited().header("retry-after", "31536000")).await;
    assert_eq!(forever.retry_after, Some(Duration::from_secs(31 * 24 * 3600)));
}

#[tokio::test]
async fn what_the_server_says_of_a_repeat_is_passed_on() {
    let limited = || Reply::error(429, "rate_limit_error", "slow down");
    assert_eq!(refused(limited()).await.should_retry, None);
    for (value, expected) in
        [("true", Some(true)), ("false", Some(false)), (" False ", Some(false)), ("maybe", None), ("", None)]
    {
        assert_eq!(refused(limited().header("x-should-retry", value)).await.should_retry, expected, "{value:?}");
    }
}

/// The status of an error is known before its body, so a slow body does not delay the error.
#[tokio::test]
async fn an_error_whose_body_drips_is_reported_soon() {
    let server = WireServer::start().await.unwrap();
    let provider =
        Anthropic::builder().api_key(KEY).base_url(server.url()).idle_timeout(Duration::from_secs(2)).build().unwrap();
    let gates: Vec<Gate> = (0..200).map(|_| Gate::new()).collect();
    let reply = Reply::error(529, "overloaded_error", &"Overloaded. ".repeat(20));
    server.push(gates.iter().enumerate().fold(reply, |reply, (at, gate)| reply.pause_at(at + 1, gate)));
    let mut opened = 0;
    let drip = async {
        for gate in &gates {
            tokio::time::sleep(Duration::from_millis(50)).await;
            gate.open();
            opened += 1;
        }
        std::future::pending::<()>().await;
    };
    let error = tokio::select! {
        refused = provider.stream(request()) => refused.err().unwrap(),
        () = drip => unreachable!(),
    };
    assert!(opened < 200, "all of the body was waited for");
    assert_eq!((error.kind, error.status), (ModelErrorKind::Overloaded, Some(529)));
    assert!(error.message.contains(r#"{"#), "what has come is lost: {error}");
}

/// Returns the https address of a server that speaks no TLS.
fn without_tls() -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut hello = [0; 4096];
        let _ = socket.read(&mut hello);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    url
}

#[tokio::test]
async fn what_reached_no_model_is_not_billed() {
    let gone = WireServer::start().await.unwrap();
    let url = gone.url();
    drop(gone);
    tokio::task::yield_now().await;
    for (url, kind) in [(url, ModelErrorKind::Connection), (without_tls(), ModelErrorKind::Configuration)] {
        let provider = Anthropic::builder().api_key(KEY).base_url(url).build().unwrap();
        let error = provider.stream(request()).await.err().unwrap();
        assert_eq!((error.kind, error.unbilled), (kind, true), "{error}");
    }
    let page = Reply::status(200, "<html>").header("content-type", "text/html");
    assert!(refused(page).await.unbilled);
    let whole = Reply::status(200, r#"{"type":"message"}"#).header("content-type", "application/json");
    assert!(!refused(whole).await.unbilled);
    assert!(!refused(Reply::reset()).await.unbilled);
}

#[tokio::test]
async fn error_events_inside_a_stream_have_their_class() {
    use ModelErrorKind as Kind;
    for (kind, expected) in [
        ("overloaded_error", Kind::Overloaded),
        ("api_error", Kind::Server),
        ("rate_limit_error", Kind::RateLimited),
        ("invalid_request_error", Kind::InvalidRequest),
        ("authentication_error", Kind::Authentication),
        ("timeout_error", Kind::Timeout),
        ("later_error", Kind::Server),
    ] {
        let mut events = WireMessage::new().text("hello").events("m");
        let data = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"it broke {KEY}"}}}}"#);
        for at in [0, 3] {
            let server = WireServer::start().await.unwrap();
            events.truncate(at);
            events.push(Event::named("error", data.clone()));
            server.push(Reply::events(events.clone()));
            let mut stream = provider(&server).stream(request()).await.unwrap();
            let mut last = None;
            while let Some(item) = futures_util::StreamExt::next(&mut stream).await {
                last = Some(item);
            }
            let error = last.unwrap().unwrap_err();
            assert_eq!(error.kind, expected, "{kind} at {at}");
            assert_eq!(error.request_id.as_deref(), Some("req_wire"));
            assert!(error.message.contains("it broke [redacted]"));
            events = WireMessage::new().text("hello").events("m");
        }
    }
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_shown() {
    let error = refused(Reply::error(401, "authentication_error", &format!("invalid key {KEY}"))).await;
    assert!(!format!("{error} {error:?}").contains(KEY));
    assert!(error.message.contains("check ANTHROPIC_API_KEY"));
}

#[tokio::test]
async fn a_closed_port_is_a_connection_error() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    drop(server);
    tokio::task::yield_now().await;
    let error = provider.stream(request()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Connection);
    assert_eq!(provider.count_tokens(request()).await.unwrap_err().kind, ModelErrorKind::Connection);
}

#[tokio::test]
async fn a_refusal_reports_the_allowance() {
    let limited = || Reply::error(429, "rate_limit_error", "This request would exceed your account's rate limit.");
    let error = refused(
        limited()
            .header("anthropic-ratelimit-unified-status", "rejected")
            .header("anthropic-ratelimit-unified-representative-claim", "seven_day")
            .header("anthropic-ratelimit-unified-reset", "1795170000"),
    )
    .await;
    let limit = RateLimit::new(RateLimitStatus::Rejected)
        .with_kind(Some(RateLimitKind::SevenDay))
        .with_resets_at(Some(1_795_170_000));
    assert_eq!((error.kind, error.rate_limit.as_deref()), (ModelErrorKind::RateLimited, Some(&limit)));
    let error = refused(limited().header("anthropic-ratelimit-tokens-remaining", "0")).await;
    assert_eq!((error.kind, error.rate_limit), (ModelErrorKind::RateLimited, None));
}
