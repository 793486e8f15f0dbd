//! Setup of a provider, and its requests on the wire beside bodies.

use crate::wire::{CLAUDE, KEY, asking, ok, provider, read, request};
use async_trait::async_trait;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_bedrock::{AwsKeys, Bedrock, Credential, Credentials};
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::{Api, Message, ModelErrorKind, Timestamp};

fn from(variables: &[(&str, &str)]) -> Result<Bedrock, ModelError> {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    Bedrock::from_lookup(|name| variables.get(name).map(|value| (*value).to_owned()))
}

#[tokio::test]
async fn posts_to_the_model_with_the_key_in_a_header() {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
    let url = server.url();
    let variables = [
        ("AWS_ENDPOINT_URL", "http://x.invalid"),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", url.as_str()),
        ("AWS_REGION", "us-east-1"),
        ("AWS_BEARER_TOKEN_BEDROCK", "key-1\n"),
    ];
    let (_, error) = read(&from(&variables).unwrap(), request()).await;
    assert!(error.is_none(), "{error:?}");
    let request = server.requests().remove(0);
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/model/us.amazon.nova-pro-v1%3A0/converse-stream")
    );
    for (name, value) in [
        ("authorization", Some("Bearer key-1")),
        ("content-type", Some("application/json")),
        ("accept", Some("application/vnd.amazon.eventstream")),
        ("accept-encoding", Some("identity")),
    ] {
        assert_eq!(request.header(name), value, "{name}");
    }
}

#[test]
fn what_cannot_work_is_refused_at_once() {
    let kind = |built: Result<Bedrock, ModelError>| built.err().unwrap().kind;
    let builder = || Bedrock::builder().region("us-east-1");
    assert_eq!(kind(from(&[("AWS_REGION", "us-east-1")])), ModelErrorKind::Authentication);
    assert_eq!(kind(from(&[("AWS_BEARER_TOKEN_BEDROCK", "k")])), ModelErrorKind::Configuration);
    assert_eq!(kind(builder().api_key(" ").build()), ModelErrorKind::Authentication);
    assert_eq!(kind(builder().api_key("k").base_url("nonsense").build()), ModelErrorKind::Configuration);
    assert_eq!(kind(builder().api_key("a\u{0}b").build()), ModelErrorKind::Configuration);
    for region in ["", "us-east-1.evil.example#", "US", "a/b"] {
        assert_eq!(kind(builder().region(region).api_key("k").build()), ModelErrorKind::Configuration, "{region:?}");
    }
    for (name, value) in [("host", "x"), ("bad name", "x"), ("x-a", ""), ("x-a", "\u{1}")] {
        assert_eq!(kind(builder().api_key("k").header(name, value).build()), ModelErrorKind::Configuration, "{name:?}");
    }
    let regional = from(&[("AWS_BEARER_TOKEN_BEDROCK", "k"), ("AWS_REGION", " "), ("AWS_DEFAULT_REGION", "eu-west-3")]);
    assert!(format!("{:?}", regional.unwrap()).contains("bedrock-runtime.eu-west-3.amazonaws.com"));
}

#[tokio::test]
async fn custom_headers_are_sent_and_may_hold_the_key() {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
    let builder = Bedrock::builder().header("Authorization", "Bearer mine").base_url(server.url());
    let built = builder.build().unwrap();
    assert!(read(&built, request()).await.1.is_none());
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer mine"));
    assert!(!format!("{built:?}").contains("mine"));
}

#[tokio::test]
async fn counts_tokens() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::json(&json!({"inputTokens": 31})));
    let claude = || asking(CLAUDE, vec![Message::user_text("hi")]);
    let bedrock = provider(&server);
    assert_eq!(bedrock.count_tokens(Arc::new(claude())).await.unwrap(), 31);
    let counted = server.requests().remove(0);
    assert!(counted.path.ends_with("/count-tokens"), "{}", counted.path);
    let messages = json!([{"role": "user", "content": [{"text": "hi"}]}]);
    assert_eq!(counted.json().unwrap(), json!({"input": {"converse": {"messages": messages}}}));

    let kind = |error: ModelError| error.kind;
    let count = || bedrock.count_tokens(Arc::new(request()));
    server.push(Reply::json(&json!({"tokens": 1})));
    assert_eq!(count().await.map_err(kind), Err(ModelErrorKind::Protocol));
    let text = "The provided model doesn't support counting tokens.";
    server.push(
        Reply::status(400, json!({"message": text}).to_string()).header("x-amzn-errortype", "ValidationException"),
    );
    let error = count().await.unwrap_err();
    assert!(error.kind == ModelErrorKind::Configuration && error.message.contains(text), "{error}");
}

/// Source whose keys have numbers, and which records refused ones.
#[derive(Debug, Default)]
struct Numbered {
    given: AtomicUsize,
    refused: AtomicUsize,
}

#[async_trait]
impl Credentials for Numbered {
    async fn credential(&self) -> Result<Credential, ModelError> {
        self.given.fetch_add(1, Ordering::Relaxed);
        let number = self.refused.load(Ordering::Relaxed);
        let keys = AwsKeys::new(format!("AKIDEXAMPLE{number}"), format!("aws-secret-key-{number}"));
        Ok(Credential::aws(keys.with_session_token(format!("session-token-{number}"))))
    }

    fn refused(&self, _: &Credential) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn keys_of_aws_sign_each_request() {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
    let source = Arc::new(Numbered::default());
    let builder = Bedrock::builder().region("eu-west-3").base_url(server.url()).credentials(Arc::clone(&source));
    let bedrock = builder.clock(|| Timestamp::parse("2026-11-23T06:00:00Z").unwrap()).build().unwrap();
    assert!(read(&bedrock, request()).await.1.is_none());
    let sent = server.requests().remove(0);
    let signature = sent.header("authorization").unwrap();
    let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE0/20261123/eu-west-3/bedrock/aws4_request";
    assert!(signature.starts_with(scope), "{signature}");
    assert_eq!(sent.header("x-amz-date"), Some("20261123T060000Z"));
    assert_eq!(sent.header("x-amz-security-token"), Some("session-token-0"));
    // A gateway is kept; only the signature is for the region of the model.
    server.push(ok());
    let arn = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.amazon.nova-pro-v1:0";
    assert!(read(&bedrock, asking(arn, vec![Message::user_text("hi")])).await.1.is_none());
    let sent = server.requests().remove(1);
    assert!(sent.header("authorization").unwrap().contains("/us-west-2/bedrock/"), "{sent:?}");
    assert!(!format!("{bedrock:?}").contains("secret"));
}

#[tokio::test]
async fn a_refused_credential_is_replaced_once() {
    let server = WireServer::start().await.unwrap();
    let source = Arc::new(Numbered::default());
    let builder = Bedrock::builder().region("eu-west-3").base_url(server.url()).credentials(Arc::clone(&source));
    let bedrock = builder.build().unwrap();
    let refusal = |name: &str, text: &str| {
        Reply::status(403, json!({"message": text}).to_string()).header("x-amzn-errortype", name)
    };
    let expired = || refusal("ExpiredTokenException", "The security token session-token-0 is expired");
    server.push(expired());
    server.push(ok());
    assert!(read(&bedrock, request()).await.1.is_none());
    assert!(server.requests()[1].header("authorization").unwrap().contains("AKIDEXAMPLE1"));
    server.push(expired());
    server.push(expired());
    let error = read(&bedrock, request()).await.1.unwrap();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Authentication, 4));
    // A forbidden model is not the fault of the credential.
    server.push(refusal("AccessDeniedException", "You don't have access to the model."));
    let error = read(&bedrock, request()).await.1.unwrap();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::PermissionDenied, 5));
    assert_eq!((source.given.load(Ordering::Relaxed), source.refused.load(Ordering::Relaxed)), (5, 2));
}

#[tokio::test]
async fn no_secret_is_in_an_error() {
    let server = WireServer::start().await.unwrap();
    let bedrock = Bedrock::builder().region("eu-west-3").base_url(server.url()).credentials(Numbered::default());
    let bedrock = bedrock.build().unwrap();
    let text = "AKIDEXAMPLE0 aws-secret-key-0 session-token-0";
    server.push(Reply::status(500, text));
    let error = read(&bedrock, request()).await.1.unwrap();
    let shown = format!("{error} {error:?}");
    assert!(!text.split(' ').any(|secret| shown.contains(secret)), "{shown}");
}

#[tokio::test]
async fn keys_and_regions_come_from_variables() {
    let server = WireServer::start().await.unwrap();
    let url = server.url();
    let keys = [
        ("AWS_ENDPOINT_URL", url.as_str()),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "aws-secret-key"),
        ("AWS_SESSION_TOKEN", "session"),
    ];
    // Nothing is signed without a region.
    let error = read(&from(&keys).unwrap(), request()).await.1.unwrap();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Configuration, 0));
    server.push(ok());
    let all = [&keys[..], &[("AWS_DEFAULT_REGION", "ap-south-1")]].concat();
    assert!(read(&from(&all).unwrap(), request()).await.1.is_none());
    let sent = server.requests().remove(0);
    assert!(sent.header("authorization").unwrap().contains("/ap-south-1/"));
    assert_eq!(sent.header("x-amz-security-token"), Some("session"));
    // An API key takes precedence.
    server.push(ok());
    let all = [&all[..], &[("AWS_BEARER_TOKEN_BEDROCK", "key")]].concat();
    assert!(read(&from(&all).unwrap(), request()).await.1.is_none());
    assert_eq!(server.requests()[1].header("authorization"), Some("Bearer key"));
}

#[test]
fn names_and_origins() {
    let bedrock = Bedrock::builder().region("us-east-1").api_key(KEY).build().unwrap();
    assert_eq!(bedrock.name(), "bedrock");
    assert_eq!(bedrock.model_info("openai.gpt-oss-120b-1:0").api, Api::new("bedrock", Api::CONVERSE));
    assert_eq!(bedrock.resolve_model("nova-lite"), "us.amazon.nova-lite-v1:0");
    assert!(bedrock.ready("nova").is_ok());
    assert_eq!(bedrock.ready("..").unwrap_err().kind, ModelErrorKind::NotFound);
    assert!(!format!("{bedrock:?}").contains(KEY));
}
