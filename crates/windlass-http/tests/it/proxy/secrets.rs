use std::{
    ffi::OsString,
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};
use windlass_http::proxy::{CredentialProxy, ProxyCredential, ProxyError, ProxyOptions};
use windlass_testkit::wire::{Message, Reply, WireServer};

use crate::proxy::world::{KEY, connect, exchange, host, options, post, request, status, world};

#[tokio::test]
async fn headers_between_neighbours_and_credentials_stay_behind() {
    let (server, proxy) = world().await;
    server.push(
        Reply::status(200, "ok")
            .header("set-cookie", "session=1")
            .header("alt-svc", "h3=\":443\"")
            .header("x-internal", "1")
            .header("connection", "keep-alive, x-internal")
            .header("x-echo", KEY)
            .header("anthropic-ratelimit-requests-remaining", "7"),
    );
    let at = format!("host: {}", host(&proxy));
    let token = format!("authorization: Bearer {}", proxy.nonce());
    let hidden = format!("x-other: <{}>", proxy.nonce());
    let headers = [
        &*at,
        &token,
        &hidden,
        "connection: x-mine, close",
        "x-mine: 1",
        "cookie: a=b",
        "proxy-authorization: Basic eA==",
        "te: trailers",
        "expect: 100-continue",
        "accept-encoding: gzip, br",
        "anthropic-beta: one",
        "anthropic-beta: two",
        "user-agent: child/1",
    ];
    let text = exchange(&proxy, &request("POST", "/v1/messages?beta=true", &headers, "{}")).await;
    let text = text.rsplit_once("HTTP/1.1 200").unwrap().1;
    for gone in ["set-cookie", "alt-svc", "x-internal", "x-echo", KEY] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
    assert!(text.contains("anthropic-ratelimit-requests-remaining: 7\r\n"), "{text}");
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/v1/messages?beta=true");
    for gone in ["connection", "x-mine", "cookie", "proxy-authorization", "te", "expect", "x-other", "authorization"] {
        assert_eq!(sent.header(gone), None, "{gone}");
    }
    assert_eq!((sent.header("x-api-key"), sent.header("user-agent")), (Some(KEY), Some("child/1")));
    assert_eq!(sent.header("accept-encoding"), Some("identity"));
    assert_eq!(sent.headers.iter().filter(|(name, _)| name == "anthropic-beta").count(), 2);
}

#[tokio::test]
async fn an_upstream_that_echoes_the_key_does_not_give_it_away() {
    let (server, proxy) = world().await;
    server.push(Reply::error(401, "authentication_error", &format!("bad key {KEY}, sorry")));
    let text = exchange(&proxy, &post(&proxy, "{}").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n")).await;
    assert!(text.contains(&format!("bad key {}, sorry", "*".repeat(KEY.len()))), "{text}");
    // Also in pieces, and in a stream.
    let reply = Reply::from(Message::new().text(&format!("it is {KEY}."))).chunks_of(3).separate_writes();
    server.push(reply.clone());
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, "{}")).await;
    client.until("\r\n\r\n").await;
    let body = client.until("\r\n0\r\n\r\n").await;
    let whole: String = body.split("\r\n").skip(1).step_by(2).collect();
    assert_eq!(whole.len(), reply.body().len());
    assert!(!whole.contains(KEY) && whole.contains("it is ****"), "{whole}");
}

#[tokio::test]
async fn a_redirect_carries_nothing_away() {
    let (server, proxy) = world().await;
    let elsewhere = WireServer::start().await.unwrap();
    elsewhere.on_request(|_| Reply::status(200, "caught"));
    for code in [301, 302, 303, 307, 308] {
        let target = elsewhere.url() + "/v1/messages";
        server.push(Reply::status(code, "").header("location", &target));
        let mut client = connect(&proxy).await;
        client.send(&post(&proxy, "{}")).await;
        let head = client.until("\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 502 ") && !head.contains("location"), "{head}");
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn custom_headers_and_tokens_are_those_of_the_owner() {
    let server = WireServer::start().await.unwrap();
    server.on_request(|_| Reply::status(200, "ok"));
    let url = server.url() + "/gateway/";
    let lookup = |name: &str| match name {
        "ANTHROPIC_AUTH_TOKEN" => Some("real-token-1".to_owned()),
        "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_CUSTOM_HEADERS" => Some("X-Tenant: me\n\nX-Gateway-Key: gateway-secret".to_owned()),
        _ => None,
    };
    let proxy = CredentialProxy::bind(ProxyOptions::lookup(lookup).unwrap()).await.unwrap();
    let at = format!("host: {}", host(&proxy));
    let key = format!("x-api-key: {}", proxy.nonce());
    assert_eq!(status(&proxy, &request("GET", "/v1/models", &[&at, &key, "x-tenant: other"], "")).await, 200);
    let sent = server.requests().remove(0);
    assert_eq!(sent.path, "/gateway/v1/models");
    assert_eq!(sent.header("authorization"), Some("Bearer real-token-1"));
    assert_eq!(sent.header("x-api-key"), None);
    assert_eq!((sent.header("x-tenant"), sent.header("x-gateway-key")), (Some("me"), Some("gateway-secret")));
}

#[tokio::test]
async fn a_child_gets_the_nonce_and_no_copy_of_the_key() {
    let (_server, proxy) = world().await;
    let from = [
        ("PATH", "/bin"),
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_AUTH_TOKEN", "another"),
        ("ANTHROPIC_BASE_URL", "https://elsewhere.example"),
        ("ANTHROPIC_CUSTOM_HEADERS", "x: y"),
        ("MY_BACKUP", &format!("key={KEY};")),
        ("HTTP_PROXY", "http://proxy.example"),
        ("NO_PROXY", "intranet"),
    ];
    let from = from.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let mut child = proxy.child_environment(from);
    child.sort();
    let expected = [
        ("ANTHROPIC_API_KEY", proxy.nonce()),
        ("ANTHROPIC_BASE_URL", &proxy.url()),
        ("HTTP_PROXY", "http://proxy.example"),
        ("NO_PROXY", "intranet,127.0.0.1"),
        ("PATH", "/bin"),
        ("no_proxy", "127.0.0.1"),
    ];
    assert_eq!(child, expected.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    assert!(proxy.child_environment([]).iter().all(|(name, _)| name != "no_proxy"));
}

#[test]
fn what_cannot_be_used_is_said_without_showing_it() {
    let of = |pairs: &'static [(&str, &str)]| {
        ProxyOptions::lookup(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    };
    let error = of(&[("ANTHROPIC_API_KEY", "  ")]).unwrap_err();
    assert!(matches!(error, ProxyError::NoCredential), "{error}");
    assert!(error.to_string().contains("ANTHROPIC_API_KEY"));
    for bad in [
        &[("ANTHROPIC_API_KEY", "secret\nvalue")][..],
        &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_CUSTOM_HEADERS", "secret-without-colon")],
        &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_CUSTOM_HEADERS", "Host: secret")],
        &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_CUSTOM_HEADERS", "x-token:")],
    ] {
        let error = of(bad).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
    assert!(of(&[("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer of-my-own")]).is_ok());
    let options = ProxyOptions::new(ProxyCredential::api_key(KEY).unwrap().header("x-key", "hidden-value").unwrap());
    let shown = format!("{options:?}");
    assert!(!shown.contains(KEY) && !shown.contains("hidden") && shown.contains("x-api-key"), "{shown}");
}

/// Subscriber that keeps all log records, at every level.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

impl Visit for Everything {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0.lock().unwrap(), "{field}={value:?} ");
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn no_log_at_any_level_and_no_debug_form_holds_key_or_nonce() {
    let logged = Everything::default();
    let nonce = tracing::subscriber::with_default(logged.clone(), || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = WireServer::start().await.unwrap();
            let proxy = CredentialProxy::bind(options(&server)).await.unwrap();
            assert!(!format!("{proxy:?}").contains(proxy.nonce()));
            // Another test may have hit an event for the first time just before this subscriber was installed.
            tracing::callsite::rebuild_interest_cache();
            server.push(Message::new().text("hello"));
            server.push(Reply::close());
            server.push(Reply::error(401, "authentication_error", KEY));
            for expected in [200, 502, 401] {
                assert_eq!(status(&proxy, &post(&proxy, "{}")).await, expected);
            }
            let nonce = proxy.nonce().to_owned();
            assert_eq!(status(&proxy, &request("GET", "/v1/x", &[&format!("x-api-key: {nonce}")], "")).await, 403);
            nonce
        })
    });
    let logged = logged.0.lock().unwrap();
    assert!(logged.contains("did not accept the credential"), "the log is not seen: {logged}");
    assert!(logged.contains("refused a request for another host"), "{logged}");
    assert!(!logged.contains(KEY) && !logged.contains(&nonce), "{logged}");
}
