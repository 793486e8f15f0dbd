//! Headers that override what a request says.
//!
//! Names are compared as gateways read them that hand headers on as variables: an underscore is a hyphen there.

use std::borrow::Cow;

use hyper::header::HeaderName;
use reqwest::Url;

/// Another method than that of the request. Some frameworks read it from the query, too.
const METHOD: [&str; 4] = ["x-http-method-override", "x-http-method", "x-method-override", "-method"];

/// Another path than that of the request.
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

/// Where a request comes from and went through before: only the last neighbour knows, and here that is the client.
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

/// What a header would override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overridden {
    Method,
    Path,
}

/// The name as it may be read upstream.
fn read(name: &HeaderName) -> Cow<'_, str> {
    let name = name.as_str();
    if name.contains('_') { Cow::Owned(name.replace('_', "-")) } else { Cow::Borrowed(name) }
}

/// What of the request a header would override.
pub(super) fn overridden(name: &HeaderName) -> Option<Overridden> {
    let name = read(name);
    if METHOD.contains(&&*name) {
        Some(Overridden::Method)
    } else if PATH.contains(&&*name) {
        Some(Overridden::Path)
    } else {
        None
    }
}

/// Whether a query would override the method.
pub(super) fn overrides_method(query: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://localhost/?{query}")) else { return true };
    url.query_pairs().any(|(name, _)| METHOD.contains(&&*name.to_ascii_lowercase().replace('_', "-")))
}

/// Whether a header may go upstream: none that says where the request comes from, and none that stands for another
/// one by an underscore in its name.
pub(super) fn may_pass(name: &HeaderName, replaced: &[HeaderName]) -> bool {
    let read = read(name);
    let is_origin = ORIGIN.contains(&&*read) || read.starts_with("x-forwarded-");
    !is_origin && !replaced.iter().any(|replaced| replaced.as_str() == read)
}
