//! Claude on Amazon Bedrock. The server checks signatures by a computation of its own, over the received bytes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::conformance::keeps_promises;
use async_trait::async_trait;
use futures_util::StreamExt;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::{Digest, Sha256};
use windlass_anthropic::{Anthropic, AwsKeys, Credential, Credentials, RefreshingCredentials};
use windlass_model::{Catalogue, ModelError, ModelProvider};
use windlass_testkit::provider as kit;
use windlass_testkit::wire::{Dialect, Event, Message as WireMessage, RecordedRequest, Reply, WireServer};
use windlass_types::{Api, CacheTtl, Message, ModelErrorKind, ModelRequest, Timestamp};

const MODEL: &str = "eu.anthropic.claude-opus-5-5";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

fn request() -> ModelRequest {
    ModelRequest::new(MODEL, vec![Message::user_text("hi é").into()], 1000)
}

fn keys() -> AwsKeys {
    AwsKeys::new("AKIDEXAMPLE", SECRET).with_session_token("session/token==")
}

fn provider(server: &WireServer, credentials: impl Credentials) -> Anthropic {
    let builder = Anthropic::bedrock("eu-west-1").credentials(credentials);
    let now = || Timestamp::parse("2026-11-23T06:00:00Z").unwrap();
    builder.base_url(format!("{}/anthropic", server.url())).clock(now).build().unwrap()
}

async fn read(provider: &Anthropic, request: ModelRequest) -> Result<usize, ModelError> {
    let items = provider.stream(Arc::new(request)).await?.collect::<Vec<_>>().await;
    let count = items.len();
    items.into_iter().collect::<Result<Vec<_>, _>>().map(|_| count)
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `true` if the signature of a request is that of its own bytes, with the key, scope and headers that the header
/// names.
fn is_signed(request: &RecordedRequest, secret: &str) -> bool {
    let Some(authorization) = request.header("authorization") else { return false };
    let Some(members) = authorization.strip_prefix("AWS4-HMAC-SHA256 ") else { return false };
    let members: BTreeMap<&str, &str> = members.split(',').filter_map(|member| member.trim().split_once('=')).collect();
    let scope: Vec<&str> = members["Credential"].split('/').collect();
    let mut canonical = format!("{}\n{}\n\n", request.method, request.path);
    for name in members["SignedHeaders"].split(';') {
        canonical += &format!("{name}:{}\n", request.header(name).unwrap());
    }
    canonical += &format!("\n{}\n{}", members["SignedHeaders"], hex(&Sha256::digest(&request.body)));
    let time = request.header("x-amz-date").unwrap();
    let text =
        format!("AWS4-HMAC-SHA256\n{time}\n{}\n{}", scope[1..].join("/"), hex(&Sha256::digest(canonical.as_bytes())));
    let mut key = mac(format!("AWS4{secret}").as_bytes(), scope[1]);
    for part in &scope[2..] {
        key = mac(&key, part);
    }
    time.starts_with(scope[1]) && hex(&mac(&key, &text)) == members["Signature"]
}

#[tokio::test]
async fn requests_are_signed_with_keys_of_aws() {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    read(&provider(&server, Credential::aws(keys())), request()).await.unwrap();
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/anthropic/v1/messages");
    assert!(is_signed(&sent, SECRET), "{sent:?}");
    assert!(!is_signed(&sent, "another secret"));
    let mut changed = sent.clone();
    changed.body = b"{}".to_vec().into();
    assert!(!is_signed(&changed, SECRET));
    for (name, value) in [
        ("anthropic-version", Some("2023-06-01")),
        ("x-amz-date", Some("20261123T060000Z")),
        ("x-amz-security-token", Some("session/token==")),
        ("x-api-key", None),
        ("accept-encoding", Some("identity")),
    ] {
        assert_eq!(sent.header(name), value, "{name}");
    }
    let body = sent.json().unwrap();
    assert_eq!((&body["model"], &body["stream"]), (&json!(MODEL), &json!(true)));
    assert!(body.get("anthropic_version").is_none());
    assert!(sent.header("authorization").unwrap().contains("/eu-west-1/bedrock/aws4_request"));
}

#[tokio::test]
async fn a_key_of_bedrock_is_a_bearer_token() {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    let builder = Anthropic::bedrock("eu-west-1").api_key("bedrock-api-key-1").base_url(server.url());
    read(&builder.build().unwrap(), request()).await.unwrap();
    let sent = server.requests().remove(0);
    assert_eq!(sent.header("authorization"), Some("Bearer bedrock-api-key-1"));
    assert_eq!((sent.header("x-amz-date"), sent.header("x-api-key")), (None, None));
}

/// The signature is for the region of the resource, whatever the address is.
#[tokio::test]
async fn e6_a_resource_is_signed_for_its_region() {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    let arn = "arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/abc";
    let builder = Anthropic::bedrock("eu-west-1").credentials(Credential::aws(keys()));
    let builder = builder.base_url(server.url()).stands_for(arn, "claude-opus-5-5");
    let provider = builder.build().unwrap();
    let mut request = request();
    request.model = provider.resolve_model(arn);
    read(&provider, request).await.unwrap();
    let sent = server.requests().remove(0);
    assert!(is_signed(&sent, SECRET));
    assert!(sent.header("authorization").unwrap().contains("/us-west-2/bedrock/"), "{sent:?}");
    assert_eq!(sent.json().unwrap()["model"], arn);
    // The user names the model that the ARN hides.
    let mut known = Catalogue::new().info("claude-opus-5-5");
    known.api = Api::new("bedrock", Api::MESSAGES);
    assert_eq!(provider.model_info(arn), known);
}

#[test]
fn names_and_origins() {
    let provider = Anthropic::bedrock("us-east-1").api_key("key").base_url("http://127.0.0.1:1").build().unwrap();
    assert_eq!(provider.name(), "bedrock");
    assert_eq!(provider.resolve_model("opus"), "us.anthropic.claude-opus-5-5");
    let info = provider.model_info("us.anthropic.claude-opus-5-5");
    assert_eq!(info.api, Api::new("bedrock", Api::MESSAGES));
    assert_eq!(info.context_window, 1_000_000);
    assert!(info.price.is_some());
    assert!(provider.ready("opus").is_ok());
    assert_eq!(provider.ready("arn:aws:bedrock").unwrap_err().kind, ModelErrorKind::NotFound);
    let missing = Anthropic::bedrock("us-east-1").build().unwrap_err();
    assert_eq!(missing.kind, ModelErrorKind::Authentication);
    assert!(missing.message.contains("AWS_BEARER_TOKEN_BEDROCK"), "{missing}");
}

#[tokio::test]
async fn caches_may_live_for_an_hour() {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    let mut request = request();
    request.cache = Some(CacheTtl::OneHour);
    read(&provider(&server, Credential::aws(keys())), request).await.unwrap();
    let body = server.requests().remove(0).json().unwrap();
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
}

/// Variables of AWS's own tools.
#[tokio::test]
async fn variables_set_the_provider_up() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| WireMessage::new().text("ok").into());
    let url = server.url();
    let keys = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    for (variables, authorization) in [
        (vec![("AWS_REGION", "us-east-2")], "AKIDEXAMPLE/"),
        (vec![("AWS_DEFAULT_REGION", "us-east-2"), ("AWS_BEARER_TOKEN_BEDROCK", "token-1")], "Bearer token-1"),
    ] {
        let all: Vec<_> =
            keys.into_iter().chain(variables).chain([("ANTHROPIC_BEDROCK_BASE_URL", url.as_str())]).collect();
        let lookup = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let provider = Anthropic::bedrock_from_lookup(lookup).unwrap().build().unwrap();
        let mut request = request();
        request.model = provider.resolve_model("opus");
        read(&provider, request).await.unwrap();
        let sent = server.requests().pop().unwrap();
        assert!(sent.header("authorization").unwrap().contains(authorization), "{sent:?}");
        assert_eq!(sent.path, "/anthropic/v1/messages");
        assert_eq!(sent.json().unwrap()["model"], "us.anthropic.claude-opus-5-5");
    }
    let error = Anthropic::bedrock_from_lookup(|_| None).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Configuration);
    assert!(error.message.contains("AWS_REGION"), "{error}");
    let region = |name: &str| (name == "AWS_REGION").then(|| "us-east-2".to_owned());
    let error = Anthropic::bedrock_from_lookup(region).unwrap().build().unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Authentication);
}

/// Source whose keys have numbers.
#[derive(Debug, Clone, Default)]
struct Numbered(Arc<AtomicUsize>);

#[async_trait]
impl Credentials for Numbered {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Credential::aws(AwsKeys::new(format!("AKID{number}"), format!("secret-key-{number}"))))
    }
}

fn expired() -> Reply {
    let text = r#"{"message":"The security token included in the request is expired, AKID0 secret-key-0"}"#;
    Reply::status(403, text).header("x-amzn-errortype", "ExpiredTokenException:http://internal.amazon.com/")
}

#[tokio::test]
async fn expired_keys_are_replaced_once() {
    let server = WireServer::start().await.unwrap();
    let source = Numbered::default();
    let provider = provider(&server, RefreshingCredentials::new(source.clone()));
    server.push(expired());
    server.push(WireMessage::new().text("ok"));
    server.push(WireMessage::new().text("ok"));
    read(&provider, request()).await.unwrap();
    read(&provider, request()).await.unwrap();
    let sent = server.requests();
    assert_eq!((sent.len(), source.0.load(Ordering::Relaxed)), (3, 2));
    for (at, number) in [(0, 0), (1, 1), (2, 1)] {
        assert!(is_signed(&sent[at], &format!("secret-key-{number}")), "{at}");
    }
    // Both refused: the error of the second, without any key.
    server.push(expired());
    server.push(expired());
    let error = read(&provider, request()).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Authentication, 5));
}

#[tokio::test]
async fn fixed_keys_are_not_sent_twice_and_never_shown() {
    let server = WireServer::start().await.unwrap();
    let keys = Credential::aws(AwsKeys::new("AKID0", "secret-key-0"));
    let provider = provider(&server, keys);
    server.push(expired().header("x-amzn-requestid", "req-1"));
    let error = read(&provider, request()).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Authentication, 1));
    assert_eq!(error.request_id.as_deref(), Some("req-1"));
    assert!(!format!("{error} {error:?} {provider:?}").contains("secret-key"), "{error}");
    assert!(error.message.contains("AWS_BEARER_TOKEN_BEDROCK"), "{error}");
}

#[tokio::test]
async fn a_hundred_requests_wait_for_one_refresh() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| WireMessage::new().text("ok").into());
    let source = Numbered::default();
    let provider = provider(&server, RefreshingCredentials::new(source.clone()));
    let all = (0..100).map(|_| read(&provider, request()));
    assert!(futures_util::future::join_all(all).await.iter().all(Result::is_ok));
    assert_eq!((server.request_count(), source.0.load(Ordering::Relaxed)), (100, 1));
}

#[tokio::test]
async fn errors_of_aws_have_their_class() {
    use ModelErrorKind as Kind;
    for (status, code, text, kind) in [
        (
            403,
            "AccessDeniedException",
            "You don't have access to the model with the specified model ID.",
            Kind::PermissionDenied,
        ),
        (
            403,
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
            Kind::Authentication,
        ),
        (429, "ThrottlingException", "Too many tokens, please wait before trying again.", Kind::RateLimited),
        (400, "ThrottlingException", "Too many tokens, please wait before trying again.", Kind::RateLimited),
        (400, "ValidationException", "Input is too long for requested model.", Kind::PromptTooLong),
        (400, "ValidationException", "The provided model identifier is invalid.", Kind::InvalidRequest),
        (404, "ResourceNotFoundException", "Could not resolve the foundation model.", Kind::NotFound),
        (503, "ServiceUnavailableException", "Try again.", Kind::Overloaded),
        (500, "InternalServerException", "Internal.", Kind::Server),
        (408, "ModelTimeoutException", "The model took too long.", Kind::Timeout),
    ] {
        for member in ["message", "Message"] {
            let server = WireServer::start().await.unwrap();
            let reply = Reply::status(status, json!({ member: text }).to_string());
            server.push(reply.header("x-amzn-errortype", &format!("{code}:http://internal.amazon.com/")));
            let error = read(&provider(&server, Credential::aws(keys())), request()).await.unwrap_err();
            assert_eq!(error.kind, kind, "{code} {text}: {error}");
            assert!(error.message.contains(text), "{error}");
        }
    }
}

#[tokio::test]
async fn an_error_inside_the_stream_ends_it_and_shows_no_key() {
    let server = WireServer::start().await.unwrap();
    let events = WireMessage::new().text("half").events("m");
    let failure = json!({"type": "error", "error": {"type": "overloaded_error", "message": format!("busy {SECRET}")}});
    let mut sent: Vec<Event> = events.into_iter().take(3).collect();
    sent.push(Event::new(&failure));
    server.push(Reply::events(sent));
    let error = read(&provider(&server, Credential::aws(keys())), request()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    assert!(!error.message.contains(SECRET), "{error}");
}

#[tokio::test]
async fn counts_tokens() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::json(&json!({"input_tokens": 12})));
    let provider = provider(&server, Credential::aws(keys()));
    assert_eq!(provider.count_tokens(Arc::new(request())).await.unwrap(), 12);
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/anthropic/v1/messages/count_tokens");
    assert!(is_signed(&sent, SECRET));
}

#[tokio::test]
async fn keeps_the_promises_of_a_provider() {
    let server = WireServer::start().await.unwrap();
    let provider = provider(&server, Credential::aws(keys()));
    keeps_promises(&server, &provider, &request(), SECRET, &["opus", "sonnet[1m]", "haiku", MODEL, "unheard-of"]).await;
}

#[tokio::test]
async fn keeps_every_promise_over_long_sessions() {
    let endpoint = kit::Endpoint::new(Dialect::Messages, MODEL, |url| {
        let builder = Anthropic::bedrock("eu-west-1").credentials(Credential::aws(keys()));
        builder.base_url(format!("{url}/anthropic")).build().unwrap()
    });
    kit::all(&endpoint.every(7)).await.unwrap_or_else(|broken| panic!("{broken}"));
}
