//! Heads of requests and answers on their way through a proxy.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers for the next hop only.
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Removes the headers that are for this proxy alone, including the token. The framing of the body is declared anew.
pub(super) fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        // A client cannot remove the headers that declare the end of the body and the target host.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::HOST)
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// Sets the host of the request, replacing its own header.
pub(super) fn set_host(headers: &mut HeaderMap, host: &str, port: u16) -> Option<()> {
    let text = if port == 80 { host.to_owned() } else { format!("{host}:{port}") };
    headers.insert(header::HOST, HeaderValue::from_str(&text).ok()?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_for_the_neighbour_is_taken_out() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "x-mine, close, content-length, host"),
            ("x-mine", "1"),
            ("proxy-authorization", "Basic abc"),
            ("keep-alive", "timeout=5"),
            ("content-length", "3"),
            ("host", "a"),
            ("accept", "*/*"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        strip(&mut headers);
        set_host(&mut headers, "b", 81).unwrap();
        let mut left: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        left.sort();
        assert_eq!(left, ["accept: */*", "content-length: 3", "host: b:81"]);
    }
}
