//! Network in memory: an MCP server, an authorisation server, and a user at a browser.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use windlass_http::{HttpError, HttpRequest, HttpResponse, HttpTransport};
use windlass_mcp_auth::{
    AuthOptions, Authorizer, Browser, Challenge, LoginPage, MemoryTokenStore, OAuthConfig, SecretText, TokenStore,
};
use windlass_tool::Clock;
use windlass_types::Timestamp;

pub(crate) const SERVER: &str = "https://mcp.example/team/mcp";
pub(crate) const ISSUER: &str = "https://login.example";

/// Recorded request.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) url: String,
    pub(crate) authorization: Option<String>,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) json: Value,
}

type Answer = Box<dyn Fn(&Seen) -> HttpResponse + Send + Sync>;

/// Network of servers with their answers, by address; others answer 404.
pub(crate) struct World {
    answers: Mutex<BTreeMap<String, Answer>>,
    seen: Mutex<Vec<Seen>>,
    issued: AtomicU64,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

pub(crate) fn answer(status: u16, body: &Value) -> HttpResponse {
    HttpResponse::new(status).with_header("content-type", "application/json").with_bytes(body.to_string())
}

pub(crate) fn metadata() -> Value {
    json!({
        "issuer": ISSUER, "authorization_endpoint": format!("{ISSUER}/authorize"), "token_endpoint": format!("{ISSUER}/token"),
        "registration_endpoint": format!("{ISSUER}/register"), "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    })
}

impl World {
    /// Creates a network of correct servers. Each token has a number, and each refresh token works once.
    pub(crate) fn new() -> Arc<Self> {
        let world = Arc::new(Self { answers: Mutex::default(), seen: Mutex::default(), issued: AtomicU64::new(0) });
        world.gives(
            "https://mcp.example/.well-known/oauth-protected-resource/team/mcp",
            json!({"resource": SERVER, "authorization_servers": [ISSUER], "scopes_supported": ["read"]}),
        );
        world.gives(&format!("{ISSUER}/.well-known/oauth-authorization-server"), metadata());
        world.on(&format!("{ISSUER}/register"), |_| answer(201, &json!({"client_id": "registered"})));
        let own = Arc::downgrade(&world);
        world.on(&format!("{ISSUER}/token"), move |seen| {
            let world = own.upgrade().unwrap();
            let current = format!("refresh-{}", world.issued.load(Ordering::SeqCst));
            if seen.fields["grant_type"] == "refresh_token" && seen.fields["refresh_token"] != current {
                return answer(
                    400,
                    &json!({"error": "invalid_grant", "error_description": seen.fields["refresh_token"]}),
                );
            }
            let number = world.issued.fetch_add(1, Ordering::SeqCst) + 1;
            answer(
                200,
                &json!({"access_token": format!("access-{number}"), "token_type": "bearer", "expires_in": 3600,
                    "refresh_token": format!("refresh-{number}")}),
            )
        });
        world
    }

    pub(crate) fn on(&self, url: &str, with: impl Fn(&Seen) -> HttpResponse + Send + Sync + 'static) {
        self.answers.lock().unwrap().insert(url.to_owned(), Box::new(with));
    }

    pub(crate) fn gives(&self, url: &str, body: Value) {
        self.on(url, move |_| answer(200, &body));
    }

    /// Returns the requests to addresses with this prefix.
    pub(crate) fn seen(&self, url: &str) -> Vec<Seen> {
        self.all().iter().filter(|seen| seen.url.starts_with(url)).cloned().collect()
    }

    pub(crate) fn all(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap()
    }

    pub(crate) fn options(self: &Arc<Self>, store: Arc<dyn TokenStore>, clock: &Arc<Held>) -> AuthOptions {
        let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
        AuthOptions::new()
            .with_transport(Arc::clone(self) as Arc<dyn HttpTransport>)
            .with_store(store)
            .with_clock(clock)
    }

    pub(crate) fn authorizer(self: &Arc<Self>, config: OAuthConfig) -> Arc<Authorizer> {
        let store = Arc::new(MemoryTokenStore::new());
        Authorizer::new(SERVER, config, self.options(store, &Held::at(1_000_000))).unwrap()
    }
}

#[async_trait::async_trait]
impl HttpTransport for World {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let fields = url::form_urlencoded::parse(request.body()).into_owned().collect();
        let seen = Seen {
            url: request.url().to_owned(),
            authorization: request.header("authorization").map(str::to_owned),
            fields,
            json: serde_json::from_slice(request.body()).unwrap_or_default(),
        };
        self.all().push(seen.clone());
        // As on a network, others have a turn meanwhile.
        tokio::task::yield_now().await;
        let answers = self.answers.lock().unwrap();
        Ok(answers.get(request.url()).map_or_else(|| HttpResponse::new(404), |answer| answer(&seen)))
    }
}

/// Clock that is moved by hand.
#[derive(Debug)]
pub(crate) struct Held(AtomicU64);

impl Held {
    pub(crate) fn at(millis: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(millis)))
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for Held {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// User who agrees to everything. The host handles the return, with these fields in addition to code and state.
#[derive(Debug)]
pub(crate) struct Agrees(pub(crate) &'static [(&'static str, &'static str)]);

pub(crate) const AGREES: Agrees = Agrees(&[("iss", ISSUER)]);

#[async_trait::async_trait]
impl Browser for Agrees {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        let mut back = url::Url::parse(&page.redirect_uri).unwrap();
        back.query_pairs_mut().append_pair("code", "the-code").append_pair("state", &asked(page, "state"));
        back.query_pairs_mut().extend_pairs(self.0);
        Ok(Some(back.into()))
    }
}

/// Returns a parameter of the page's address.
pub(crate) fn asked(page: &LoginPage, name: &str) -> String {
    let address = url::Url::parse(&page.address).unwrap();
    address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

pub(crate) fn refused(header: &str) -> Challenge {
    Challenge::read(401, Some(header))
}

pub(crate) fn secret(text: &str) -> SecretText {
    SecretText::new(text)
}
