//! Claude on Vertex AI.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::conformance::keeps_promises;
use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::json;
use windlass_anthropic::{Anthropic, AwsKeys, Credential, Credentials};
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::provider as kit;
use windlass_testkit::wire::{Dialect, Message as WireMessage, Reply, WireServer};
use windlass_types::{Api, CacheTtl, Message, ModelErrorKind, ModelRequest, Thinking};

const TOKEN: &str = "ya29.secret-token";
const MODELS: &str = "/v1/projects/my-project/locations/eu/publishers/anthropic/models";

fn request() -> ModelRequest {
    ModelRequest::new("claude-opus-5-5", vec![Message::user_text("hi").into()], 1000)
}

fn provider(server: &WireServer, credentials: impl Credentials) -> Anthropic {
    let builder = Anthropic::vertex("my-project", "eu").credentials(credentials);
    builder.base_url(format!("{}/v1", server.url())).beta("mine-2026-01-01").build().unwrap()
}

async fn read(provider: &Anthropic, request: ModelRequest) -> Result<usize, ModelError> {
    let items = provider.stream(Arc::new(request)).await?.collect::<Vec<_>>().await;
    let count = items.len();
    items.into_iter().collect::<Result<Vec<_>, _>>().map(|_| count)
}

#[tokio::test]
async fn the_model_is_in_the_address_and_the_version_in_the_body() {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    let vertex = provider(&server, Credential::bearer(TOKEN));
    read(&vertex, request()).await.unwrap();
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, format!("{MODELS}/claude-opus-5-5:streamRawPredict"));
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!((sent.header("anthropic-version"), sent.header("x-api-key")), (None, None));
    let body = sent.json().unwrap();
    assert_eq!(body["anthropic_version"], "vertex-2023-10-16");
    assert_eq!((body.get("model"), &body["stream"]), (None, &json!(true)));
    assert!(body["messages"].is_array());
    assert_eq!(
        (vertex.name(), vertex.model_info("claude-opus-5-5").api),
        ("vertex", Api::new("vertex", Api::MESSAGES))
    );
    assert_eq!(vertex.resolve_model("claude-haiku-4-5"), "claude-haiku-4-5@20251001");
    assert_eq!(vertex.resolve_model("opus"), "claude-opus-5-5");
    assert!(!format!("{vertex:?}").contains(TOKEN));
}

#[tokio::test]
async fn caches_may_live_for_an_hour() {
    let server = WireServer::start().await.unwrap();
    server.push(WireMessage::new().text("ok"));
    let mut request = request();
    request.cache = Some(CacheTtl::OneHour);
    read(&provider(&server, Credential::bearer(TOKEN)), request).await.unwrap();
    let body = server.requests().remove(0).json().unwrap();
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
}

#[tokio::test]
async fn counts_tokens() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::json(&json!({"input_tokens": 12})));
    let count = provider(&server, Credential::bearer(TOKEN)).count_tokens(Arc::new(request())).await;
    assert_eq!(count.unwrap(), 12);
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, format!("{MODELS}/count-tokens:rawPredict"));
    let body = sent.json().unwrap();
    assert_eq!(body["model"], "claude-opus-5-5");
    assert_eq!(body["anthropic_version"], "vertex-2023-10-16");
}

fn refused_betas(names: &str) -> Reply {
    let text = format!(
        "Unexpected value(s) {names} for the `anthropic-beta` header. Please consult our documentation at docs.anthropic.com or try again without the header."
    );
    Reply::error(400, "invalid_request_error", &text)
}

/// F: betas that a cloud does not know are left out of the request and of later ones; nothing else is.
#[tokio::test]
async fn f_unknown_betas_are_dropped_once() {
    let server = WireServer::start().await.unwrap();
    let vertex = provider(&server, Credential::bearer(TOKEN));
    let mut request = request();
    request.betas = vec!["context-management-2025-06-27".to_owned()];
    server.push(refused_betas("`mine-2026-01-01`, `other-2026-01-01`"));
    server.push(WireMessage::new().text("ok"));
    server.push(WireMessage::new().text("ok"));
    read(&vertex, request.clone()).await.unwrap();
    read(&vertex, request.clone()).await.unwrap();
    // Counts refuse more than calls do.
    server.push(refused_betas("`context-management-2025-06-27`, `mine-2026-01-01`"));
    server.push(Reply::json(&json!({"input_tokens": 12})));
    assert_eq!(vertex.count_tokens(Arc::new(request.clone())).await.unwrap(), 12);
    server.push(WireMessage::new().text("ok"));
    read(&vertex, request).await.unwrap();
    let sent = server.requests();
    let betas: Vec<_> = sent.iter().map(|sent| sent.header("anthropic-beta").unwrap_or_default()).collect();
    let (both, one) = ("mine-2026-01-01,context-management-2025-06-27", "context-management-2025-06-27");
    assert_eq!(betas, [both, one, one, both, "", one]);
}

/// A beta of the provider's own is dropped together with the member that it permits.
#[tokio::test]
async fn a_refused_control_goes_with_its_beta() {
    let server = WireServer::start().await.unwrap();
    let vertex = provider(&server, Credential::bearer(TOKEN));
    server.push(refused_betas("`thinking-binding-controls-2026-08-01`"));
    server.push(WireMessage::new().text("ok"));
    let mut request = request();
    request.thinking = Thinking::Adaptive;
    read(&vertex, request).await.unwrap();
    let sent = server.requests();
    let controlled = |at: usize| !sent[at].json().unwrap()["thinking"]["block_binding"].is_null();
    assert_eq!((controlled(0), controlled(1)), (true, false));
    assert_eq!(sent[1].header("anthropic-beta"), Some("mine-2026-01-01"));
}

/// The API itself refuses only wrong betas, which the user must see.
#[tokio::test]
async fn the_api_itself_is_sent_what_the_user_says() {
    let server = WireServer::start().await.unwrap();
    server.push(refused_betas("`mine-2026-01-01`"));
    let builder = Anthropic::builder().api_key("k").beta("mine-2026-01-01").base_url(server.url());
    let error = read(&builder.build().unwrap(), request()).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::InvalidRequest, 1));
}

#[test]
fn variables_set_the_provider_up() {
    let from = |variables: &[(&str, &str)]| {
        let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Anthropic::vertex_from_lookup(get).and_then(windlass_anthropic::AnthropicBuilder::build)
    };
    let project = ("GOOGLE_CLOUD_PROJECT", "p");
    let file = ("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file");
    let url = ("ANTHROPIC_VERTEX_BASE_URL", "http://127.0.0.1:7/v1");
    let built = from(&[project, file, url, ("CLOUD_ML_REGION", "global")]).unwrap();
    assert!(format!("{built:?}").contains("127.0.0.1:7"), "{built:?}");
    for (variables, kind, says) in [
        (vec![], ModelErrorKind::Configuration, "GOOGLE_CLOUD_PROJECT"),
        (vec![project], ModelErrorKind::Configuration, "CLOUD_ML_REGION"),
        (vec![project, ("CLOUD_ML_REGION", "eu")], ModelErrorKind::Authentication, "GOOGLE_APPLICATION_CREDENTIALS"),
    ] {
        let error = from(&variables).unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.message.contains(says), "{error}");
    }
}

/// Source whose tokens have numbers.
#[derive(Debug, Default)]
struct Numbered(AtomicUsize);

#[async_trait]
impl Credentials for Numbered {
    async fn credential(&self) -> Result<Credential, ModelError> {
        Ok(Credential::bearer(format!("{TOKEN}-{}", self.0.fetch_add(1, Ordering::Relaxed))))
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let server = WireServer::start().await.unwrap();
    let refusal = || {
        let error = json!({"code": 401, "message": format!("bad {TOKEN}-1"), "status": "UNAUTHENTICATED"});
        Reply::status(401, json!([{ "error": error }]).to_string())
    };
    server.push(refusal());
    server.push(WireMessage::new().text("ok"));
    read(&provider(&server, Numbered::default()), request()).await.unwrap();
    server.push(refusal());
    server.push(refusal());
    let error = read(&provider(&server, Numbered::default()), request()).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Authentication, 4));
    assert!(!format!("{error} {error:?}").contains(TOKEN), "{error}");
    assert!(error.message.contains("Google Cloud"), "{error}");
    let keys = Credential::aws(AwsKeys::new("id", "key"));
    let error = read(&provider(&server, keys), request()).await.unwrap_err();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Configuration, 4));
}

#[tokio::test]
async fn errors_of_google_have_their_class() {
    use ModelErrorKind as Kind;
    for (status, name, text, kind) in [
        (403, "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied", Kind::PermissionDenied),
        (404, "NOT_FOUND", "Publisher Model was not found or your project does not have access to it", Kind::NotFound),
        (429, "RESOURCE_EXHAUSTED", "Resource exhausted, please try again later.", Kind::RateLimited),
        (503, "UNAVAILABLE", "The service is currently unavailable.", Kind::Overloaded),
    ] {
        let server = WireServer::start().await.unwrap();
        server.push(Reply::status(
            status,
            json!({"error": {"code": status, "message": text, "status": name}}).to_string(),
        ));
        let error = read(&provider(&server, Credential::bearer(TOKEN)), request()).await.unwrap_err();
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert!(error.message.contains(text), "{error}");
    }
}

#[tokio::test]
async fn keeps_the_promises_of_a_provider() {
    let server = WireServer::start().await.unwrap();
    let vertex = provider(&server, Credential::bearer(TOKEN));
    keeps_promises(
        &server,
        &vertex,
        &request(),
        TOKEN,
        &["opus", "sonnet[1m]", "haiku", "claude-sonnet-4-5", "unheard-of"],
    )
    .await;
}

#[tokio::test]
async fn keeps_every_promise_over_long_sessions() {
    let endpoint = kit::Endpoint::new(Dialect::Messages, "claude-opus-5-5", |url| {
        let builder = Anthropic::vertex("my-project", "eu").credentials(Credential::bearer(TOKEN));
        builder.base_url(format!("{url}/v1")).build().unwrap()
    });
    kit::all(&endpoint.every(7)).await.unwrap_or_else(|broken| panic!("{broken}"));
}
