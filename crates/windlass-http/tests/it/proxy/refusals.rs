use std::sync::{Arc, Mutex};

use windlass_http::proxy::{CredentialProxy, ProxyNoticeKind};
use windlass_testkit::wire::{Reply, WireServer};

use crate::proxy::world::{KEY, connect, exchange, host, options, post, request, status, world};

#[tokio::test]
async fn no_other_client_gets_through() {
    let (server, proxy) = world().await;
    let at = format!("host: {}", host(&proxy));
    let key = format!("x-api-key: {}", proxy.nonce());
    let real = format!("x-api-key: {KEY}");
    let there = proxy.url() + "/v1/messages";
    for (text, expected) in [
        (request("POST", "/v1/messages", &[&at], "{}"), 401),
        (request("POST", "/v1/messages", &[&at, "x-api-key: wrong"], "{}"), 401),
        // A client that has the key does not need the proxy.
        (request("POST", "/v1/messages", &[&at, &real], "{}"), 401),
        (request("POST", "/v1/messages", &["host: evil.example", &key], "{}"), 403),
        (request("POST", "/v1/messages", &[&key], "{}"), 403),
        (request("POST", "/v1/messages", &[&at, &key, "origin: https://evil.example"], "{}"), 403),
        (request("OPTIONS", "/v1/messages", &[&at, "origin: https://evil.example"], ""), 403),
        (request("OPTIONS", "/v1/messages", &[&at, &key], ""), 405),
        (request("TRACE", "/v1/messages", &[&at, &key], ""), 405),
        (request("GET", "/v1/../admin", &[&at, &key], ""), 404),
        (request("GET", "/v1/%2e%2e/admin", &[&at, &key], ""), 404),
        (request("GET", "/v1/..;/admin", &[&at, &key], ""), 404),
        (request("GET", "/v1/%c0%ae%c0%ae/admin", &[&at, &key], ""), 404),
        (request("POST", "/v1/messages", &[&at, &key, "x-http-method-override: DELETE"], "{}"), 405),
        (request("POST", "/v1/messages", &[&at, &key, "x_http_method_override: DELETE"], "{}"), 405),
        (request("POST", "/v1/messages?_method=DELETE", &[&at, &key], "{}"), 405),
        (request("POST", "/v1/messages", &[&at, &key, "x-original-url: /admin"], "{}"), 404),
        (request("HEAD", "/", &[&at, &key], ""), 404),
        (request("POST", "http://api.example/v1/messages", &[&at, &key], "{}"), 403),
        (request("POST", &there, &[&at, &key], "{}"), 403),
        (request("CONNECT", "api.example:443", &[&at, &key], ""), 403),
        (request("POST", "/v1/messages", &[&at, &key, "upgrade: h2c", "transfer-encoding: gzip"], ""), 400),
        (request("POST", "/v1/messages", &[&at, &key, "content-length: 2", "content-length: 3"], ""), 400),
        (request("POST", "/v1/messages", &[&at, &key, "content-length: -2"], ""), 400),
        (request("POST", "/v1/messages", &[&at, &key, "bad header: x"], "{}"), 400),
    ] {
        assert_eq!(status(&proxy, &text).await, expected, "{text}");
    }
    assert_eq!(server.connections(), 0);
}

/// Headers about the origin of a request, and headers in another spelling, are not sent upstream.
#[tokio::test]
async fn headers_that_speak_for_others_are_left_behind() {
    let (server, proxy) = world().await;
    server.on_request(|_| Reply::status(200, "ok"));
    let at = format!("host: {}", host(&proxy));
    let key = format!("x-api-key: {}", proxy.nonce());
    let left = ["x-forwarded-for", "X-Forwarded-Host", "forwarded", "x-real-ip", "via", "x_api_key", "x_forwarded_for"];
    let mut headers: Vec<String> = left.iter().map(|name| format!("{name}: 10.0.0.1")).collect();
    headers.extend([at, key, "anthropic-beta: kept".to_owned(), "connection: close".to_owned()]);
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let text = exchange(&proxy, &request("POST", "/v1/messages", &headers, "{}")).await;
    assert!(text.ends_with("ok"), "{text}");
    let sent = server.requests().pop().unwrap();
    assert_eq!(sent.header("anthropic-beta"), Some("kept"));
    for name in left {
        assert_eq!(sent.header(name), None, "{name}");
    }
}

#[tokio::test]
async fn a_refusal_says_nothing() {
    let (_server, proxy) = world().await;
    let mut client = connect(&proxy).await;
    client.send(&request("POST", "/v1/messages", &[&format!("host: {}", host(&proxy))], "")).await;
    let head = client.until("\r\n\r\n").await.to_lowercase();
    for word in ["server:", "via:", "www-authenticate", "access-control", "windlass"] {
        assert!(!head.contains(word), "{head}");
    }
    let body = client.until("}}").await;
    assert_eq!(body, r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#);
}

#[tokio::test]
async fn nothing_can_be_smuggled_behind_a_request() {
    let (server, proxy) = world().await;
    server.on_request(|_| Reply::status(200, "ok"));
    let at = format!("host: {}", host(&proxy));
    let key = format!("x-api-key: {}", proxy.nonce());
    let second = post(&proxy, "smuggled");
    // Whichever of the two lengths is used, the other reading has a second request behind the first.
    for headers in
        [["content-length: 5", "transfer-encoding: chunked"], ["transfer-encoding: chunked", "content-length: 5"]]
    {
        let first = request("POST", "/v1/messages", &[&at, &key, headers[0], headers[1]], "");
        let before = server.request_count();
        let text = exchange(&proxy, &format!("{first}0\r\n\r\n{second}")).await;
        assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{text}");
        let requests = server.requests();
        assert!(requests.len() <= before + 1);
        assert!(requests.iter().all(|request| request.body.is_empty()), "{requests:?}");
        assert!(
            requests
                .iter()
                .all(|request| request.header("transfer-encoding").is_none()
                    || request.header("content-length").is_none())
        );
    }
    // The chunks of a client are not those of the request upstream.
    let chunked = request("POST", "/v1/messages", &[&at, &key, "transfer-encoding: chunked", "connection: close"], "");
    let text =
        exchange(&proxy, &format!("{chunked}2;x=y\r\n{{\"\r\n5\r\na\":1}}\r\n0\r\nx-api-key: trailer\r\n\r\n")).await;
    assert!(text.ends_with("ok"), "{text}");
    let last = server.requests().pop().unwrap();
    assert_eq!(last.body, "{\"a\":1}");
    assert_eq!(last.header("x-api-key"), Some(KEY));
}

#[tokio::test]
async fn trouble_is_reported_but_not_as_often_as_it_comes() {
    let server = WireServer::start().await.unwrap();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let options = options(&server).on_notice(move |notice| sink.lock().unwrap().push(notice.clone()));
    let proxy = CredentialProxy::bind(options).await.unwrap();
    let refused = request("GET", "/v1/models", &[&format!("host: {}", host(&proxy)), "x-api-key: {evil}"], "");
    for _ in 0..50 {
        assert_eq!(status(&proxy, &refused).await, 401);
    }
    server.push(Reply::error(401, "authentication_error", "invalid x-api-key"));
    assert_eq!(status(&proxy, &post(&proxy, "{}")).await, 401);
    let notices = notices.lock().unwrap();
    let refusals = notices.iter().filter(|notice| notice.kind == ProxyNoticeKind::Refused).count();
    assert!((1..25).contains(&refusals), "{notices:?}");
    assert!(notices.iter().any(|notice| notice.kind == ProxyNoticeKind::Credential), "{notices:?}");
    assert!(!format!("{notices:?}").contains("evil"));
}
