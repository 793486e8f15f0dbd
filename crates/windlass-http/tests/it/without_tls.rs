//! Build without TLS.

use windlass_http::{HttpClient, HttpErrorKind, HttpOptions};

#[test]
fn an_https_address_is_refused_before_anything_is_sent() {
    let error = HttpClient::new("https://api.example.com", HttpOptions::default()).unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::Configuration);
    assert!(error.is_unsent());
    assert!(error.to_string().contains("`rustls-ring`, `rustls-aws-lc` or `native-tls`"), "{error}");
}
