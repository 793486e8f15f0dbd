//! Logins in a browser.

use crate::world::{AGREES, Agrees, Held, ISSUER, SERVER, World, answer, asked, metadata, refused, secret};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use windlass_mcp_auth::{AuthError, Authorizer, Browser, Challenge, LoginPage, MemoryTokenStore, OAuthConfig};

#[tokio::test]
async fn a_login_finds_the_server_registers_and_keeps_the_tokens() {
    let world = World::new();
    let store = Arc::new(MemoryTokenStore::new());
    let clock = Held::at(0);
    let authorizer = Authorizer::new(SERVER, OAuthConfig::default(), world.options(store.clone(), &clock)).unwrap();
    assert_eq!(authorizer.token().await, None);
    let challenge = refused(r#"Bearer scope="read write""#);
    assert_eq!(authorizer.challenged(&challenge, None).await, Err(AuthError::LoginNeeded));
    authorizer.login(&AGREES).await.unwrap();
    assert_eq!(authorizer.token().await, Some(secret("access-1")));
    let registered = &world.seen(&format!("{ISSUER}/register"))[0].json;
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    let token = &world.seen(&format!("{ISSUER}/token"))[0];
    for (name, value) in
        [("grant_type", "authorization_code"), ("code", "the-code"), ("client_id", "registered"), ("resource", SERVER)]
    {
        assert_eq!(token.fields[name], value, "{name}");
    }
    // The next program has the login too.
    let next = Authorizer::new(SERVER, OAuthConfig::default(), world.options(store, &clock)).unwrap();
    assert_eq!(next.token().await, Some(secret("access-1")));
    assert!(next.logout().await.unwrap() && !next.logout().await.unwrap());
    assert_eq!(next.token().await, None);
}

/// Browser that keeps the page, and agrees.
#[derive(Debug, Default)]
struct Keeps(Mutex<Option<LoginPage>>);

#[async_trait::async_trait]
impl Browser for Keeps {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        *self.0.lock().unwrap() = Some(page.clone());
        AGREES.open(page).await
    }
}

impl Keeps {
    fn scope(&self) -> String {
        asked(self.0.lock().unwrap().as_ref().unwrap(), "scope")
    }
}

#[tokio::test]
async fn a_refusal_for_more_scopes_is_asked_for_beside_those_that_there_were() {
    let world = World::new();
    let store = Arc::new(MemoryTokenStore::new());
    let clock = Held::at(0);
    let new = || Authorizer::new(SERVER, OAuthConfig::default(), world.options(store.clone(), &clock)).unwrap();
    let (authorizer, browser) = (new(), Keeps::default());
    authorizer.login(&browser).await.unwrap();
    // The scope of the metadata, because no refusal named any.
    assert_eq!(browser.scope(), "read");
    let more = Challenge::read(403, Some(r#"Bearer error="insufficient_scope", scope="write""#));
    let token = authorizer.token().await;
    assert_eq!(authorizer.challenged(&more, token.as_ref()).await, Err(AuthError::LoginNeeded));
    // The login is in another program, which has not seen the refusal.
    let other = new();
    other.login(&browser).await.unwrap();
    assert_eq!(browser.scope(), "read write");
    let token = other.token().await;
    let still = other.challenged(&more, token.as_ref()).await;
    assert!(matches!(still, Err(AuthError::StillRefused(_))), "{still:?}");
}

#[tokio::test]
async fn what_one_authorisation_server_knows_is_not_sent_to_another() {
    let world = World::new();
    let authorizer = world.authorizer(OAuthConfig::default());
    authorizer.login(&AGREES).await.unwrap();
    let other = "https://other.example";
    let text = metadata().to_string().replace(ISSUER, other);
    world.gives(&format!("{other}/.well-known/oauth-authorization-server"), serde_json::from_str(&text).unwrap());
    world.on(&format!("{other}/register"), |_| answer(201, &json!({"client_id": "of-the-other"})));
    world.on(&format!("{other}/token"), |_| answer(200, &json!({"access_token": "a", "token_type": "Bearer"})));
    world.gives(
        "https://mcp.example/.well-known/oauth-protected-resource/team/mcp",
        json!({"resource": SERVER, "authorization_servers": [other]}),
    );
    authorizer.login(&Agrees(&[("iss", "https://other.example")])).await.unwrap();
    let token = &world.seen(&format!("{other}/token"))[0];
    assert_eq!(token.fields["client_id"], "of-the-other");
    assert!(!format!("{:?}", world.seen(other)).contains("registered\""));
}

#[tokio::test]
async fn configured_and_described_clients_need_no_registration() {
    let world = World::new();
    let mut config = OAuthConfig::default();
    (config.client_id, config.client_secret) = (Some("mine".to_owned()), Some(secret("a&b")));
    world.authorizer(config).login(&AGREES).await.unwrap();
    let token = &world.seen(&format!("{ISSUER}/token"))[0];
    // `mine:a%26b`
    assert_eq!(token.authorization.as_deref(), Some("Basic bWluZTphJTI2Yg=="));
    let mut described = metadata();
    described["client_id_metadata_document_supported"] = true.into();
    world.gives(&format!("{ISSUER}/.well-known/oauth-authorization-server"), described);
    let mut config = OAuthConfig::default();
    config.client_metadata_url = Some("https://app.example/client.json".to_owned());
    world.authorizer(config).login(&AGREES).await.unwrap();
    let token = &world.seen(&format!("{ISSUER}/token"))[1];
    assert_eq!(token.fields["client_id"], "https://app.example/client.json");
    assert_eq!(world.seen(&format!("{ISSUER}/register")).len(), 0);
}

#[tokio::test]
async fn servers_that_do_not_describe_themselves_are_their_own_authorisation_servers() {
    let world = World::new();
    let own = "https://plain.example";
    world.on(&format!("{own}/register"), |_| answer(201, &json!({"client_id": "c"})));
    world.on(&format!("{own}/token"), |_| answer(200, &json!({"access_token": "plain"})));
    let options = world.options(Arc::new(MemoryTokenStore::new()), &Held::at(0));
    let authorizer = Authorizer::new(&format!("{own}/mcp"), OAuthConfig::default(), options).unwrap();
    authorizer.login(&Agrees(&[])).await.unwrap();
    assert_eq!(authorizer.token().await, Some(secret("plain")));
    assert!(!world.seen(&format!("{own}/token"))[0].fields.contains_key("resource"));
}

/// Browser that returns to this machine over the network, after attempts of other programs on it.
#[derive(Debug)]
struct Returns;

#[async_trait::async_trait]
impl Browser for Returns {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        let (port, state) = (url::Url::parse(&page.redirect_uri).unwrap().port().unwrap(), asked(page, "state"));
        tokio::spawn(async move {
            let silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            for (target, expected) in [
                ("/callback?code=forged&state=guessed".to_owned(), "404"),
                ("/favicon.ico".to_owned(), "404"),
                (format!("/callback?code=the-code&state={state}&iss=https%3A%2F%2Flogin.example"), "200"),
            ] {
                let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.unwrap();
                let mut text = String::new();
                stream.read_to_string(&mut text).await.unwrap();
                assert!(text.starts_with(&format!("HTTP/1.1 {expected}")), "{target}: {text}");
            }
            drop(silent);
        });
        Ok(None)
    }
}

#[tokio::test]
async fn a_browser_returns_to_this_machine_whatever_else_knocks() {
    let world = World::new();
    let authorizer = world.authorizer(OAuthConfig::default());
    authorizer.login(&Returns).await.unwrap();
    assert_eq!(world.seen(&format!("{ISSUER}/token"))[0].fields["code"], "the-code");
}
