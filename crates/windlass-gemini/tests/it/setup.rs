//! Setup of a provider, and its requests on the wire beside bodies.

use crate::wire::{KEY, answer, last, provider, read, request};
use async_trait::async_trait;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_gemini::{AwsKeys, Credential, Credentials, Gemini};
use windlass_model::{ModelError, ModelProvider};
use windlass_testkit::wire::{RecordedRequest, Reply, WireServer};
use windlass_types::{Api, ModelErrorKind};

fn ok() -> Reply {
    answer(&[last(json!([{"text": "ok"}]), "STOP")])
}

fn from(variables: &[(&str, &str)]) -> Result<Gemini, ModelError> {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    Gemini::from_lookup(|name| variables.get(name).map(|value| (*value).to_owned()))
}

async fn sent(variables: &[(&str, &str)]) -> RecordedRequest {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
    let url = server.url();
    let mut all = vec![("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    all.extend(variables);
    let (_, error) = read(&from(&all).unwrap(), request()).await;
    assert!(error.is_none(), "{error:?}");
    server.requests().remove(0)
}

#[tokio::test]
async fn posts_to_the_stream_endpoint_with_the_key_in_a_header() {
    let request = sent(&[("GEMINI_API_KEY", "key-1\n"), ("GOOGLE_API_KEY", "key-2")]).await;
    assert_eq!(request.method, "POST");
    assert_eq!(request.path, "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse");
    for (name, value) in [
        ("x-goog-api-key", Some("key-1")),
        ("authorization", None),
        ("content-type", Some("application/json")),
        ("accept-encoding", Some("identity")),
    ] {
        assert_eq!(request.header(name), value, "{name}");
    }
    let other = sent(&[("GOOGLE_API_KEY", "key-2"), ("GEMINI_API_KEY", " ")]).await;
    assert_eq!(other.header("x-goog-api-key"), Some("key-2"));
}

#[test]
fn what_cannot_work_is_refused_at_once() {
    let kind = |built: Result<Gemini, ModelError>| built.err().unwrap().kind;
    assert_eq!(kind(from(&[])), ModelErrorKind::Authentication);
    assert_eq!(kind(Gemini::vertex("p", "global").build()), ModelErrorKind::Authentication);
    assert_eq!(kind(Gemini::vertex("p", "global").token(" ").build()), ModelErrorKind::Authentication);
    assert_eq!(kind(Gemini::builder().api_key("k").base_url("nonsense").build()), ModelErrorKind::Configuration);
    assert_eq!(kind(Gemini::new("a\u{0}b")), ModelErrorKind::Configuration);
    for (project, location) in
        [("", "us"), ("p/q", "us"), ("p", ""), ("p", "evil.example#"), ("p", "x.y"), ("p", "a/b")]
    {
        let built = Gemini::vertex(project, location).token("t").build();
        assert_eq!(kind(built), ModelErrorKind::Configuration, "{project:?} {location:?}");
    }
    for (name, value) in [("host", "x"), ("bad name", "x"), ("x-a", ""), ("x-a", "\u{1}")] {
        let built = Gemini::builder().api_key("k").header(name, value).build();
        assert_eq!(kind(built), ModelErrorKind::Configuration, "{name:?}");
    }
}

#[tokio::test]
async fn custom_headers_are_sent_and_may_hold_the_key() {
    let server = WireServer::start().await.unwrap();
    server.push(ok());
    let built = Gemini::builder().header("Authorization", "Bearer mine").base_url(server.url()).build().unwrap();
    assert!(read(&built, request()).await.1.is_none());
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer mine"));
    assert!(!format!("{built:?}").contains("mine"));
}

/// Source whose tokens have numbers. The fourth request fails.
#[derive(Debug, Default)]
struct Numbered(AtomicUsize);

#[async_trait]
impl Credentials for Numbered {
    async fn credential(&self) -> Result<Credential, ModelError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            3 => Err(ModelError::new(ModelErrorKind::Connection, "the token server is away")),
            number => Ok(Credential::bearer(format!("ya29.secret-{number}"))),
        }
    }
}

fn vertex(server: &WireServer, credentials: impl Credentials) -> Gemini {
    let builder = Gemini::vertex("my-project", "europe-west4").credentials(credentials);
    builder.base_url(server.url()).build().unwrap()
}

fn refusal(status: u16, token: &str) -> Reply {
    let body = json!({"error": {"code": status, "message": format!("bad {token}"), "status": "UNAUTHENTICATED"}});
    Reply::status(status, body.to_string())
}

#[tokio::test]
async fn vertex_asks_for_a_token_before_each_request() {
    let server = WireServer::start().await.unwrap();
    let vertex = vertex(&server, Numbered::default());
    assert_eq!(vertex.name(), "vertex");
    assert_eq!(vertex.model_info("gemini-2.5-pro").api, Api::new("vertex", Api::GEMINI));
    server.push(ok());
    assert!(read(&vertex, request()).await.1.is_none());
    // A refused token is replaced once.
    server.push(refusal(401, "ya29.secret-1"));
    server.push(refusal(401, "ya29.secret-2"));
    let error = read(&vertex, request()).await.1.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Authentication);
    assert!(!format!("{error} {error:?} {vertex:?}").contains("secret"), "{error}");
    let error = read(&vertex, request()).await.1.unwrap();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Connection, 3));
    let first = server.requests().remove(0);
    assert_eq!(
        first.path,
        "/v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    );
    assert_eq!(first.header("authorization"), Some("Bearer ya29.secret-0"));
    assert_eq!(first.header("x-goog-api-key"), None);
    assert_eq!(server.requests()[2].header("authorization"), Some("Bearer ya29.secret-2"));
}

#[test]
fn variables_set_vertex_up() {
    let from = |variables: &[(&str, &str)]| {
        let get = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Gemini::vertex_from_lookup(get).and_then(windlass_gemini::GeminiBuilder::build)
    };
    let project = ("GOOGLE_CLOUD_PROJECT", "p");
    let file = ("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file");
    let url = ("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:7");
    let built = from(&[project, file, url, ("GOOGLE_CLOUD_LOCATION", "global")]).unwrap();
    assert!(format!("{built:?}").contains("127.0.0.1:7"), "{built:?}");
    for (variables, says) in [
        (vec![], "GOOGLE_CLOUD_PROJECT"),
        (vec![project], "GOOGLE_CLOUD_LOCATION"),
        (vec![project, ("CLOUD_ML_REGION", "eu")], "GOOGLE_APPLICATION_CREDENTIALS"),
    ] {
        assert!(from(&variables).unwrap_err().message.contains(says), "{says}");
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_and_one_that_stays_is_not_sent_again() {
    let server = WireServer::start().await.unwrap();
    server.push(refusal(401, "ya29.secret-0"));
    server.push(ok());
    assert!(read(&vertex(&server, Numbered::default()), request()).await.1.is_none());
    server.push(refusal(403, "t"));
    let error = read(&vertex(&server, Credential::bearer("fixed")), request()).await.1.unwrap();
    assert_eq!((error.status, server.request_count()), (Some(403), 3));
    let keys = Credential::aws(AwsKeys::new("id", "key"));
    let error = read(&vertex(&server, keys), request()).await.1.unwrap();
    assert_eq!((error.kind, server.request_count()), (ModelErrorKind::Configuration, 3));
}

#[tokio::test]
async fn counts_tokens() {
    let server = WireServer::start().await.unwrap();
    server.push(Reply::json(&json!({"totalTokens": 31, "promptTokensDetails": []})));
    assert_eq!(provider(&server).count_tokens(Arc::new(request())).await.unwrap(), 31);
    let counted = server.requests().remove(0);
    assert_eq!(counted.path, "/v1beta/models/gemini-3.8-flash:countTokens");
    let contents = json!([{"role": "user", "parts": [{"text": "hi"}]}]);
    assert_eq!(
        counted.json().unwrap(),
        json!({"generateContentRequest": {"model": "models/gemini-3.8-flash", "contents": contents}})
    );
    let vertex = Gemini::vertex("p", "global").token("t").base_url(server.url()).build().unwrap();
    server.push(Reply::json(&json!({"totalTokens": 32})));
    assert_eq!(vertex.count_tokens(Arc::new(request())).await.unwrap(), 32);
    assert_eq!(server.requests()[1].json().unwrap(), json!({"contents": contents}));

    server.push(Reply::json(&json!({"tokens": 1})));
    let kind = |error: ModelError| error.kind;
    let gemini = provider(&server);
    let count = || gemini.count_tokens(Arc::new(request()));
    assert_eq!(count().await.map_err(kind), Err(ModelErrorKind::Protocol));
    server.push(Reply::status(404, json!({"error": {"code": 404, "status": "NOT_FOUND"}}).to_string()));
    assert_eq!(count().await.map_err(kind), Err(ModelErrorKind::NotFound));
}

#[test]
fn names_and_origins() {
    let gemini = Gemini::new(KEY).unwrap();
    assert_eq!(gemini.name(), "gemini");
    assert_eq!(gemini.model_info("gemini-4-argon").api, Api::new("gemini", Api::GEMINI));
    assert_eq!(gemini.resolve_model("flash"), "gemini-3.8-flash");
    assert!(gemini.ready("gemini-4-argon").is_ok());
    assert_eq!(gemini.ready("models/../x").unwrap_err().kind, ModelErrorKind::NotFound);
    assert!(!format!("{gemini:?}").contains(KEY));
}
