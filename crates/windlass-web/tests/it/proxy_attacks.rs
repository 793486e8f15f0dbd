//! Proxy under attack.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use windlass_web::proxy::EgressProxy;

use crate::common::{FakeNetwork, PUBLIC, read_head, server};
use crate::proxy::{ask, authorization, options, policy, status};

const PATIENCE: Duration = Duration::from_secs(20);

/// Sends bytes and reads all that comes back.
async fn converse(proxy: &EgressProxy, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(proxy.address().unwrap()).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn no_second_request_is_smuggled_past_the_rules() {
    let (address, read) = server(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]).name("other.org", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let token = authorization(&proxy);
    let second = format!("GET http://other.org/secret HTTP/1.1\r\nhost: other.org\r\n{token}\r\n");
    for framing in [
        "content-length: 0\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
        "content-length: 5\r\ncontent-length: 0\r\n",
        "content-length: 5, 0\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding : chunked\r\n",
        "transfer-encoding:\u{b}chunked\r\n",
        "content-length: +5\r\n",
        "content-length: -1\r\n",
        "content-length: 0x5\r\n",
        "connection: content-length, transfer-encoding\r\ncontent-length: 5\r\n",
        "x: y\r\n transfer-encoding: chunked\r\n",
        "\0: y\r\n",
    ] {
        let request =
            format!("POST http://example.com/ HTTP/1.1\r\nhost: example.com\r\n{token}{framing}\r\n0\r\n\r\n{second}");
        converse(&proxy, request.as_bytes()).await;
    }
    // However the first request was read, none for the other host has been sent.
    assert!(!network.looked_up().contains(&"other.org".to_owned()));
    for request in read.lock().unwrap().iter() {
        assert_eq!(request.matches("HTTP/1.1").count(), 1, "{request}");
        assert!(request.starts_with("POST / HTTP/1.1\r\n"), "{request}");
    }
    assert!(network.dialled().iter().all(|address| address.to_string() == format!("{PUBLIC}:80")));
}

#[tokio::test]
async fn targets_that_can_be_read_in_two_ways_are_refused() {
    let (address, _) = server(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy().allow("*").unwrap(), options).await.unwrap();
    for line in [
        "CONNECT example.com HTTP/1.1",
        "CONNECT example.com:0 HTTP/1.1",
        "CONNECT example.com:70000 HTTP/1.1",
        "CONNECT http://example.com:443/ HTTP/1.1",
        "CONNECT example.com:443/path HTTP/1.1",
        "CONNECT user@example.com:443 HTTP/1.1",
        "CONNECT 2130706433:80 HTTP/1.1",
        "CONNECT 0x7f000001:80 HTTP/1.1",
        "CONNECT 127.1:80 HTTP/1.1",
        "CONNECT 0177.0.0.1:80 HTTP/1.1",
        "CONNECT 127.0.0.1:80 HTTP/1.1",
        "CONNECT [::]:80 HTTP/1.1",
        "CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1",
        "CONNECT [::127.0.0.1]:80 HTTP/1.1",
        "CONNECT [fe80::1%25eth0]:80 HTTP/1.1",
        "CONNECT ex%61mple.com:443 HTTP/1.1",
        "CONNECT example.com\\@other.org:443 HTTP/1.1",
        "CONNECT example.com:443\r\ntransfer-encoding: chunked HTTP/1.1",
        "CONNECT example.com:443 HTTP/1.1\r\ncontent-length: 5",
        "CONNECT example.com:443 HTTP/1.1\r\ntransfer-encoding: chunked",
        "GET / HTTP/1.1\r\nhost: example.com",
        "GET https://example.com/ HTTP/1.1",
        "GET ftp://example.com/ HTTP/1.1",
        "GET http://user:word@example.com/ HTTP/1.1",
        "GET http://example.com@127.0.0.1/ HTTP/1.1",
        "GET http://127.0.0.1:80/ HTTP/1.1",
        "GET http://metadata.google.internal/ HTTP/1.1",
        "GET http://2130706433/ HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "PRI * HTTP/2.0",
    ] {
        let answer = converse(&proxy, format!("{line}\r\n{}\r\n", authorization(&proxy)).as_bytes()).await;
        assert!(["400", "403", ""].contains(&status(&answer)), "{line}: {answer}");
        assert_eq!(network.dialled(), [], "{line}");
    }
    assert_eq!(network.looked_up(), Vec::<String>::new());
}

#[tokio::test]
async fn heads_without_end_are_cut() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (options, _) = options(&network);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let token = authorization(&proxy);
    let long = format!("CONNECT example.com:443 HTTP/1.1\r\n{token}x: {}\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("CONNECT example.com:443 HTTP/1.1\r\n{token}{}\r\n", "x: y\r\n".repeat(100_000));
    for flood in [long, many] {
        let answer = converse(&proxy, flood.as_bytes()).await;
        assert!(["431", "400", ""].contains(&status(&answer)), "{}", answer.len());
    }
    assert_eq!(network.dialled(), []);
}

#[tokio::test]
async fn half_open_connections_end_and_do_not_shut_others_out() {
    let (address, _) = server(|_| Vec::new()).await;
    let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
    let (mut options, _) = options(&network);
    options.max_connections = 4;
    options.head_timeout = Duration::from_millis(200);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..16 {
        let mut stream = TcpStream::connect(proxy.address().unwrap()).await.unwrap();
        stream.write_all(b"CONNECT exam").await.unwrap();
        silent.push(stream);
    }
    let (_, answer) = timeout(PATIENCE, ask(&proxy, "CONNECT example.com:443 HTTP/1.1")).await.unwrap();
    assert_eq!(status(&answer), "200");
    for mut stream in silent {
        timeout(PATIENCE, read_head(&mut stream)).await.unwrap();
    }
}

#[tokio::test]
async fn silent_servers_are_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let network = FakeNetwork::to(listener.local_addr().unwrap()).name("example.com", &[&[PUBLIC]]);
    let (mut options, _) = options(&network);
    options.idle_timeout = Duration::from_millis(100);
    let proxy = EgressProxy::start(policy(), options).await.unwrap();
    let (mut tunnel, answer) = ask(&proxy, "CONNECT example.com:443 HTTP/1.1").await;
    assert_eq!(status(&answer), "200");
    assert!(timeout(PATIENCE, tunnel.read_u8()).await.unwrap().is_err());
    let (_, answer) = timeout(PATIENCE, ask(&proxy, "GET http://example.com/ HTTP/1.1")).await.unwrap();
    assert_eq!(status(&answer), "502", "{answer}");
}

#[tokio::test]
async fn a_server_that_breaks_the_protocol_harms_one_answer_only() {
    for broken in [
        &b"garbage"[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"",
    ] {
        let (address, _) = server(move |_| broken.to_vec()).await;
        let network = FakeNetwork::to(address).name("example.com", &[&[PUBLIC]]);
        let (options, _) = options(&network);
        let proxy = EgressProxy::start(policy(), options).await.unwrap();
        let request = format!("GET http://example.com/ HTTP/1.1\r\n{}\r\n", authorization(&proxy));
        converse(&proxy, request.as_bytes()).await;
        let (_, answer) = ask(&proxy, "CONNECT example.com:443 HTTP/1.1").await;
        assert_eq!(status(&answer), "200");
    }
}
