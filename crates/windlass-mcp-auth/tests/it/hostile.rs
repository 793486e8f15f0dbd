//! Servers that lie, stall and flood.

use crate::world::{AGREES, Agrees, Held, ISSUER, SERVER, World, answer, metadata, refused, secret};
use futures_util::stream;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use windlass_http::{Bytes, HttpResponse};
use windlass_mcp_auth::{AuthError, Authorizer, Browser, LoginPage, MemoryTokenStore, OAuthConfig};

const RESOURCE: &str = "https://mcp.example/.well-known/oauth-protected-resource/team/mcp";
const DESCRIBED: &str = "https://login.example/.well-known/oauth-authorization-server";

async fn fails(world: &Arc<World>) -> String {
    let error = world.authorizer(OAuthConfig::default()).login(&AGREES).await.unwrap_err();
    assert_eq!(world.seen(&format!("{ISSUER}/token")).len(), 0, "{error}");
    error.to_string()
}

fn changed(name: &str, value: Value) -> Value {
    let mut described = metadata();
    described[name] = value;
    described
}

#[tokio::test]
async fn descriptions_of_others_and_unsafe_addresses_are_refused() {
    for (place, described, problem) in [
        (
            RESOURCE,
            json!({"resource": "https://bank.example/mcp", "authorization_servers": [ISSUER]}),
            "another resource",
        ),
        (RESOURCE, json!({"resource": SERVER, "authorization_servers": ["http://login.example"]}), "not https"),
        (RESOURCE, json!({"resource": SERVER, "authorization_servers": ["http://127.0.0.1:1"]}), "not https"),
        (DESCRIBED, changed("issuer", "https://bank.example".into()), "describes itself as"),
        (DESCRIBED, changed("issuer", format!("{ISSUER}/other").into()), "describes itself as"),
        (DESCRIBED, changed("token_endpoint", "http://login.example/token".into()), "not https"),
        (DESCRIBED, changed("authorization_endpoint", "file:///etc/passwd".into()), "not https"),
        (DESCRIBED, changed("authorization_endpoint", "javascript:alert(1)".into()), "not https"),
        (DESCRIBED, changed("registration_endpoint", "https://a:b@login.example/".into()), "credentials"),
        (DESCRIBED, changed("code_challenge_methods_supported", json!(["plain"])), "PKCE"),
        (DESCRIBED, json!({}), "does not describe itself"),
    ] {
        let world = World::new();
        world.gives(place, described.clone());
        let error = fails(&world).await;
        assert!(error.contains(problem), "{described}: {error}");
    }
}

#[tokio::test]
async fn answers_of_other_issuers_do_not_lead_to_a_token_request() {
    for fields in [&[("iss", "https://bank.example")][..], &[("iss", "https://login.example/")], &[]] {
        let world = World::new();
        let browser = Agrees(Box::leak(fields.to_vec().into_boxed_slice()));
        let error = world.authorizer(OAuthConfig::default()).login(&browser).await.unwrap_err();
        assert!(matches!(error, AuthError::Untrusted(_)), "{fields:?}: {error}");
        assert_eq!(world.seen(&format!("{ISSUER}/token")).len(), 0);
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let world = World::new();
    for place in [RESOURCE, DESCRIBED, "https://login.example/register", "https://login.example/token"] {
        world.on(place, |_| HttpResponse::new(307).with_header("location", "https://evil.example/take"));
        let error = world.authorizer(OAuthConfig::default()).login(&AGREES).await;
        assert!(error.is_err(), "{place}");
        world.on(RESOURCE, |_| answer(200, &json!({"resource": SERVER, "authorization_servers": [ISSUER]})));
        world.on(DESCRIBED, |_| answer(200, &metadata()));
        world.on("https://login.example/register", |_| answer(201, &json!({"client_id": "c"})));
    }
    assert_eq!(world.seen("https://evil.example").len(), 0);
}

#[tokio::test]
async fn floods_are_cut() {
    for place in [RESOURCE, DESCRIBED, "https://login.example/register", "https://login.example/token"] {
        let world = World::new();
        world.on(place, |_| {
            HttpResponse::new(200).with_body(stream::repeat_with(|| Ok(Bytes::from_static(&[b' '; 16_384]))))
        });
        let error = world.authorizer(OAuthConfig::default()).login(&AGREES).await.unwrap_err();
        assert!(error.to_string().contains("larger than 256 KiB"), "{place}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_endpoint_that_drips_is_given_up() {
    let world = World::new();
    world.on("https://login.example/token", |_| {
        HttpResponse::new(200).with_body(stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Some((Ok(Bytes::from_static(b" ")), ()))
        }))
    });
    let error = world.authorizer(OAuthConfig::default()).login(&AGREES).await.unwrap_err();
    assert_eq!(error, AuthError::Http("login.example did not answer within 30 s".to_owned()));
}

/// User who closes the window.
#[derive(Debug, Default)]
struct Leaves(std::sync::Mutex<Option<u16>>);

#[async_trait::async_trait]
impl Browser for Leaves {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        *self.0.lock().unwrap() = url::Url::parse(&page.redirect_uri).unwrap().port();
        Ok(None)
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_never_returns_ends_with_its_port() {
    let world = World::new();
    let leaves = Leaves::default();
    let options = world.options(Arc::new(MemoryTokenStore::new()), &Held::at(0));
    let options = options.with_login_timeout(Duration::from_secs(120));
    let authorizer = Authorizer::new(SERVER, OAuthConfig::default(), options).unwrap();
    assert_eq!(authorizer.login(&leaves).await, Err(AuthError::TimedOut { seconds: 120 }));
    let port = leaves.0.lock().unwrap().unwrap();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[tokio::test]
async fn no_error_and_no_debug_form_shows_a_secret() {
    let world = World::new();
    let mut config = OAuthConfig::default();
    (config.client_id, config.client_secret) = (Some("c".to_owned()), Some(secret("the-password")));
    let authorizer = world.authorizer(config);
    authorizer.login(&AGREES).await.unwrap();
    // The server repeats everything that it was sent.
    world.on("https://login.example/token", |seen| {
        answer(
            400,
            &json!({"error": format!("no {:?}", seen.fields), "error_description": format!("{:?}", seen.fields)}),
        )
    });
    let renewed = authorizer.challenged(&refused("Bearer"), Some(&secret("access-1"))).await;
    let login = authorizer.login(&AGREES).await;
    let shown =
        format!("{renewed:?} {login:?} {:?} {authorizer:?} {:?}", authorizer.problem(), authorizer.token().await);
    for hidden in ["access-1", "refresh-1", "the-code", "the-password"] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
    let verifier = world.seen("https://login.example/token").last().unwrap().fields["code_verifier"].clone();
    assert!(!shown.contains(&verifier), "{shown}");
}

#[tokio::test]
async fn tokens_of_other_types_are_refused() {
    let world = World::new();
    world.on("https://login.example/token", |_| answer(200, &json!({"access_token": "a", "token_type": "DPoP"})));
    let authorizer = world.authorizer(OAuthConfig::default());
    let error = authorizer.login(&AGREES).await.unwrap_err();
    assert!(error.to_string().contains("DPoP"), "{error}");
    assert_eq!(authorizer.token().await, None);
}
