//! A server with a certificate of its own authority, behind a proxy.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use windlass_testkit::wire::{Reply, WireServer};

use super::dialects::Dialect;

/// The name in the server's certificate. It is reserved, so that no server has it.
pub(super) const HOST: &str = "elsewhere.example";
pub(super) const AUTHORITY: &[u8] = include_bytes!("../../../../windlass-http/tests/it/tls/ca.pem");
pub(super) const AUTHORITY_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-http/tests/it/tls/ca.pem");
const KEY: &[u8] = include_bytes!("../../../../windlass-http/tests/it/tls/leaf.key.der");
const CERTIFICATE: &[u8] = include_bytes!("../../../../windlass-http/tests/it/tls/other.der");

pub(super) struct World {
    pub(super) server: WireServer,
    proxy: SocketAddr,
    heads: Heads,
}

type Heads = Arc<Mutex<Vec<String>>>;

/// A proxy that makes tunnels.
pub(super) struct Proxy {
    authorization: String,
}

impl Proxy {
    /// A proxy that wants this password of the user `me`.
    pub(super) fn wanting(word: &str) -> Self {
        Self { authorization: format!("basic {}", base64(format!("me:{word}").as_bytes())) }
    }
}

impl World {
    pub(super) async fn start(dialect: Dialect, proxy: Proxy) -> Self {
        let server = WireServer::start().await.unwrap();
        server.on_request(move |_| Reply::status(200, dialect.body()).header("content-type", dialect.content_type()));
        let behind = tls(server.url().trim_start_matches("http://").parse().unwrap()).await;
        let heads = Heads::default();
        let address = tunnel(proxy, behind, Arc::clone(&heads)).await;
        Self { server, proxy: address, heads }
    }

    /// The address of the proxy with a password.
    pub(super) fn proxy_with(&self, word: &str) -> String {
        format!("http://me:{word}@{}", self.proxy)
    }

    /// Targets of the requested tunnels.
    pub(super) fn tunnels(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().map(|head| head.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
    }
}

/// Takes TLS off and passes on what is in it.
async fn tls(server: SocketAddr) -> SocketAddr {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust it hangs up.
                let Ok(mut stream) = acceptor.accept(socket).await else { return };
                let mut plain = TcpStream::connect(server).await.unwrap();
                let _ = copy_bidirectional(&mut stream, &mut plain).await;
            });
        }
    });
    address
}

/// Makes tunnels to one server, whatever they are asked for.
async fn tunnel(proxy: Proxy, server: SocketAddr, heads: Heads) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let proxy = Arc::new(proxy);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (proxy, heads) = (Arc::clone(&proxy), Arc::clone(&heads));
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = socket.read_u8().await else { return };
                    head.push(byte);
                }
                let head = String::from_utf8(head).unwrap();
                let is_known = head.to_lowercase().contains(&proxy.authorization.to_lowercase());
                let answer: &[u8] = match (head.starts_with("CONNECT "), is_known) {
                    (true, true) => b"HTTP/1.1 200 Connection established\r\n\r\n",
                    (true, false) => b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
                    (false, _) => b"HTTP/1.1 501 Not Implemented\r\ncontent-length: 0\r\n\r\n",
                };
                socket.write_all(answer).await.unwrap();
                heads.lock().unwrap().push(head);
                if answer.starts_with(b"HTTP/1.1 200") {
                    let mut onward = TcpStream::connect(server).await.unwrap();
                    let _ = copy_bidirectional(&mut socket, &mut onward).await;
                }
            });
        }
    });
    address
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at > group.len() { '=' } else { char::from(letter) });
        }
    }
    out
}
