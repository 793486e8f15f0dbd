use std::{net::Ipv4Addr, time::Duration};

use tokio::net::TcpListener;
use windlass_http::proxy::CredentialProxy;
use windlass_testkit::wire::{Reply, WireServer};

use crate::proxy::world::{connect, exchange, host, options, post, request, status, world};

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn heads_are_bounded() {
    let (server, proxy) = world().await;
    let at = format!("host: {}", host(&proxy));
    let long = format!("x-long: {}", "x".repeat(70_000));
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: 1")).collect();
    let many: Vec<&str> = std::iter::once(&*at).chain(many.iter().map(String::as_str)).collect();
    assert_eq!(status(&proxy, &request("POST", "/v1/messages", &[&at, &long], "")).await, 431);
    assert_eq!(status(&proxy, &request("POST", "/v1/messages", &many, "")).await, 431);
    let path = format!("/v1/{}", "x".repeat(70_000));
    assert!([414, 431].contains(&status(&proxy, &request("GET", &path, &[&at], "")).await));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn who_sends_slowly_is_cut_off() {
    let server = WireServer::start().await.unwrap();
    let mut options = options(&server);
    options.head_timeout = SHORT;
    options.body_timeout = SHORT;
    let proxy = CredentialProxy::bind(options).await.unwrap();
    // Nothing, half a head, and a body that does not arrive.
    assert_eq!(connect(&proxy).await.rest().await, "");
    let whole = post(&proxy, "{}");
    assert!(!exchange(&proxy, &whole[..20]).await.contains("200"));
    assert_eq!(status(&proxy, &whole[..whole.len() - 1]).await, 408);
    assert_eq!(server.request_count(), 0);
}

#[tokio::test]
async fn bodies_are_bounded_whatever_their_length_says() {
    let server = WireServer::start().await.unwrap();
    let mut options = options(&server);
    options.max_request_bytes = 100;
    let proxy = CredentialProxy::bind(options).await.unwrap();
    server.on_request(|_| Reply::status(200, "ok"));
    assert_eq!(status(&proxy, &post(&proxy, &"x".repeat(100))).await, 200);
    let requests = server.request_count();
    assert_eq!(status(&proxy, &post(&proxy, &"x".repeat(101))).await, 413);
    let at = format!("host: {}", host(&proxy));
    let key = format!("x-api-key: {}", proxy.nonce());
    let chunked = request("POST", "/v1/messages", &[&at, &key, "transfer-encoding: chunked"], "");
    let chunk = format!("65\r\n{}\r\n0\r\n\r\n", "x".repeat(101));
    assert_eq!(status(&proxy, &(chunked + &chunk)).await, 413);
    assert_eq!(server.request_count(), requests);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let server = WireServer::start().await.unwrap();
    let mut options = options(&server);
    options.max_connections = 2;
    let proxy = CredentialProxy::bind(options).await.unwrap();
    server.on_request(|_| Reply::status(200, "ok"));
    let mut first = connect(&proxy).await;
    first.send(&post(&proxy, "{}")).await;
    first.until("ok").await;
    let mut second = connect(&proxy).await;
    second.send(&post(&proxy, "{}")).await;
    second.until("ok").await;
    let mut third = connect(&proxy).await;
    third.send(&post(&proxy, "{}")).await;
    first.send(&post(&proxy, "{}")).await;
    first.until("ok").await;
    assert_eq!(server.request_count(), 3);
    drop(second);
    third.until("ok").await;
    assert_eq!(server.request_count(), 4);
}

#[tokio::test]
async fn an_upstream_that_is_not_there_or_silent_is_an_error() {
    let server = WireServer::start().await.unwrap();
    let mut options = options(&server);
    options.idle_timeout = SHORT;
    server.push(Reply::never());
    let proxy = CredentialProxy::bind(options.clone()).await.unwrap();
    assert_eq!(status(&proxy, &post(&proxy, "{}")).await, 504);
    let unused = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    options.base_url = format!("http://{}", unused.local_addr().unwrap());
    drop(unused);
    let proxy = CredentialProxy::bind(options.clone()).await.unwrap();
    assert_eq!(status(&proxy, &post(&proxy, "{}")).await, 502);
    for bad in ["", "api.example", "ftp://api.example", "https://api.example?x=1", "https://api.example/#v1"] {
        options.base_url = bad.to_owned();
        assert!(CredentialProxy::bind(options.clone()).await.is_err(), "{bad}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_the_upstream_back_and_not_for_ever() {
    let server = WireServer::start().await.unwrap();
    let mut options = options(&server);
    options.stall_timeout = Duration::from_millis(200);
    options.grace = Duration::from_secs(3600);
    let proxy = CredentialProxy::bind(options).await.unwrap();
    // More than all buffers on the way together, so that the end waits for the reader.
    server.push(Reply::status(200, vec![b'x'; 64 * 1024 * 1024]));
    let mut client = connect(&proxy).await;
    client.send(&post(&proxy, "{}")).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.contains("content-length: 67108864\r\n"), "{head}");
    // Only the limit ends the connection: the client does not read, and the grace is long.
    proxy.shutdown().await;
    assert!(client.rest().await.len() < 64 * 1024 * 1024);
}
