//! Refusals and their error kinds.

use crate::wire::{KEY, provider, read, request};
use serde_json::json;
use std::time::Duration;
use windlass_model::ModelError;
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::ModelErrorKind;

async fn refused(reply: Reply) -> ModelError {
    let server = WireServer::start().await.unwrap();
    server.push(reply);
    read(&provider(&server), request()).await.1.unwrap()
}

fn exception(status: u16, name: &str, message: &str) -> Reply {
    Reply::status(status, json!({"message": message}).to_string())
        .header("content-type", "application/json")
        .header("x-amzn-errortype", &format!("{name}:http://internal.amazon.com/coral/com.amazon.bedrock/"))
        .header("x-amzn-requestid", "req-9")
}

#[tokio::test]
async fn refusals_have_their_kinds() {
    use ModelErrorKind::{
        Authentication, InvalidRequest, NotFound, Overloaded, PermissionDenied, PromptTooLong, QuotaExhausted,
        RateLimited, ReplayRejected, Server, Timeout,
    };
    for (status, name, message, kind) in [
        (429, "ThrottlingException", "Too many requests, please wait before trying again.", RateLimited),
        (429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", QuotaExhausted),
        (400, "ServiceQuotaExceededException", "Your request exceeds the service quota.", QuotaExhausted),
        (400, "ValidationException", "Input is too long for requested model.", PromptTooLong),
        (400, "ValidationException", "prompt is too long: 213000 tokens > 200000 maximum", PromptTooLong),
        (
            400,
            "ValidationException",
            "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            PromptTooLong,
        ),
        (
            400,
            "ValidationException",
            "The maximum tokens you requested exceeds the model limit of 5000.",
            InvalidRequest,
        ),
        (400, "ValidationException", "The provided model identifier is invalid.", NotFound),
        (400, "ValidationException", "messages.1.content.0: Invalid `signature` in `thinking` block", ReplayRejected),
        (400, "ValidationException", "Malformed input request", InvalidRequest),
        (
            403,
            "AccessDeniedException",
            "You don't have access to the model with the specified model ID.",
            PermissionDenied,
        ),
        (
            403,
            "AccessDeniedException",
            "Authentication failed: Please make sure your API Key is valid.",
            Authentication,
        ),
        (403, "ExpiredTokenException", "The security token included in the request is expired", Authentication),
        (403, "UnrecognizedClientException", "The security token included in the request is invalid.", Authentication),
        (403, "InvalidSignatureException", "The request signature we calculated does not match", Authentication),
        (404, "ResourceNotFoundException", "Could not resolve the foundation model", NotFound),
        (408, "ModelTimeoutException", "Model has timed out in processing the request.", Timeout),
        (424, "ModelErrorException", "The system encountered an unexpected error", Server),
        (429, "ModelNotReadyException", "Model is not ready for inference.", Overloaded),
        (500, "InternalServerException", "The system encountered an error.", Server),
        (503, "ServiceUnavailableException", "Bedrock is unable to process your request.", Overloaded),
    ] {
        let error = refused(exception(status, name, message)).await;
        assert_eq!(error.kind, kind, "{name}: {message}");
        assert!(error.message.contains(message) && error.message.contains(&status.to_string()), "{error}");
        assert_eq!((error.status, error.request_id.as_deref()), (Some(status), Some("req-9")), "{name}");
    }
}

#[tokio::test]
async fn e5_too_many_tokens_is_no_overflow() {
    let text = "Too many tokens, please wait before trying again.";
    for (status, name) in [(429, "ThrottlingException"), (400, "ThrottlingException"), (429, "")] {
        let error = refused(exception(status, name, text)).await;
        assert_eq!(error.kind, ModelErrorKind::RateLimited, "{status} {name}");
    }
    let overflow = exception(400, "ValidationException", "Input is too long for requested model.");
    assert_eq!(refused(overflow).await.kind, ModelErrorKind::PromptTooLong);
}

#[tokio::test]
async fn names_stand_in_bodies_too_and_bodies_may_be_anything() {
    let named = json!({"__type": "com.amazon.coral.service#ServiceQuotaExceededException", "Message": "over"});
    let error = refused(Reply::status(400, named.to_string())).await;
    assert!(error.kind == ModelErrorKind::QuotaExhausted && error.message.ends_with("over"), "{error}");
    for (status, body, kind) in [
        (502, "<html>bad gateway</html>", ModelErrorKind::Server),
        (
            403,
            "{\"Message\":\"Invalid API Key format: Must start with pre-defined prefix\"}",
            ModelErrorKind::Authentication,
        ),
        (404, "<UnknownOperationException/>", ModelErrorKind::NotFound),
        (413, "", ModelErrorKind::RequestTooLarge),
        (301, "", ModelErrorKind::Configuration),
        (418, "[\"teapot\"]", ModelErrorKind::InvalidRequest),
    ] {
        assert_eq!(refused(Reply::status(status, body)).await.kind, kind, "{status} {body}");
    }
}

#[tokio::test]
async fn waits_are_passed_on() {
    let reply = exception(429, "ThrottlingException", "slow down").header("retry-after", "7");
    assert_eq!(refused(reply).await.retry_after, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn pages_are_not_answers() {
    let page = Reply::status(200, "<html>hello</html>").header("content-type", "text/html");
    let error = refused(page).await;
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("text/html"), "{error}");
}

#[tokio::test]
async fn errors_do_not_show_the_key() {
    let error = refused(exception(403, "AccessDeniedException", &format!("bad key {KEY}"))).await;
    assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
    let inside = crate::frames::exception("validationException", json!({"message": format!("bad {KEY}")}));
    let (_, error) = crate::wire::read_frames(&[crate::frames::start(), inside]).await;
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
}

#[tokio::test]
async fn connections_that_fail_have_their_kinds() {
    assert_eq!(refused(Reply::close()).await.kind, ModelErrorKind::Connection);
    let server = WireServer::start().await.unwrap();
    server.push(Reply::never());
    let builder = windlass_bedrock::Bedrock::builder().region("us-east-1").api_key("k").base_url(server.url());
    let patient = builder.idle_timeout(Duration::from_millis(50)).build().unwrap();
    assert_eq!(read(&patient, request()).await.1.unwrap().kind, ModelErrorKind::Timeout);
}
