//! Build with TLS whose cryptography the program installs.

use windlass_http::{Bytes, HeaderMap, HttpClient, HttpErrorKind, HttpOptions};

#[tokio::test]
async fn without_an_installed_provider_there_is_an_error_and_no_panic() {
    // Nothing listens there.
    let client = HttpClient::new("https://127.0.0.1:9", HttpOptions::default()).unwrap();
    let error = client.post("/x", HeaderMap::new(), Bytes::new()).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Configuration);
    assert!(error.is_unsent());
    assert!(error.to_string().contains("install_default"), "{error}");

    rustls::crypto::ring::default_provider().install_default().unwrap();
    let error = client.post("/x", HeaderMap::new(), Bytes::new()).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Connection, "{error}");
}
