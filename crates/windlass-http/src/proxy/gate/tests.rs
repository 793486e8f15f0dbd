use hyper::Request;
use proptest::prelude::*;
use reqwest::Url;

use super::*;

fn gate() -> (ProxyGate, String) {
    let nonce = Nonce::fresh().unwrap();
    let text = nonce.text().to_owned();
    (ProxyGate::new(SocketAddr::from(([127, 0, 0, 1], 4000)), nonce), text)
}

fn parts(method: &str, uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

#[test]
fn lets_in_who_shows_the_nonce() {
    let (gate, nonce) = gate();
    let bearer = format!("Bearer {nonce}");
    let almost = nonce.replace(nonce.chars().last().unwrap(), "g");
    let host = ("host", "127.0.0.1:4000");
    for (headers, expected) in [
        (&[host, ("x-api-key", &*nonce)][..], Ok(())),
        (&[host, ("authorization", &bearer)], Ok(())),
        (&[host, ("authorization", &bearer.replace("Bearer", "bearer"))], Ok(())),
        (&[host, ("x-api-key", &nonce), ("authorization", &bearer)], Ok(())),
        (&[("host", "LocalHost:4000"), ("x-api-key", &nonce)], Ok(())),
        (&[host], Err(GateRefusal::Nonce)),
        (&[host, ("x-api-key", "")], Err(GateRefusal::Nonce)),
        (&[host, ("x-api-key", &almost)], Err(GateRefusal::Nonce)),
        (&[host, ("x-api-key", nonce.strip_prefix("w").unwrap())], Err(GateRefusal::Nonce)),
        (&[host, ("x-api-key", &bearer)], Err(GateRefusal::Nonce)),
        (&[host, ("authorization", &nonce)], Err(GateRefusal::Nonce)),
        (&[host, ("authorization", &format!("Basic {nonce}"))], Err(GateRefusal::Nonce)),
        (&[host, ("x-api-key", &nonce), ("x-api-key", "sk-ant-other")], Err(GateRefusal::Nonce)),
        (&[host, ("x-api-key", &nonce), ("authorization", "Bearer other")], Err(GateRefusal::Nonce)),
        (&[("x-api-key", &nonce)], Err(GateRefusal::Elsewhere)),
        (&[host, host, ("x-api-key", &nonce)], Err(GateRefusal::Elsewhere)),
        (&[("host", "127.0.0.1"), ("x-api-key", &nonce)], Err(GateRefusal::Elsewhere)),
        (&[("host", "127.0.0.1:4001"), ("x-api-key", &nonce)], Err(GateRefusal::Elsewhere)),
        (&[("host", "evil.example:4000"), ("x-api-key", &nonce)], Err(GateRefusal::Elsewhere)),
        (&[("host", "127.0.0.1:4000.evil.example"), ("x-api-key", &nonce)], Err(GateRefusal::Elsewhere)),
        (&[host, ("x-api-key", &nonce), ("origin", "http://127.0.0.1:4000")], Err(GateRefusal::Browser)),
        (&[host, ("x-api-key", &nonce), ("origin", "null")], Err(GateRefusal::Browser)),
    ] {
        assert_eq!(gate.admit(&parts("POST", "/v1/messages", headers)), expected, "{headers:?}");
    }
}

#[test]
fn forwards_plain_paths_of_the_api_only() {
    let (gate, nonce) = gate();
    let headers = [("host", "127.0.0.1:4000"), ("x-api-key", &*nonce)];
    let judge = |method: &str, uri: &str| gate.admit(&parts(method, uri, &headers));
    for path in [
        "/v1/messages",
        "/v1/messages?beta=true",
        "/v1/messages/count_tokens",
        "/v1/messages/batches/msgbatch_01/results",
        "/v1/models/claude:opus?limit=20&after_id=a%2Fb",
        "/v1/models/claude-sonnet-4-5%5B1m%5D",
        "/v1/projects/p/models/claude@20250929:streamRawPredict",
        "/v1/files/file_1/content",
        "/v1/x..y/a.z~",
        "/v1/messages?method=x&q=_method",
    ] {
        assert_eq!(judge("GET", path), Ok(()), "{path}");
    }
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1//messages",
        "/v1/messages/",
        "/v2/messages",
        "/V1/messages",
        "/v1messages",
        "//v1/messages",
        "/v1/../admin",
        "/v1/./messages",
        "/v1/%2e%2e/admin",
        "/v1/%2E./admin",
        "/v1/..%2fadmin",
        "/v1/a%5cb",
        "/v1/a%00",
        "/v1/a%0d%0ab",
        "/v1/a%252e",
        "/v1/a%",
        "/v1/a%zz",
        "/v1/..;/admin",
        "/v1/..;a=b/admin",
        "/v1/messages;a=b",
        "/v1/;/admin",
        "/v1/%3b/admin",
        "/v1/..%3B/admin",
        "/v1/%c0%ae%c0%ae/admin",
        "/v1/%e0%80%ae/admin",
        "/v1/%ef%bc%8e%ef%bc%8e/admin",
        "/v1/%6dessages",
        "/v1/a%3fb",
        "/v1/a%23b",
        "/v1/.../admin",
        "/v1/.git",
        "/v1/a.",
        "/v1/a,b",
        "/v1/a=b",
        "/v1/a!b",
        "/v1/*",
        "/v1/%5b%5d/..",
        "/api/event_logging",
    ] {
        assert_eq!(judge("GET", path), Err(GateRefusal::Path), "{path}");
    }
    assert_eq!(judge("GET", &format!("/v1/messages?key={nonce}")), Err(GateRefusal::Path));
    assert_eq!(judge("GET", "http://127.0.0.1:4000/v1/messages"), Err(GateRefusal::Elsewhere));
    assert_eq!(judge("CONNECT", "api.anthropic.com:443"), Err(GateRefusal::Elsewhere));
    for method in ["TRACE", "OPTIONS", "PROPFIND"] {
        assert_eq!(judge(method, "/v1/messages"), Err(GateRefusal::Method), "{method}");
    }
}

/// An upstream that reads these headers would take the request for another one.
#[test]
fn no_header_overrides_the_method_or_the_path() {
    let (gate, nonce) = gate();
    let judge = |uri: &str, header: &str| {
        let headers = [("host", "127.0.0.1:4000"), ("x-api-key", &*nonce), (header, "DELETE")];
        gate.admit(&parts("POST", uri, &headers))
    };
    for header in [
        "X-HTTP-Method-Override",
        "X-Http_Method-Override",
        "x_http_method_override",
        "X-HTTP-Method",
        "X-Method-Override",
        "_method",
    ] {
        assert_eq!(judge("/v1/messages", header), Err(GateRefusal::Method), "{header}");
    }
    for header in ["X-Original-URL", "X_Original_URL", "X-Rewrite-URL", "x-original-uri", "X-Envoy-Original-Path"] {
        assert_eq!(judge("/v1/messages", header), Err(GateRefusal::Path), "{header}");
    }
    for query in ["_method=DELETE", "a=b&_METHOD=put", "%5fmethod=DELETE", "x-http-method-override=DELETE"] {
        assert_eq!(judge(&format!("/v1/messages?{query}"), "x-app"), Err(GateRefusal::Method), "{query}");
    }
    for header in ["x-app", "anthropic-beta", "x-stainless-retry-count", "x-forwarded-for", "x-method"] {
        assert_eq!(judge("/v1/messages?beta=true", header), Ok(()), "{header}");
    }
}

proptest! {
    #[test]
    fn what_is_let_in_means_the_same_upstream(path in "/v1(/([a-z.]{0,3}|%2[ef]|%2[EF]|%5c|\\\\|%|;|@|:|\\.\\.){0,3}){0,4}") {
        let (gate, _) = gate();
        prop_assert!(!path.contains(';') || path.parse::<Uri>().map_or(true, |uri| !gate.may_forward(&uri)), "{}", path);
        let Ok(uri) = path.parse::<Uri>() else { return Ok(()) };
        if gate.may_forward(&uri) {
            let url = Url::parse(&format!("https://user:word@api.example/base{path}")).unwrap();
            prop_assert_eq!(url.path(), format!("/base{path}"));
            prop_assert_eq!(url.host_str(), Some("api.example"));
        }
    }
}
