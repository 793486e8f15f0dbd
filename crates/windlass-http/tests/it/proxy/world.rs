use std::fmt::Write as _;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use windlass_http::proxy::{CredentialProxy, ProxyCredential, ProxyOptions};
use windlass_testkit::wire::WireServer;

pub(crate) const KEY: &str = "sk-ant-real-key-0123456789";

pub(crate) fn options(server: &WireServer) -> ProxyOptions {
    let mut options = ProxyOptions::new(ProxyCredential::api_key(KEY).unwrap());
    options.base_url = server.url();
    options
}

/// Starts an upstream and a proxy in front of it.
pub(crate) async fn world() -> (WireServer, CredentialProxy) {
    let server = WireServer::start().await.unwrap();
    let proxy = CredentialProxy::bind(options(&server)).await.unwrap();
    (server, proxy)
}

/// Returns the address of the proxy in the form of a `Host` header.
pub(crate) fn host(proxy: &CredentialProxy) -> String {
    proxy.url().strip_prefix("http://").unwrap().to_owned()
}

/// Returns a correct request.
pub(crate) fn post(proxy: &CredentialProxy, body: &str) -> String {
    let key = format!("x-api-key: {}", proxy.nonce());
    request("POST", "/v1/messages", &[&format!("host: {}", host(proxy)), &key], body)
}

pub(crate) fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    for header in headers {
        let _ = write!(text, "{header}\r\n");
    }
    if !body.is_empty() {
        let _ = write!(text, "content-length: {}\r\n", body.len());
    }
    text + "\r\n" + body
}

pub(crate) async fn connect(proxy: &CredentialProxy) -> Client {
    Client { stream: TcpStream::connect(host(proxy)).await.unwrap(), read: Vec::new() }
}

/// Sends one request and reads until the connection ends.
pub(crate) async fn exchange(proxy: &CredentialProxy, text: &str) -> String {
    let mut client = connect(proxy).await;
    client.send(text).await;
    client.rest().await
}

/// Returns the status of one request on a connection of its own.
pub(crate) async fn status(proxy: &CredentialProxy, text: &str) -> u16 {
    let mut client = connect(proxy).await;
    client.send(text).await;
    client.until("\r\n\r\n").await[9..12].parse().unwrap()
}

/// Connection on which only requested actions happen.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    pub(crate) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until `end` has arrived, and returns everything up to it.
    pub(crate) async fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end.as_bytes()) {
                let rest = self.read.split_off(at + end.len());
                let text = std::mem::replace(&mut self.read, rest);
                return String::from_utf8(text).unwrap();
            }
            let count = self.stream.read_buf(&mut self.read).await.unwrap();
            assert!(count > 0, "ended before {end:?}: {}", String::from_utf8_lossy(&self.read));
        }
    }

    /// Reads to the end of the connection, even after an error.
    pub(crate) async fn rest(mut self) -> String {
        while let Ok(1..) = self.stream.read_buf(&mut self.read).await {}
        String::from_utf8_lossy(&self.read).into_owned()
    }
}
