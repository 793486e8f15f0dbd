//! Headers that override the method, path or origin of a request.
//!
//! Names are compared as gateways read them that pass headers on as variables: an underscore equals a hyphen there.

use std::borrow::Cow;

use hyper::header::HeaderName;
use reqwest::Url;

/// Headers that override the method. Some frameworks read it from the query, too.
const METHOD: [&str; 4] = ["x-http-method-override", "x-http-method", "x-method-override", "-method"];

/// Headers that override the path.
const PATH: [&str; 8] = [
    "x-original-url",
    "x-original-uri",
    "x-original-path",
    "x-rewrite-url",
    "x-override-url",
    "x-http-destinationurl",
    "x-envoy-original-path",
    "x-proxy-url",
];

/// Headers about the origin and earlier hops of a request: only the last hop knows them, and here that is the client.
const ORIGIN: [&str; 10] = [
    "forwarded",
    "via",
    "client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-host",
    "x-originating-ip",
    "x-real-ip",
];

/// Part of a request that a header would override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverriddenPart {
    Method,
    Path,
}

/// Returns the name as it may be read upstream.
fn read(name: &HeaderName) -> Cow<'_, str> {
    let name = name.as_str();
    if name.contains('_') { Cow::Owned(name.replace('_', "-")) } else { Cow::Borrowed(name) }
}

/// Returns the part of the request that a header would override.
pub(super) fn overridden(name: &HeaderName) -> Option<OverriddenPart> {
    let name = read(name);
    if METHOD.contains(&&*name) {
        Some(OverriddenPart::Method)
    } else if PATH.contains(&&*name) {
        Some(OverriddenPart::Path)
    } else {
        None
    }
}

/// `true` if a query would override the method.
pub(super) fn overrides_method(query: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://localhost/?{query}")) else { return true };
    url.query_pairs().any(|(name, _)| METHOD.contains(&&*name.to_ascii_lowercase().replace('_', "-")))
}

/// `true` if a header may be sent upstream: it does not describe the origin of the request, and does not imitate a
/// replaced one by an underscore in its name.
pub(super) fn may_pass(name: &HeaderName, replaced: &[HeaderName]) -> bool {
    let read = read(name);
    let is_origin = ORIGIN.contains(&&*read) || read.starts_with("x-forwarded-");
    !is_origin && !replaced.iter().any(|replaced| replaced.as_str() == read)
}
