//! Untrusted connections, to servers whose certificates are in `tests/it/tls`: an authority (`ca.pem`), and
//! certificates of one key that the authority has signed: for 127.0.0.1 (`good.der`), for another name (`other.der`),
//! and for 127.0.0.1 on the first of January 2020 only (`expired.der`).

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use windlass_http::{Bytes, HeaderMap, HttpClient, HttpError, HttpErrorKind, HttpOptions};

const KEY: &[u8] = include_bytes!("tls/leaf.key.der");
const GOOD: &[u8] = include_bytes!("tls/good.der");
const OTHER: &[u8] = include_bytes!("tls/other.der");
const EXPIRED: &[u8] = include_bytes!("tls/expired.der");

/// Words of this build's TLS for a certificate of an unknown authority, and for one of another name.
const UNKNOWN: &str = if cfg!(feature = "rustls-no-provider") { "UnknownIssuer" } else { "local issuer" };
const OTHER_NAME: &str = if cfg!(feature = "rustls-no-provider") { "not valid for" } else { "mismatch" };

/// Starts a server with a certificate that answers every request with 200, for the life of the program. Returns its
/// URL.
fn serve(certificate: &'static [u8]) -> String {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate)], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), socket.unwrap());
            let mut request = [0; 4096];
            // A client that does not trust the server hangs up.
            if stream.read(&mut request).is_ok() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    url
}

async fn post(url: &str) -> Result<String, HttpError> {
    let client = HttpClient::new(url, HttpOptions::default()).unwrap();
    client.post("/x", HeaderMap::new(), Bytes::new()).await?.text(1000).await
}

async fn refusal(url: &str) -> String {
    let error = post(url).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Tls, "{error}");
    assert!(error.is_unsent());
    error.to_string()
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_final_and_says_what_to_do() {
    let error = refusal(&serve(GOOD)).await;
    assert!(error.starts_with("cannot connect securely to 127.0.0.1:"), "{error}");
    assert!(error.contains(UNKNOWN) && error.contains("trust store"), "{error}");
    for setting in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "root_certificate_pem"] {
        assert!(error.contains(setting), "{setting}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_final() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut hello = [0; 4096];
        let _ = socket.read(&mut hello);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let error = refusal(&url).await;
    assert!(error.contains("base URL"), "{error}");
}

/// The trust store is that of the process, so another process is started.
#[cfg(target_os = "linux")]
#[test]
fn an_authority_that_ssl_cert_file_names_is_trusted() {
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tls/ca.pem");
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "tls::in_a_program_that_trusts_the_authority", "--ignored"];
    let output = Command::new(program).args(arguments).env("SSL_CERT_FILE", authority).output().unwrap();
    let error = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && error.contains("1 passed"), "{error}");
}

#[tokio::test]
#[ignore = "needs SSL_CERT_FILE; another test runs it"]
async fn in_a_program_that_trusts_the_authority() {
    assert_eq!(post(&serve(GOOD)).await.unwrap(), "ok");
    let error = refusal(&serve(OTHER)).await;
    assert!(error.contains(OTHER_NAME) && error.contains("base URL"), "{error}");
    let error = refusal(&serve(EXPIRED)).await;
    assert!(error.contains("expired") && error.contains("clock"), "{error}");
}
