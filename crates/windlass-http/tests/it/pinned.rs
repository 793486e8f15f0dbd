//! Transports that connect only to given addresses.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use windlass_http::{HttpOptions, HttpRequest, HttpTransport, NetworkTransport};

/// Answers one request, and returns the bytes read.
async fn answer_one(listener: TcpListener) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(stream.read_u8().await.unwrap());
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    String::from_utf8(read).unwrap()
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[tokio::test]
async fn a_name_leads_to_the_addresses_that_were_given() {
    let (listener, address) = listener().await;
    let options = HttpOptions::default();
    let url = "http://no-such-name.example/page";
    assert!(!options.is_proxied(url));
    let transport = NetworkTransport::pinned(url, &[address], &options).unwrap();
    let (sent, read) = tokio::join!(transport.send(HttpRequest::get(url)), answer_one(listener));
    assert_eq!(sent.unwrap().status(), 204);
    assert!(read.starts_with("GET /page HTTP/1.1\r\n") && read.contains("host: no-such-name.example\r\n"), "{read}");
    let elsewhere = transport.send(HttpRequest::get("http://other.example/")).await.unwrap_err();
    assert!(elsewhere.is_unsent(), "{elsewhere}");
    let nowhere = NetworkTransport::pinned(url, &[], &options).unwrap().send(HttpRequest::get(url)).await.unwrap_err();
    assert!(nowhere.is_unsent(), "{nowhere}");
}

#[tokio::test]
async fn a_proxy_of_the_variables_is_given_the_name() {
    let (listener, address) = listener().await;
    let mut options = HttpOptions::default();
    options.look_up(&|name| match name {
        "http_proxy" => Some(format!("http://{address}")),
        "no_proxy" => Some("direct.example".to_owned()),
        _ => None,
    });
    let url = "http://no-such-name.example/page";
    assert!(options.is_proxied(url) && !options.is_proxied("http://direct.example/") && !options.is_proxied("no url"));
    let transport = NetworkTransport::pinned(url, &[], &options).unwrap();
    let (sent, read) = tokio::join!(transport.send(HttpRequest::get(url)), answer_one(listener));
    assert_eq!(sent.unwrap().status(), 204);
    assert!(read.starts_with("GET http://no-such-name.example/page HTTP/1.1\r\n"), "{read}");
}
