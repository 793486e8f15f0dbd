//! Every error class of the API, with bodies of its shape.

use crate::wire::{KEY, answer, chunk, provider, read, request};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_model::ModelError;
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::{ModelErrorKind, Timestamp};

const QUOTA: &str = "You exceeded your current quota, please check your plan and billing details. For more information \
on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.";

async fn refused(reply: Reply) -> ModelError {
    let server = WireServer::start().await.unwrap();
    server.push(reply);
    read(&provider(&server), request()).await.1.unwrap()
}

fn body(code: u16, status: &str, message: &str, details: Value) -> Value {
    json!({"error": {"code": code, "message": message, "status": status, "details": details}})
}

fn status(code: u16, status: &str, message: &str) -> Reply {
    Reply::status(code, body(code, status, message, json!([])).to_string())
}

fn limited(message: &str, details: Value) -> Reply {
    Reply::status(429, body(429, "RESOURCE_EXHAUSTED", message, details).to_string())
}

fn violation(id: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [
        {"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": id,
         "quotaDimensions": {"location": "global", "model": "gemini-2.5-pro"}, "quotaValue": "2"}]})
}

fn retry_in(delay: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
}

#[tokio::test]
async fn each_answer_has_its_class() {
    use ModelErrorKind as Kind;
    for (code, name, text, expected) in [
        (400, "INVALID_ARGUMENT", "Invalid value at 'contents[0]'", Kind::InvalidRequest),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", Kind::Authentication),
        (400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", Kind::Authentication),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1234567) exceeds the maximum number of tokens allowed (1048576).",
            Kind::PromptTooLong,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "Unable to submit request because the input token count is 1200000 but the model only supports up to 1048576.",
            Kind::PromptTooLong,
        ),
        (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", Kind::RequestTooLarge),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", Kind::InvalidRequest),
        (401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", Kind::Authentication),
        (403, "PERMISSION_DENIED", "Permission denied on resource project p.", Kind::PermissionDenied),
        (404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", Kind::NotFound),
        (413, "", "too large", Kind::RequestTooLarge),
        (429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.", Kind::RateLimited),
        (499, "CANCELLED", "The operation was cancelled.", Kind::Server),
        (500, "INTERNAL", "An internal error has occurred.", Kind::Server),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", Kind::Overloaded),
        (504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", Kind::Timeout),
    ] {
        let error = refused(status(code, name, text)).await;
        assert_eq!((error.kind, error.status), (expected, Some(code)), "{text}");
        assert!(error.message.contains(text), "{}", error.message);
        // The same in an array, as in streams, and inside a stream.
        let data = json!([body(code, name, text, json!([]))]);
        assert_eq!(refused(Reply::status(code, data.to_string())).await.kind, expected, "{text}");
        let inside = answer(&[chunk(json!([{"text": "a"}])), body(code, name, text, json!([]))]);
        let error = refused(inside).await;
        assert_eq!((error.kind, error.status), (expected, None), "{text}");
        assert_eq!(error.request_id.as_deref(), Some("resp_1"));
    }
}

#[tokio::test]
async fn d1_a_refused_signature_is_a_rejected_replay() {
    for text in [
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
        "Function call `Read` in the `1.` content block is missing a `thought_signature`.",
        "Thought signature is not valid.",
        "Corrupted thought signature.",
        "Invalid thought signature",
    ] {
        let error = refused(status(400, "INVALID_ARGUMENT", text)).await;
        assert_eq!(error.kind, ModelErrorKind::ReplayRejected, "{text}");
    }
}

#[tokio::test]
async fn d7_waits_are_read_from_details_and_prose() {
    let seconds = Duration::from_secs_f64;
    for (reply, wait) in [
        (limited("Slow down", json!([retry_in("45.837906927s")])), Some(seconds(45.837_906_927))),
        (limited("Please retry in 26.66s.", json!([])), Some(seconds(26.66))),
        (
            limited(
                "Slow down",
                json!([{"reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quotaResetDelay": "373.8ms"}}]),
            ),
            Some(seconds(0.3738)),
        ),
        (limited("Slow down", json!([])).header("retry-after", "7"), Some(seconds(7.0))),
        (limited("Slow down", json!("odd")), None),
    ] {
        let error = refused(reply).await;
        assert_eq!(error.kind, ModelErrorKind::RateLimited);
        let close = match (error.retry_after, wait) {
            (Some(one), Some(other)) => one.abs_diff(other) < Duration::from_micros(1),
            (one, other) => one == other,
        };
        assert!(close, "{:?} for {wait:?}", error.retry_after);
    }
}

#[tokio::test]
async fn d7_a_named_short_window_wins_over_the_billing_prose() {
    let minute = violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier");
    let error = refused(limited(QUOTA, json!([minute, retry_in("26s")]))).await;
    assert_eq!((error.kind, error.retry_after), (ModelErrorKind::RateLimited, Some(Duration::from_secs(26))));
    assert_eq!(refused(limited(QUOTA, json!([minute]))).await.kind, ModelErrorKind::RateLimited);
    let error = refused(limited(&format!("{QUOTA}\nPlease retry in 26.5s."), json!([]))).await;
    assert_eq!((error.kind, error.retry_after), (ModelErrorKind::RateLimited, Some(Duration::from_millis(26_500))));
    // Without window and wait only the prose is left.
    assert_eq!(refused(limited(QUOTA, json!([]))).await.kind, ModelErrorKind::Billing);
}

#[tokio::test]
async fn d7_a_quota_of_a_day_is_final() {
    let day = violation("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    let minute = violation("GenerateRequestsPerMinutePerProjectPerModel-FreeTier");
    for details in [json!([day, retry_in("36s")]), json!([minute, day]), json!([day, minute])] {
        let error = refused(limited(&format!("{QUOTA}\nPlease retry in 36s."), details)).await;
        assert_eq!((error.kind, error.retry_after, error.resets_at), (ModelErrorKind::QuotaExhausted, None, None));
    }
    let metadata = |more: Value| {
        let mut metadata = json!({"quota_limit": "Gemini25ProRequestsPerDay"});
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "metadata": metadata}])
    };
    let at = "2026-11-24T08:00:00Z";
    let error = refused(limited("Quota exceeded", metadata(json!({"quotaResetTimeStamp": at})))).await;
    assert_eq!((error.kind, error.resets_at), (ModelErrorKind::QuotaExhausted, Timestamp::parse(at)));
    let error = refused(limited("Quota exceeded", metadata(json!({"quotaResetDelay": "2h37m12s"})))).await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let left = error.resets_at.unwrap().since(Timestamp::from_millis(0).after(now));
    assert!(left.abs_diff(Duration::from_secs(2 * 3600 + 37 * 60 + 12)) < Duration::from_secs(60), "{left:?}");
    // Without details the prose names the window.
    let prose = "Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Requests per day per user'";
    assert_eq!(refused(limited(prose, json!([]))).await.kind, ModelErrorKind::QuotaExhausted);
}

#[tokio::test]
async fn answers_that_are_not_of_the_api() {
    let html = "<html>\n<body>502 Bad Gateway</body>\n</html>\n";
    let error = refused(Reply::status(502, html)).await;
    assert_eq!(error.kind, ModelErrorKind::Server);
    assert!(error.message.ends_with("(502): <html> <body>502 Bad Gateway</body> </html>"), "{error}");
    let moved = refused(Reply::status(307, "").header("location", "http://elsewhere/")).await;
    assert_eq!(moved.kind, ModelErrorKind::Configuration);
    let page = refused(Reply::status(200, "<html>").header("content-type", "text/html")).await;
    assert_eq!((page.kind, page.unbilled), (ModelErrorKind::Protocol, true));
    assert!(page.message.contains("GOOGLE_GEMINI_BASE_URL"), "{page}");
    let whole = refused(Reply::json(&json!([chunk(json!([{"text": "a"}]))]))).await;
    assert_eq!((whole.kind, whole.unbilled), (ModelErrorKind::Protocol, false));
    let hidden = refused(Reply::json(&json!([body(503, "UNAVAILABLE", "overloaded", json!([]))]))).await;
    assert_eq!(hidden.kind, ModelErrorKind::Overloaded);
    let reason = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}, 7]);
    let odd = Reply::status(400, body(400, "INVALID_ARGUMENT", "no", reason).to_string());
    assert_eq!(refused(odd).await.kind, ModelErrorKind::Authentication);
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_shown() {
    let text = format!("invalid key {KEY}");
    for reply in [
        status(403, "PERMISSION_DENIED", &text),
        Reply::status(500, text.clone()),
        answer(&[body(500, "INTERNAL", &text, json!([]))]),
        Reply::json(&json!({"error": {"message": text}})),
    ] {
        let error = refused(reply).await;
        assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
        assert!(error.message.contains("[redacted]"), "{error}");
    }
    let error = refused(status(401, "UNAUTHENTICATED", "no")).await;
    assert!(error.message.contains("check GEMINI_API_KEY"), "{error}");
}

#[tokio::test]
async fn a_closed_port_is_a_connection_error() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server);
    drop(server);
    tokio::task::yield_now().await;
    let error = read(&provider, request()).await.1.unwrap();
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Connection, true));
}
