//! A transport of the program's own, under every provider.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use windlass::provider::{
    Bytes, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpTransport, ModelErrorKind, ModelProvider,
    from_lookup, from_lookup_over,
};

use super::dialects::{DIALECTS, Dialect, KEY, every};

const URL: &str = "https://elsewhere.example";

/// Behaviour of a memory transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Answers,
    /// Never gives the head of an answer.
    IsSilent,
    /// Falls silent inside the body.
    FallsSilent,
    /// Ends the body with an error.
    IsCut,
    /// Has no connection.
    IsAway,
}

#[derive(Debug)]
struct Memory {
    dialect: Dialect,
    manner: Manner,
    requests: Mutex<Vec<HttpRequest>>,
}

impl Memory {
    fn new(dialect: Dialect, manner: Manner) -> Arc<Self> {
        Arc::new(Self { dialect, manner, requests: Mutex::default() })
    }

    fn requests(&self) -> Vec<HttpRequest> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl HttpTransport for Memory {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.requests.lock().unwrap().push(request);
        let answer = HttpResponse::new(200).with_header("content-type", self.dialect.content_type());
        let body = self.dialect.body();
        let first: Vec<_> = body.iter().take(body.len() / 3).map(|byte| Ok(Bytes::from(vec![*byte]))).collect();
        match self.manner {
            Manner::Answers => Ok(answer.with_bytes(body)),
            Manner::IsSilent => pending().await,
            Manner::FallsSilent => Ok(answer.with_body(stream::iter(first).chain(stream::pending()))),
            Manner::IsCut => {
                let cut = Err(HttpError::new(HttpErrorKind::Cut, "the line broke"));
                Ok(answer.with_body(stream::iter(first).chain(stream::iter([cut]))))
            }
            Manner::IsAway => Err(HttpError::new(HttpErrorKind::Connection, "no line").unsent()),
        }
    }
}

const IDLE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn every_provider_sends_over_a_transport_of_the_program() {
    for dialect in every() {
        let memory = Memory::new(dialect, Manner::Answers);
        let provider = dialect.over(URL, Arc::clone(&memory), IDLE);
        assert_eq!(dialect.ask(&provider, dialect.model()).await.unwrap(), "hello", "{dialect:?}");
        let requests = memory.requests();
        assert_eq!(requests.len(), 1, "{dialect:?}");
        let request = &requests[0];
        assert!(request.method() == "POST" && request.url().starts_with(URL), "{dialect:?}: {}", request.url());
        assert!(serde_json::from_slice::<serde_json::Value>(request.body()).is_ok(), "{dialect:?}");
        let has_key = request.headers().any(|(_, value)| String::from_utf8_lossy(value).contains(KEY));
        assert_eq!(has_key, dialect != Dialect::Ollama, "{dialect:?}");
        assert!(!format!("{request:?} {provider:?}").contains(KEY), "{dialect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn limits_and_kinds_of_errors_hold_over_any_transport() {
    for dialect in every() {
        for (manner, kind) in [
            (Manner::IsSilent, ModelErrorKind::Timeout),
            (Manner::FallsSilent, ModelErrorKind::Timeout),
            (Manner::IsCut, ModelErrorKind::Cut),
            (Manner::IsAway, ModelErrorKind::Connection),
        ] {
            let provider = dialect.over(URL, Memory::new(dialect, manner), IDLE);
            let before = tokio::time::Instant::now();
            let error = dialect.ask(&provider, dialect.model()).await.unwrap_err();
            assert_eq!(error.kind, kind, "{dialect:?} {manner:?}: {error}");
            let waited = before.elapsed();
            let is_timeout = kind == ModelErrorKind::Timeout;
            assert_eq!(waited >= IDLE, is_timeout, "{dialect:?} {manner:?}: {waited:?}");
            assert!(waited < IDLE * 2, "{dialect:?} {manner:?}: {waited:?}");
        }
    }
}

#[tokio::test]
async fn one_transport_carries_all_providers_of_a_router() {
    for dialect in DIALECTS {
        let memory = Memory::new(dialect, Manner::Answers);
        let variables = dialect.variables(URL);
        let providers = from_lookup_over(Arc::clone(&memory), move |name| variables.get(name).cloned());
        assert_eq!(dialect.ask(&providers, dialect.routed_model()).await.unwrap(), "hello", "{dialect:?}");
        assert_eq!(memory.requests().len(), 1, "{dialect:?}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_used_is_not_set_up() {
    for dialect in DIALECTS {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (variables, names) = (dialect.variables("http://127.0.0.1:9"), Arc::clone(&asked));
        let providers = from_lookup(move |name| {
            names.lock().unwrap().push(name.to_owned());
            variables.get(name).cloned()
        });
        // Only which provider comes first is known from the beginning.
        let at_first = std::mem::take(&mut *asked.lock().unwrap());
        assert!(at_first.iter().all(|name| name.starts_with("CLAUDE_CODE_USE_")), "{dialect:?}: {at_first:?}");
        let _ = providers.ready(dialect.routed_model());
        let names = std::mem::take(&mut *asked.lock().unwrap());
        assert!(!names.is_empty(), "{dialect:?}");
        let foreign = DIALECTS.into_iter().filter(|other| other.variables("") != dialect.variables(""));
        for name in foreign.flat_map(|other| other.variables("").into_keys()) {
            assert!(!names.contains(&name), "{dialect:?} asks for {name}");
        }
    }
}
